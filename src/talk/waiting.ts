/**
 * The agents that asked to be notified when another agent's turn or session ends. The list is kept beside the log, so that it
 * survives every process.
 */
import { parseAddress, splitLog, type LogKey } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Logs } from '../inbox/index.ts';

export const STATES = ['idle', 'done'] as const;
export type State = (typeof STATES)[number];

/** `by`: a conversation's address. */
export type Waiting = { readonly by: string; readonly state: State; readonly at: number };

const MOST = 20;
const KEPT_MS = 24 * 3_600_000;

/** Exported for readers of the database without a store. */
export const waitingKey = (log: LogKey): string => `waiting for ${log}`;

/** A repeated request counts once. */
export async function askedAbout(inbox: Logs, log: LogKey, waiting: Waiting): Promise<void> {
  for (;;) {
    const before = await inbox.store.setting(waitingKey(log));
    const others = waitingIn(before).filter(
      (each) => waiting.at - each.at < KEPT_MS && !(each.by === waiting.by && each.state === waiting.state),
    );
    if (others.length >= MOST)
      throw new EarpieceError(
        'bad_argument',
        `${MOST} other agents already wait for ${splitLog(log).agent}; ask it with tell_agent`,
      );
    if (await inbox.store.swapSetting(waitingKey(log), before, [...others, waiting])) return;
  }
}

/**
 * Called when the agent's turn or session has ended: notifies each asking agent once. A session that ended counts as idle, too.
 */
export async function became(inbox: Logs, log: LogKey, state: State): Promise<void> {
  for (;;) {
    const before = await inbox.store.setting(waitingKey(log));
    const all = waitingIn(before);
    const due = all.filter((each) => each.state === state || state === 'done');
    if (due.length === 0) return;
    const left = all.filter((each) => !due.includes(each));
    const to = left.length === 0 ? undefined : (left as unknown as Json);
    if (!(await inbox.store.swapSetting(waitingKey(log), before, to))) continue;
    const { agent } = splitLog(log);
    const message = state === 'done' ? `the session of ${agent} has ended` : `${agent} has ended its turn and is idle`;
    for (const { by } of due)
      await inbox.queue(parseAddress(by), {
        message,
        kind: { source: 'agent', name: state },
        key: `agent ${log} ${state}`,
        supersede: true,
        origin: { agent: log, depth: 1 },
      });
    return;
  }
}

function waitingIn(value: Json | undefined): readonly Waiting[] {
  return Array.isArray(value) ? value : [];
}
