/**
 * The hooks of Kimi Code CLI, written from its guide to hooks and not tested with Kimi itself. The model reads the stdout of
 * UserPromptSubmit, the reason of a denied call, and the stderr of a Stop hook that ends with code 2. The output of other events
 * is ignored.
 */
import { eventOf, hookCallOf, format, turnEndOf } from '../common.ts';
import type { HookCall, HookHost, Printed } from '../host.ts';
import { text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';

const BLOCKS = 2;

export const kimi: HookHost = {
  name: 'kimi',
  title: 'Kimi Code CLI',
  agent: 'kimi',
  points: ['turn_start', 'turn_end', 'forced'],
  maxChars: 10_000,

  events: {
    UserPromptSubmit: { timeoutS: 10 },
    PreToolUse: { timeoutS: 5 },
    Stop: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  parse: (input: Input): HookCall | undefined => hookCallOf(input, momentOf(input)),

  format(answer: Answer, input: Input): Printed {
    if (answer.kind === 'tell') return { stdout: answer.text };
    if (answer.kind === 'hold') return { stdout: '', stderr: answer.text, exitCode: BLOCKS };
    return format(answer, input);
  },
};

function momentOf(input: Input): Moment | undefined {
  switch (eventOf(input)) {
    case 'UserPromptSubmit':
      return { kind: 'prompt' };
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
