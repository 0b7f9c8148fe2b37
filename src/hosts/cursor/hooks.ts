/**
 * The hooks of Cursor, written from its documentation of hooks.json and not tested with Cursor itself. A prompt's hook cannot add
 * context, and postToolUse fires only after successful calls. The editor shows many conversations in one process.
 */
import { defined } from '../../core/defined.ts';
import { eventOf, printed } from '../common.ts';
import { SILENT, type HookCall, type HookHost, type Printed } from '../host.ts';
import { optionalText, text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';

export const cursor: HookHost = {
  name: 'cursor',
  title: 'Cursor',
  agent: 'cursor',
  points: ['tool_result', 'turn_end', 'forced'],
  maxChars: 10_000,
  manySessions: true,

  events: {
    sessionStart: { timeoutS: 10 },
    preToolUse: { timeoutS: 5 },
    postToolUse: { timeoutS: 5 },
    stop: { timeoutS: 5 },
    sessionEnd: { timeoutS: 5 },
  },

  parse(input: Input): HookCall | undefined {
    const moment = momentOf(input);
    if (moment === undefined) return undefined;
    const transcript = optionalText(input, 'transcript_path');
    return {
      moment,
      caller: {
        session: text(input, 'conversation_id'),
        folder: folderOf(input),
        ...defined({ transcript }),
      },
    };
  },

  format(answer: Answer): Printed {
    switch (answer.kind) {
      case 'nothing':
        return SILENT;
      case 'tell':
        return printed({ additional_context: answer.text });
      case 'deny':
        return printed({ permission: 'deny', agent_message: answer.text });
      case 'hold':
        return printed({ followup_message: answer.text });
      default:
        return answer satisfies never;
    }
  },
};

function momentOf(input: Input): Moment | undefined {
  switch (eventOf(input)) {
    case 'sessionStart':
      return { kind: 'session_start' };
    case 'preToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name') };
    case 'postToolUse':
      return { kind: 'after_tool', tool: text(input, 'tool_name') };
    case 'stop':
      // A turn that a person stopped is not held.
      return input['status'] === 'completed' ? { kind: 'turn_end', held: Number(input['loop_count'] ?? 0) > 0 } : undefined;
    case 'sessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}

/** Returns the first of the open folders, or the hook's own folder if no folder is open. */
function folderOf(input: Input): string {
  const roots: unknown = input['workspace_roots'];
  const first: unknown = Array.isArray(roots) ? roots[0] : undefined;
  return typeof first === 'string' && first !== '' ? first : process.cwd();
}
