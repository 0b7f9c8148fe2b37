/**
 * pi. Measured with 0.87.1: `turn_end` comes after each batch of tools, failing ones too, and the next request contains the
 * text that it appends.
 */
import type { Host } from '../host.ts';

export const pi: Host = {
  name: 'pi',
  title: 'pi',
  agent: 'pi',
  points: ['turn_start', 'tool_batch_end', 'turn_end', 'idle', 'forced'],
  maxChars: 40_000,
};
