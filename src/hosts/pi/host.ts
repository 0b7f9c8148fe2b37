/**
 * Describes the host pi. Measured with 0.87.1: `turn_end` fires after each batch of tools, even if tools fail. The next request
 * contains the text that the handler of `turn_end` appends.
 */
import type { Host } from '../host.ts';

export const pi: Host = {
  name: 'pi',
  title: 'pi',
  agent: 'pi',
  points: ['turn_start', 'tool_batch_end', 'turn_end', 'idle', 'forced'],
  maxChars: 40_000,
};
