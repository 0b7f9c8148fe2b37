import { stdioVersusPipe } from '../gateway/stdio.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'gateway-stdio-1',
  what: 'stdio to stdio, nothing open, one call in flight: read_text_file of the official filesystem server through the gateway and its log, against a process that only pipes the bytes',
  bar: [{ figure: 'ratio', is: '>=', value: 0.85 }],
  run: (options) => stdioVersusPipe(options, 1),
};
