/**
 * The hooks of Goose, written from its guide to hooks and not tested with Goose itself. The hooks can deny a call and hold a
 * turn, but cannot add a context. A notification below error usually waits for `get_notifications` or for a result of a wrapped
 * MCP server. The entries have no matcher, because `*` is not a valid regular expression.
 */
import { printed } from '../common.ts';
import { SILENT, type HookCall, type HookHost, type Printed } from '../host.ts';
import { optionalText, text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';

export const goose: HookHost = {
  name: 'goose',
  title: 'Goose',
  agent: 'goose',
  points: ['turn_end', 'forced'],
  maxChars: 10_000,

  events: {
    PreToolUse: { timeoutS: 5 },
    Stop: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  parse(input: Input): HookCall | undefined {
    const moment = momentOf(input);
    if (moment === undefined) return undefined;
    // Only tool events contain the folder.
    return {
      moment,
      caller: { session: text(input, 'session_id'), folder: optionalText(input, 'working_dir') ?? process.cwd() },
    };
  },

  format(answer: Answer): Printed {
    switch (answer.kind) {
      case 'nothing':
      case 'tell':
        return SILENT;
      case 'deny':
      case 'hold':
        return printed({ decision: 'block', reason: answer.text });
      default:
        return answer satisfies never;
    }
  },
};

function momentOf(input: Input): Moment | undefined {
  switch (text(input, 'event')) {
    case 'PreToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name') };
    case 'Stop':
      // The input does not show whether the turn was held before, so Earpiece does not limit the holds. Goose itself limits the
      // holds of a turn (GOOSE_STOP_HOOK_BLOCK_CAP).
      return { kind: 'turn_end', held: false };
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}
