/**
 * The modes of an agent's loop.
 *
 *   idle ── send, wake ─▶ streaming streaming ── answer with calls ─▶ executing streaming ── answer without ─▶ continuing ──
 *   something urgent arrived ─▶ streaming
 *                                             └─ nothing ─▶ complete ─▶ idle
 *   streaming ── critical, Ctrl+C ─▶ interrupted ── forced request ─▶ streaming
 *                                              ├─ a person replies ─▶ replying ─▶ streaming
 *                                              └─ a person stops ─▶ aborted ─▶ idle
 *   executing ── all results landed ─▶ continuing ─▶ streaming executing ── Ctrl+C, cancel, pause ─▶ interrupted (calls are
 *   answered, then as above, or continuing) any of them ── the model is unavailable ─▶ aborted ─▶ idle
 *
 * idle        no turn runs; notifications may wake the agent.         leaves: only by a request in the log streaming   one
 * request is with the model.                          enters: every call in the log is answered executing   the calls of one
 * answer run.                            enters: the answer is in the log continuing  the batch, or the final answer, is in the
 * log. interrupted the agent ended the stream or the tools; the kept part is in the log. replying    a person's reply inside the
 * turn is in the log. complete    the turn ended by itself.   aborted: a person or an error ended it.
 */
export type Mode = 'idle' | 'streaming' | 'executing' | 'continuing' | 'interrupted' | 'replying' | 'complete' | 'aborted';

const NEXT: Readonly<Record<Mode, readonly Mode[]>> = {
  idle: ['streaming'],
  streaming: ['executing', 'continuing', 'interrupted', 'aborted'],
  executing: ['continuing', 'interrupted'],
  continuing: ['streaming', 'complete', 'aborted'],
  interrupted: ['streaming', 'replying', 'aborted', 'continuing'],
  replying: ['streaming'],
  complete: ['idle'],
  aborted: ['idle'],
};

/** Throws for an invalid transition, which only a bug of Earpiece can cause. */
export function assertTransition(from: Mode, to: Mode): void {
  if (!NEXT[from].includes(to)) throw new Error(`an agent cannot change from ${from} to ${to}`);
}

export const MODES = Object.keys(NEXT) as readonly Mode[];
