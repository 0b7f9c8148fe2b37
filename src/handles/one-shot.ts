/** What the model reads of a call that ran to its end in the foreground. */
import type { Phase, ToolError } from './state.ts';
import type { ToolOutcome } from './tool.ts';

/** `text`: the whole output. */
export function outcomeOf({ result }: Extract<Phase, { type: 'stopped' }>, text: string): ToolOutcome {
  if ('ok' in result) return { content: text === '' ? '(no output)' : text };
  return { content: failure(text, result.error.message), isError: true, ...timeoutOf(result.error) };
}

/** A failed one-shot call: its output says more than the message, unless that is not in it. */
function failure(text: string, message: string): string {
  if (text === '') return message;
  return /\[exit code \d+|\[ended /u.test(text.slice(-200)) ? text : `${text}\n[${message}]`;
}

/** A timeout is also an event. The model reads about any other failure in the output. */
const timeoutOf = ({ message, timeoutMs }: ToolError): Pick<ToolOutcome, 'failure'> =>
  timeoutMs === undefined ? {} : { failure: { type: 'timeout', message, timeoutMs } };
