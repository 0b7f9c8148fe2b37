/**
 * Qwen Code. Measured with 0.24.4: UserPromptSubmit also fires once before each model request that takes tool results or the text
 * of a held turn; only a person's prompt comes with `submitted_prompt`. A context of 100,000 characters arrives whole there, as a
 * user message behind all results, with `<` and `>` escaped. PostToolBatch is no end of a batch: it fires after each call of it,
 * and its text stands inside the result, which Qwen may put into a file.
 */
import { eventOf, heard, say, startOf, turnEndOf } from '../common.ts';
import type { Heard, HookHost } from '../host.ts';
import { optionalText, text, type Input } from '../input.ts';
import type { Moment } from '../moment.ts';

export const qwen: HookHost = {
  name: 'qwen',
  title: 'Qwen Code',
  agent: 'qwen-code',
  points: ['turn_start', 'tool_batch_end', 'turn_end', 'forced'],
  maxChars: 100_000,

  events: {
    SessionStart: { timeoutS: 10 },
    UserPromptSubmit: { timeoutS: 10 },
    PreToolUse: { matcher: '*', timeoutS: 5 },
    Stop: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  hear: (input: Input): Heard | undefined => heard(input, momentOf(input)),
  say,
};

function momentOf(input: Input): Moment | undefined {
  switch (eventOf(input)) {
    case 'SessionStart':
      return startOf(input);
    case 'UserPromptSubmit':
      return optionalText(input, 'submitted_prompt') === undefined ? { kind: 'batch_end', tools: [] } : { kind: 'prompt' };
    case 'PreToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name') };
    case 'Stop':
      return turnEndOf(input);
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}
