import type { JsonObject } from './json.ts';

/** A tool call as the test writes it. Each client converts `mcp` and `shell` to the name and arguments that it uses. */
export type Call =
  | { readonly mcp: string; readonly tool: string; readonly args?: JsonObject }
  | { readonly shell: string }
  | NativeCall;

export interface NativeCall {
  readonly name: string;
  readonly args?: JsonObject;
  readonly namespace?: string;
}

/** One turn of the scripted model: its calls run in parallel. Without calls, the text is the answer. */
export interface Step<C = Call> {
  readonly text?: string;
  readonly calls?: readonly C[];
}

export type Script<C = Call> = readonly Step<C>[];

/** The mock's view of a message, for every wire format. */
export interface Turn {
  readonly role: string;
  readonly tool_calls?: readonly unknown[];
}

/**
 * Returns the index of the step that answers this conversation, computed from the messages alone. Tool results count for steps
 * with calls, and answers without calls count for steps with text. So a second turn, a resumed session and a turn that a hook
 * continues get the next step. The index is also right for clients that rename call ids or insert messages.
 */
export function nextStep(messages: readonly Turn[], script: Script<NativeCall>): number {
  let results = messages.filter((message) => message.role === 'tool').length;
  let answers = answersIn(messages);
  const next = script.findIndex(({ calls = [] }) => {
    if (calls.length) results -= calls.length;
    else answers -= 1;
    return results < 0 || answers < 0;
  });
  return next < 0 ? script.length : next;
}

/** Returns the messages after the last user message that contains `prompt`, where the script of a resumed session starts. */
export function since<T extends Turn>(messages: readonly T[], prompt: string | undefined): readonly T[] {
  if (prompt === undefined) return messages;
  const at = messages.findLastIndex((message) => message.role === 'user' && JSON.stringify(message).includes(prompt));
  return messages.slice(at + 1);
}

// Neighbouring assistant messages are one turn.
function answersIn(messages: readonly Turn[]): number {
  let answers = 0;
  let calls: number | undefined;
  for (const message of [...messages, { role: 'end' } satisfies Turn] as Turn[]) {
    if (message.role === 'assistant') {
      calls = (calls ?? 0) + (message.tool_calls?.length ?? 0);
      continue;
    }
    if (calls === 0) answers++;
    calls = undefined;
  }
  return answers;
}
