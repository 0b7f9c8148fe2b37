/**
 * Describes the host opencode. Measured with 1.18.33: the model reads a plugin's change of a result only for built-in tools. No
 * hook of a plugin is called after a failing call. After MCP tools and failing calls, a separate message carries the
 * notifications. Opencode writes a result above 51,200 bytes to a file.
 */
import type { Host } from '../host.ts';

export const opencode: Host = {
  name: 'opencode',
  title: 'opencode',
  agent: 'opencode',
  points: ['turn_start', 'tool_result', 'turn_end', 'idle', 'forced'],
  maxChars: 40_000,
  manySessions: true,
};
