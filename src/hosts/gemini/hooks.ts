/**
 * The hooks of Gemini CLI. Measured with 0.61: a hook's context is part of the result, in `<hook_context>`, with `<` and `>`
 * escaped. A long result with its context is cut to its last 32,000 characters. No event reports the end of a batch. PreCompress
 * fires before each model request, even if Gemini does not compress, and Gemini waits for the hook. A context at the start of a
 * session becomes part of the first prompt's message. `gemini --resume` drops such a message, so Earpiece adds no text at the
 * start.
 */
import { createHash } from 'node:crypto';
import { eventOf, hookCallOf, printed, startOf, withContext, turnEndOf } from '../common.ts';
import { SILENT, type HookCall, type HookHost, type Printed } from '../host.ts';
import { text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';
import { resultsOf } from '../results.ts';

export const gemini: HookHost = {
  name: 'gemini',
  title: 'Gemini CLI',
  agent: 'gemini-cli',
  points: ['turn_start', 'tool_result', 'turn_end', 'forced'],
  maxChars: 30_000,
  startsWithoutText: true,
  proof: 'request',
  sessionVariable: 'GEMINI_SESSION_ID',

  showsName: true,

  events: {
    SessionStart: { timeoutS: 10 },
    BeforeAgent: { timeoutS: 10 },
    BeforeTool: { matcher: '*', timeoutS: 5, marked: 'free' },
    AfterTool: { matcher: '*', timeoutS: 5 },
    PreCompress: { timeoutS: 5, marked: 'free' },
    AfterAgent: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  parse: (input: Input): HookCall | undefined => hookCallOf(input, momentOf(input)),

  format(answer: Answer, input: Input): Printed {
    switch (answer.kind) {
      case 'nothing':
        return SILENT;
      case 'tell':
        return withContext(input, answer.text);
      case 'deny':
      case 'hold':
        return printed({ decision: 'deny', reason: answer.text });
      default:
        return answer satisfies never;
    }
  },
};

function momentOf(input: Input): Moment | undefined {
  switch (eventOf(input)) {
    case 'SessionStart':
      return startOf(input);
    case 'BeforeAgent':
      return { kind: 'prompt' };
    case 'BeforeTool':
      return { kind: 'before_tool', tool: text(input, 'tool_name'), call: callOf(input) };
    case 'AfterTool':
      return {
        kind: 'after_tool',
        tool: text(input, 'tool_name'),
        ...(failed(input['tool_response']) ? { takesNoText: true } : {}),
        ...resultsOf([input], callOf),
      };
    case 'PreCompress':
      return { kind: 'asked' };
    case 'AfterAgent':
      return turnEndOf(input);
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}

/**
 * Makes an id from the call's name and arguments, because Gemini gives calls no id. The event after a tool does not fire for a
 * refused call, so such an event proves that the call has run.
 */
const callOf = (input: Input): string =>
  createHash('sha256')
    .update(JSON.stringify([input['tool_name'], input['tool_input']]))
    .digest('base64url')
    .slice(0, 16);

const failed = (response: unknown): boolean =>
  typeof response === 'object' && response !== null && (response as { error?: unknown }).error !== undefined;
