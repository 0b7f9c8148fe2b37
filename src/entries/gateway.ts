/** `earpiece/gateway`. The MCP proxy that notifications ride through. */
import '../node-version.ts';

export * from '../gateway/index.ts';
