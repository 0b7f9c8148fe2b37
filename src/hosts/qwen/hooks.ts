/**
 * The hooks of Qwen Code. Measured with 0.24.4: PostToolBatch fires after each call of a batch, also of failing and unknown
 * tools. The hook's text is part of the result. The text stays whole if Qwen Code cuts the result or writes the result to a file.
 * The transcript also has this text. UserPromptSubmit also fires before each model request with results or the text of a held
 * turn. A text that a hook adds to such a request is missing from the transcript, so a resumed session would lose it. A request
 * with results has an empty `prompt`. The field `submitted_prompt` is missing over ACP, in vim mode and after a rewind. So a text
 * in `prompt` counts as a person's prompt, unless Earpiece itself has written the text to hold the turn. Over ACP, PostToolBatch
 * does not fire.
 */
import { eventOf, hookCallOf, format, startOf, turnEndOf } from '../common.ts';
import type { HookCall, HookHost } from '../host.ts';
import { optionalText, text, type Input } from '../input.ts';
import type { Moment } from '../moment.ts';
import { callOf, resultsOf } from '../results.ts';
import { transcript } from './transcript.ts';

export const qwen: HookHost = {
  name: 'qwen',
  title: 'Qwen Code',
  agent: 'qwen-code',
  points: ['turn_start', 'tool_result', 'turn_end', 'forced'],
  maxChars: 50_000,
  transcript,
  proof: 'request',
  sessionVariable: 'QWEN_CODE_SESSION_ID',

  showsName: true,

  events: {
    SessionStart: { timeoutS: 10 },
    UserPromptSubmit: { timeoutS: 10 },
    PreToolUse: { matcher: '*', timeoutS: 5, marked: 'free' },
    PostToolBatch: { timeoutS: 5 },
    Stop: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  parse: (input: Input): HookCall | undefined => hookCallOf(input, momentOf(input)),
  format,
};

function momentOf(input: Input): Moment | undefined {
  switch (eventOf(input)) {
    case 'SessionStart':
      return startOf(input);
    case 'UserPromptSubmit':
      return isPrompt(input) ? { kind: 'prompt' } : { kind: 'asked' };
    case 'PreToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name'), ...callOf(input) };
    case 'PostToolBatch':
      return { kind: 'after_tool', tool: toolOf(input['tool_calls']), ...resultsOf(input['tool_calls']) };
    case 'Stop':
      return turnEndOf(input);
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}

function isPrompt(input: Input): boolean {
  const prompt = optionalText(input, 'prompt') ?? '';
  return optionalText(input, 'submitted_prompt') !== undefined || (prompt.trim() !== '' && !FRAMED.test(prompt));
}

/** The beginning of the text with which Earpiece holds a turn. */
const FRAMED = /^(?:(?:# )?\[ep |\{"ep":)/u;

function toolOf(calls: unknown): string {
  const [call]: readonly unknown[] = Array.isArray(calls) ? calls : [];
  return text((call ?? {}) as Input, 'tool_name');
}
