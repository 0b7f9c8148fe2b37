/**
 * Records the stages of a conversation's run: the arrival, the beginning (at the first call or session start), and the departure.
 */
import { defined } from '../../core/defined.ts';
import type { Presence } from '../../core/ports.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { isSame, runOf } from './presence.ts';
import { joinProjectWide } from '../producing/project-wide.ts';
import { inherit, type Inherited } from './succession.ts';

export type Arrival = {
  /**
   * The name of the connection. A conversation may have several connections. Conversations of hooks and of Earpiece's own loop
   * have none.
   */
  readonly connection?: string;
  /** True if the connection has made no call yet. Until `begin`, the connection may be a client's health check. */
  readonly pending?: boolean;
};

/** Records the arrival of a conversation in its presence. The conversation inherits nothing before `begin`. */
export async function arrive(conversation: Conversation, { connection, pending = false }: Arrival = {}): Promise<void> {
  const { inbox, log, id, options } = conversation;
  const there = await inbox.store.presence({ log });
  const before = there.find((p) => p.conversation === id);
  const isSameRun =
    before !== undefined && (inbox.isActive(before) || (!options.shared && isSame(before.process, options.process)));
  const besideIn = (all: readonly Presence[]): readonly string[] =>
    all.filter((p) => p.conversation !== id && inbox.isActive(p)).map(runOf);
  const began = isSameRun ? undefined : { run: inbox.ids.make('r'), beside: besideIn(there) };
  const gone = Object.entries(before?.connections ?? {}).flatMap(([key, owner]) => (inbox.isAlive(owner) === false ? key : []));
  await conversation.seen({
    ...(pending ? { pending } : {}),
    ...defined({ began }),
    ...(gone.length === 0 ? {} : { disconnect: gone }),
    ...(connection === undefined ? {} : { connect: { key: connection, process: inbox.owner } }),
  });
  if (began === undefined) return;
  // `beside` lacks conversations that arrived between the read and the write, so the presence is read again.
  const missed = besideIn(await inbox.store.presence({ log })).filter((run) => !began.beside.includes(run));
  if (missed.length > 0) await conversation.seen({ began: { ...began, beside: [...began.beside, ...missed] } });
}

export type Beginning = {
  /** Whether the host's process is a descendant of another host's process. */
  readonly nested?: boolean;
  /** The worktree, used if neither the options nor the presence of the conversation name a worktree. */
  readonly folder?: string;
};

/**
 * Begins a run: the conversation inherits the unread notifications of ended conversations, and gets the open interrupts to the
 * whole project. Call `begin` before the first gate check and at a host's SessionStart. If the result has `waits`, call `begin`
 * again later.
 */
export async function begin(conversation: Conversation, { nested, folder }: Beginning = {}): Promise<Inherited> {
  const { inbox, log, id, options } = conversation;
  const known = await conversation.presence();
  if (known === undefined || !inbox.isActive(known) || (options.process !== undefined && !isSame(known.process, options.process)))
    await arrive(conversation);
  else if (known.pending) await conversation.seen({ pending: false });
  const purpose = await conversation.purpose();
  const inherited = await inherit(inbox, {
    log,
    id,
    purpose,
    folder: options.folder ?? known?.folder ?? folder,
    shared: options.shared,
    nested,
  });
  await joinProjectWide(inbox, { log, id, purpose });
  return inherited;
}

/**
 * Records that a connection of the conversation has closed. When the last connection closes, the conversation ends, unless the
 * host itself reports the end (`hostReportsEnd`).
 */
export async function leave(
  conversation: Conversation,
  { connection, hostReportsEnd = false }: { readonly connection: string; readonly hostReportsEnd?: boolean },
): Promise<void> {
  const { inbox, log, id } = conversation;
  const known = await conversation.presence();
  const gone = Object.entries(known?.connections ?? {}).flatMap(([key, owner]) => (inbox.isAlive(owner) === false ? key : []));
  await inbox.store.touch({
    log,
    conversation: id,
    disconnect: [connection, ...gone],
    ...(hostReportsEnd ? {} : { ended: 'alone' }),
  });
  conversation.forgetSeen();
  if (!known?.pending) return;
  // No agent worked in this conversation, so notifications about its servers are obsolete.
  const items = await inbox.store.items(log, { kind: 'held' });
  const own = items.filter((item) => item.audience === id && item.state === 'open' && item.notification.kind.source === 'mcp');
  for (const item of own)
    await inbox.store.append(log, [
      {
        type: 'notification_closed',
        conversation: id,
        ids: [item.id],
        outcome: 'withdrawn',
        by: 'presence',
        reason: 'the notification concerns a connection that called no tool and is closed',
      },
    ]);
}
