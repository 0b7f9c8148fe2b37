/**
 * The hooks of Letta Code, written from its guide to hooks and not tested with Letta itself. A hook blocks a call with exit code
 * 2, and the model reads its stderr. The model reads the plain stdout of SessionStart and UserPromptSubmit, and the JSON of
 * PostToolUse.
 */
import { withContext } from '../common.ts';
import { SILENT, type HookCall, type HookHost, type Printed } from '../host.ts';
import { text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';

const BLOCKS = 2;

export const letta: HookHost = {
  name: 'letta',
  title: 'Letta Code',
  agent: 'letta-code',
  points: ['turn_start', 'tool_result', 'turn_end', 'forced'],
  maxChars: 10_000,

  events: {
    SessionStart: { timeoutS: 10 },
    UserPromptSubmit: { timeoutS: 10 },
    PreToolUse: { matcher: '*', timeoutS: 5 },
    PostToolUse: { matcher: '*', timeoutS: 5 },
    Stop: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  parse(input: Input): HookCall | undefined {
    const moment = momentOf(input);
    if (moment === undefined) return undefined;
    // Tool events name no session, so all sessions of a folder are one conversation.
    const folder = text(input, 'working_directory');
    return { moment, caller: { session: folder, folder } };
  },

  format(answer: Answer, input: Input): Printed {
    switch (answer.kind) {
      case 'nothing':
        return SILENT;
      case 'tell':
        return input['event_type'] === 'PostToolUse' ? withContext(input, answer.text) : { stdout: answer.text };
      case 'deny':
      case 'hold':
        return { stdout: '', stderr: answer.text, exitCode: BLOCKS };
      default:
        return answer satisfies never;
    }
  },
};

function momentOf(input: Input): Moment | undefined {
  switch (text(input, 'event_type')) {
    case 'SessionStart':
      return { kind: 'session_start' };
    case 'UserPromptSubmit':
      // The model does not read a slash command.
      return input['is_command'] === true ? undefined : { kind: 'prompt' };
    case 'PreToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name') };
    case 'PostToolUse':
      return { kind: 'after_tool', tool: text(input, 'tool_name') };
    case 'Stop':
      return { kind: 'turn_end' };
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}
