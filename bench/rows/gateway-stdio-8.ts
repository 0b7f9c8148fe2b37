import { stdioVersusPipe } from '../gateway/stdio.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'gateway-stdio-8',
  what: 'stdio to stdio, nothing open, eight calls in flight: the gateway with its log against a process that only pipes the bytes',
  bar: [{ figure: 'ratio', is: '>=', value: 0.85 }],
  run: (options) => stdioVersusPipe(options, 8),
};
