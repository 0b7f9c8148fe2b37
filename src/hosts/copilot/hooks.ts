/**
 * The hooks of GitHub Copilot CLI, written from its hooks reference and not tested with Copilot itself. Events whose names begin
 * with a capital letter have the same fields as in other agents. Copilot ignores the output of SessionStart and UserPromptSubmit.
 */
import { eventOf, hookCallOf, printed, turnEndOf } from '../common.ts';
import { SILENT, type HookCall, type HookHost, type Printed } from '../host.ts';
import { text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';

export const copilot: HookHost = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  agent: 'copilot',
  points: ['tool_result', 'turn_end', 'forced'],
  maxChars: 10_000,

  events: {
    PreToolUse: { timeoutS: 5 },
    PostToolUse: { timeoutS: 5 },
    PostToolUseFailure: { timeoutS: 5 },
    Stop: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  parse: (input: Input): HookCall | undefined => hookCallOf(input, momentOf(input)),

  format(answer: Answer): Printed {
    switch (answer.kind) {
      case 'nothing':
        return SILENT;
      case 'tell':
        return printed({ additionalContext: answer.text });
      case 'deny':
        return printed({ permissionDecision: 'deny', permissionDecisionReason: answer.text });
      case 'hold':
        return printed({ decision: 'block', reason: answer.text });
      default:
        return answer satisfies never;
    }
  },
};

function momentOf(input: Input): Moment | undefined {
  switch (eventOf(input)) {
    case 'PreToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name') };
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return { kind: 'after_tool', tool: text(input, 'tool_name') };
    case 'Stop':
      return turnEndOf(input);
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}
