/**
 * The agents that asked to be notified when another agent's turn or session ends. The store keeps the list, so that the list
 * outlives the processes.
 */
import { parseAddress, splitLog, type LogKey } from '../core/address.ts';
import { EarpieceError, keepConflict } from '../core/errors.ts';
import { checksum } from '../core/checksum.ts';
import type { Json } from '../core/json.ts';
import type { Logs } from '../inbox/index.ts';

export const STATES = ['idle', 'done'] as const;
export type State = (typeof STATES)[number];

/** `by` is the address to notify. `at` is the time of the request, epoch ms. */
export type Waiting = { readonly by: string; readonly state: State; readonly at: number };

const MOST = 20;
const KEPT_MS = 24 * 3_600_000;

type Kept = { readonly store: Pick<Logs['store'], 'setting' | 'swapSetting'> };

/** Returns the key of the setting that lists the requests about this agent. */
export const waitingKey = (log: LogKey): string => `waiting for ${log}`;

/**
 * Records a request to be notified, and drops requests that are older than a day. A repeated request counts once. Throws
 * `bad_argument` if 20 other requests wait.
 */
export async function askedAbout(inbox: Logs, log: LogKey, waiting: Waiting): Promise<void> {
  for (;;) {
    const before = await inbox.store.setting(waitingKey(log));
    const others = waitingIn(before).filter((each) => waiting.at - each.at < KEPT_MS && !isSame(each, waiting));
    if (others.length >= MOST)
      throw new EarpieceError(
        'bad_argument',
        `${MOST} other agents already wait for ${splitLog(log).agent}; ask that agent with tell_agent`,
      );
    if (await inbox.store.swapSetting(waitingKey(log), before, [...others, waiting])) return;
  }
}

const isSame = (a: Asked, b: Asked): boolean => a.by === b.by && a.state === b.state;
type Asked = Pick<Waiting, 'by' | 'state'>;

/**
 * Whether this request to be notified still waits. If so, and if the request is older than 12 hours, the request is kept for
 * another day.
 */
export async function isAskedAbout(inbox: Kept, log: LogKey, asked: Waiting): Promise<boolean> {
  const before = await inbox.store.setting(waitingKey(log));
  const all = waitingIn(before);
  const known = all.find((each) => isSame(each, asked));
  if (known === undefined) return false;
  const after = all.map((each) => (each === known ? asked : each)) as unknown as Json;
  if (asked.at - known.at > KEPT_MS / 2) await inbox.store.swapSetting(waitingKey(log), before, after);
  return true;
}

/** Removes a request to be notified. */
export async function forget(inbox: Kept, log: LogKey, asked: Asked): Promise<void> {
  for (;;) {
    const before = await inbox.store.setting(waitingKey(log));
    const left = waitingIn(before).filter((each) => !isSame(each, asked));
    const to = left.length === 0 ? undefined : (left as unknown as Json);
    if (left.length === waitingIn(before).length || (await inbox.store.swapSetting(waitingKey(log), before, to))) return;
  }
}

/**
 * Notifies, once, each agent that waits for the agent of `log` to reach this state. An agent whose session has ended also counts
 * as idle. The requests stay in the list until all notifications are stored, so that a call after a crash notifies the remaining agents.
 */
export async function became(inbox: Logs, log: LogKey, state: State): Promise<void> {
  for (;;) {
    const before = await inbox.store.setting(waitingKey(log));
    const all = waitingIn(before);
    const due = all.filter((each) => each.state === state || state === 'done');
    if (due.length === 0) return;
    const { agent } = splitLog(log);
    const message = state === 'done' ? `the session of ${agent} has ended` : `${agent} has ended its turn and is idle`;
    for (const each of due) {
      const queued = inbox.queue(parseAddress(each.by), {
        id: idFor(log, each),
        message,
        kind: { source: 'agent', name: state },
        key: `agent ${log} ${state}`,
        supersede: true,
        origin: { agent: log, depth: 1 },
      });
      // A conflict means that an earlier process has queued this notification in the name of another sender.
      await queued.catch(keepConflict());
    }
    const left = all.filter((each) => !due.includes(each));
    const to = left.length === 0 ? undefined : (left as unknown as Json);
    if (await inbox.store.swapSetting(waitingKey(log), before, to)) return;
  }
}

/** Returns the same id for the same request, so that a repeated notification is a duplicate. */
const idFor = (log: LogKey, { by, state, at }: Waiting): string => `waited.${checksum(JSON.stringify([log, by, state, at]))}`;

function waitingIn(value: Json | undefined): readonly Waiting[] {
  return Array.isArray(value) ? value : [];
}
