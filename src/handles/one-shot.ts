/** Makes the text for the model about a call that ended in the foreground. */
import type { Phase, ToolError } from './state.ts';
import type { ToolOutcome } from './tool.ts';

/** Returns the outcome of a call. `text` is the output, which may be cut. */
export function outcomeOf({ result }: Extract<Phase, { type: 'stopped' }>, text: string): ToolOutcome {
  if ('ok' in result) return { content: text === '' ? '(no output)' : text };
  return { content: failure(text, result.error.message), isError: true, ...timeoutOf(result.error) };
}

/**
 * Returns the output of a failed call, which explains more than the message. If the output does not end with the exit code or the
 * reason of the end, the message is added.
 */
function failure(text: string, message: string): string {
  if (text === '') return message;
  return /\[exit code \d+|\[ended /u.test(text.slice(-200)) ? text : `${text}\n[${message}]`;
}

/** Returns the failure for listeners, if it is a timeout. Any other failure is only in the output. */
const timeoutOf = ({ message, timeoutMs }: ToolError): Pick<ToolOutcome, 'failure'> =>
  timeoutMs === undefined ? {} : { failure: { type: 'timeout', message, timeoutMs } };
