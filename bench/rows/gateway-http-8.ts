import { httpVersusMcpProxy } from '../gateway/http.ts';
import type { Row } from '../row.ts';

export const row: Row = {
  name: 'gateway-http-8',
  what: 'HTTP to stdio, nothing open, eight calls in flight: the gateway with its log against mcp-proxy',
  bar: [{ figure: 'ratio', is: '>=', value: 1.5 }],
  run: (options) => httpVersusMcpProxy(options, 8),
};
