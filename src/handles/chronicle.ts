/** Writes the records of handles to the log of their conversation. */
import type { Draft } from '../core/records.ts';
import type { Handle } from './handle.ts';

export class Chronicle {
  readonly #record: (draft: Draft) => void;

  constructor(record: (draft: Draft) => void) {
    this.#record = record;
  }

  spawned(handle: Handle): void {
    this.#record({ type: 'handle_spawned', ...nameOf(handle), call: handle.callId });
  }

  /** Records the new phase of a background handle. Also records the question that the tool of any handle asks. */
  entered(handle: Handle): void {
    const { phase, ending } = handle;
    if (handle.background) {
      if (phase.type === 'stopped')
        this.#record({
          type: 'handle_ended',
          ...nameOf(handle),
          outcome: 'ok' in phase.result ? 'ok' : 'error',
          ...(ending?.exitCode === undefined ? {} : { exit_code: ending.exitCode }),
          ...('error' in phase.result ? { error: phase.result.error.message } : {}),
        });
      else
        this.#record({
          type: 'handle_state',
          ...nameOf(handle),
          state: phase.type,
          ...(phase.type === 'waiting' ? { question: phase.question } : {}),
        });
    }
    if (phase.type === 'waiting' && handle.asked)
      this.#record({
        type: 'inquiry_request',
        id: inquiryOf(handle),
        source: { source: 'tool', name: handle.tool.name },
        question: { text: phase.question, answer_type: { type: 'text' } },
      });
  }

  /** Records the model's answer to a question of the tool. Call this method before the tool gets the answer. */
  answered(handle: Handle, text: string): void {
    if (handle.phase.type === 'waiting' && handle.asked)
      this.#record({ type: 'inquiry_response', id: inquiryOf(handle), answer: text });
  }

  lost(handle: { readonly uid: string; readonly id: string; readonly tool: string }): void {
    const { uid, id, tool } = handle;
    this.#record({ type: 'handle_ended', uid, id, tool, outcome: 'lost' });
  }
}

const nameOf = ({ uid, id, tool }: Handle): { readonly uid: string; readonly id: string; readonly tool: string } => ({
  uid,
  id,
  tool: tool.name,
});

/** Makes the id of a question. Each question begins a new phase with its own version, so the id is unique. */
const inquiryOf = (handle: Handle): string => `${handle.uid}.${handle.version}`;
