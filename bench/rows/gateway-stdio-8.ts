import { stdioVersusPipe } from '../gateway/stdio.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'gateway-stdio-8',
  what: 'eight calls in flight, with nothing open: read_text_file of the official filesystem server over stdio. The gateway has its log, and the other side only pipes the bytes',
  bar: [{ figure: 'ratio', is: '>=', value: 0.85 }],
  run: (options) => stdioVersusPipe(options, 8),
};
