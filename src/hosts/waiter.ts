/**
 * Watches a session of a host that a separate command can wake. Runs that command when a notification may wake the idle agent. A
 * session has one waiter. The waiter ends with the host's process, or when that process shows another session.
 */
import type { Json } from '../core/json.ts';
import type { Owner } from '../core/records.ts';
import { isAlive, type Conversation } from '../inbox/index.ts';
import { wakesOf } from './wakes.ts';

/** How often to check whether the host has died or become idle, because no event reports either change. */
const POLL_EVERY_MS = 1_000;

export type Waited = {
  readonly conversation: Conversation;
  /** The process that shows the session. */
  readonly host: Owner;
  /** Whether the agent waits for its person. */
  readonly isIdle: () => boolean;
  /** Wakes the host, so that it begins a turn. Rejects if that fails. */
  readonly wake: () => Promise<void>;
};

/** Whether another process already waits for this session. */
export async function isWaitedFor({ inbox, log, id }: Conversation): Promise<boolean> {
  return waits(await inbox.store.setting(keyOf(log, id)));
}

/**
 * Resolves when the host's process has ended or shows another session, or when another process waits for the session. Rejects if
 * `wake` rejects.
 */
export async function waitFor({ conversation, host, isIdle, wake }: Waited): Promise<void> {
  const { inbox, log, id } = conversation;
  const { store } = inbox;
  const key = keyOf(log, id);
  const own = inbox.owner as unknown as Json;
  const before = await store.setting(key);
  if (waits(before) || !(await store.swapSetting(key, before, own))) return;
  const shows = async (): Promise<boolean> => {
    if (isAlive(host) === false) return false;
    const bound = await store.binding(host);
    return bound?.log === log && bound.conversation === id;
  };
  try {
    for (let head = await store.head(); await shows(); head = await store.changed(head, { withinMs: POLL_EVERY_MS })) {
      if (!isIdle()) continue;
      const ids = await wakesOf(conversation);
      if (ids.length === 0 || !isIdle()) continue;
      await store.append(log, [{ type: 'agent_woken', conversation: id, ids }]);
      await wake();
    }
  } finally {
    await store.swapSetting(key, own, undefined);
  }
}

const keyOf = (log: string, id: string): string => `waiter of ${log}#${id}`;

const waits = (value: Json | undefined): boolean => value !== undefined && isAlive(value as unknown as Owner) === true;
