/**
 * Defines the modes of an agent's loop, and the causes of each change to another mode.
 *
 * - `idle`: no turn runs, and notifications may wake the agent. A message or a wake leads to `streaming`.
 * - `streaming`: one request is with the model, and every call in the log is answered. An answer with calls leads to `executing`,
 *   and an answer without calls to `continuing`. An interrupt, a person's reply or Ctrl+C leads to `interrupted`, and a failed
 *   request, a refusal or a limit to `aborted`.
 * - `executing`: the answer is in the log, and its calls run. The last result leads to `continuing`. A cancel, a pause, a
 *   person's reply or Ctrl+C leads to `interrupted`.
 * - `continuing`: the results of the calls, or the final answer, are in the log. Results, a reply, an urgent notification, or a
 *   due notification after `onTurnEnd` lead to `streaming`. Otherwise the turn is `complete`, or `aborted` if its answer was cut
 *   off or a person stopped the turn.
 * - `interrupted`: the agent ended the stream or the tools, and the kept part is in the log. A forced request or aborted tools
 *   lead to `streaming`, a person's reply to `replying`, and a person's stop to `aborted`.
 * - `replying`: a person's reply inside the turn is in the log. The next request leads to `streaming`.
 * - `complete`: the turn ended by itself. The agent then becomes `idle`.
 * - `aborted`: a person, a refusal, a limit or an error ended the turn. The agent then becomes `idle`.
 */
export type Mode = 'idle' | 'streaming' | 'executing' | 'continuing' | 'interrupted' | 'replying' | 'complete' | 'aborted';

const NEXT: Readonly<Record<Mode, readonly Mode[]>> = {
  idle: ['streaming'],
  streaming: ['executing', 'continuing', 'interrupted', 'aborted'],
  executing: ['continuing', 'interrupted'],
  continuing: ['streaming', 'complete', 'aborted'],
  interrupted: ['streaming', 'replying', 'aborted'],
  replying: ['streaming'],
  complete: ['idle'],
  aborted: ['idle'],
};

/** Throws for an invalid transition, which only a bug of Earpiece can cause. */
export function assertTransition(from: Mode, to: Mode): void {
  if (!NEXT[from].includes(to)) throw new Error(`an agent cannot change from ${from} to ${to}`);
}
