/**
 * The hooks of Cline, written from its hook reference and not tested with Cline itself. A hook that ends with an error blocks the
 * call. The next request contains the context that a hook adds, up to 50 KB.
 */
import { printed } from '../common.ts';
import { SILENT, type HookCall, type HookHost, type Printed } from '../host.ts';
import { text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';

export const cline: HookHost = {
  name: 'cline',
  title: 'Cline',
  agent: 'cline',
  points: ['turn_start', 'tool_result', 'forced'],
  maxChars: 50_000,
  inBytes: true,
  manySessions: true,

  events: {
    TaskStart: { timeoutS: 10 },
    TaskResume: { timeoutS: 10 },
    UserPromptSubmit: { timeoutS: 10 },
    PreToolUse: { timeoutS: 5 },
    PostToolUse: { timeoutS: 5 },
  },

  parse(input: Input): HookCall | undefined {
    const moment = momentOf(input);
    if (moment === undefined) return undefined;
    const roots: unknown = input['workspaceRoots'];
    const first: unknown = Array.isArray(roots) ? roots[0] : undefined;
    return {
      moment,
      caller: { session: text(input, 'taskId'), folder: typeof first === 'string' && first !== '' ? first : process.cwd() },
    };
  },

  format(answer: Answer): Printed {
    switch (answer.kind) {
      case 'nothing':
        return SILENT;
      case 'tell':
        return printed({ cancel: false, contextModification: answer.text });
      case 'deny':
        // The person reads the error, and the model reads the context.
        return printed({ cancel: true, errorMessage: answer.text, contextModification: answer.text });
      case 'hold':
        return SILENT;
      default:
        return answer satisfies never;
    }
  },
};

function momentOf(input: Input): Moment | undefined {
  switch (text(input, 'hookName')) {
    case 'TaskStart':
    case 'TaskResume':
      return { kind: 'session_start' };
    case 'UserPromptSubmit':
      return { kind: 'prompt' };
    case 'PreToolUse':
      return { kind: 'before_tool', tool: toolOf(input['preToolUse']) };
    case 'PostToolUse':
      return { kind: 'after_tool', tool: toolOf(input['postToolUse']) };
    default:
      return undefined;
  }
}

const toolOf = (call: unknown): string => text((call ?? {}) as Input, 'toolName');
