/** The text for the model of a call that ended in the foreground. */
import type { Phase, ToolError } from './state.ts';
import type { ToolOutcome } from './tool.ts';

/** `text`: the whole output. */
export function outcomeOf({ result }: Extract<Phase, { type: 'stopped' }>, text: string): ToolOutcome {
  if ('ok' in result) return { content: text === '' ? '(no output)' : text };
  return { content: failure(text, result.error.message), isError: true, ...timeoutOf(result.error) };
}

/** The output of a failed one-shot call explains more than the message, unless it lacks the message. */
function failure(text: string, message: string): string {
  if (text === '') return message;
  return /\[exit code \d+|\[ended /u.test(text.slice(-200)) ? text : `${text}\n[${message}]`;
}

/** A timeout is also emitted as an event. Any other failure is in the output that the model reads. */
const timeoutOf = ({ message, timeoutMs }: ToolError): Pick<ToolOutcome, 'failure'> =>
  timeoutMs === undefined ? {} : { failure: { type: 'timeout', message, timeoutMs } };
