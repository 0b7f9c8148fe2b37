/** The stages of a conversation's run: it arrives with a connection, begins with its first contact, and leaves. */
import { defined } from '../../core/defined.ts';
import type { Presence } from '../../core/ports.ts';
import type { Conversation } from '../conversation/conversation.ts';
import { isSame, runOf } from './presence.ts';
import { joinStanding } from '../producing/standing.ts';
import { inherit, type Inherited } from './succession.ts';

export type Arrival = {
  /** Names the connection, as a conversation may have several. Hooks and Earpiece's own loop have no connection. */
  readonly connection?: string;
  /** True if the connection has made no call yet. Until `begin`, it may be a client's health check. */
  readonly pending?: boolean;
};

/** Records the presence of a conversation. It inherits nothing yet: only a conversation that starts to work is an heir. */
export async function arrive(conversation: Conversation, { connection, pending = false }: Arrival = {}): Promise<void> {
  const { inbox, log, id, options } = conversation;
  const there = await inbox.store.presence({ log });
  const before = there.find((p) => p.conversation === id);
  const goesOn = before !== undefined && (inbox.isActive(before) || (!options.shared && isSame(before.process, options.process)));
  const besideIn = (all: readonly Presence[]): readonly string[] =>
    all.filter((p) => p.conversation !== id && inbox.isActive(p)).map(runOf);
  const began = goesOn ? undefined : { run: inbox.ids.make('r'), beside: besideIn(there) };
  const gone = Object.entries(before?.connections ?? {}).flatMap(([key, owner]) => (inbox.isAlive(owner) === false ? key : []));
  await conversation.seen({
    ...(pending ? { pending } : {}),
    ...defined({ began }),
    ...(gone.length === 0 ? {} : { disconnect: gone }),
    ...(connection === undefined ? {} : { connect: { key: connection, process: inbox.owner } }),
  });
  if (began === undefined) return;
  // A conversation that arrived between the read and the write is missing, so this one reads again.
  const missed = besideIn(await inbox.store.presence({ log })).filter((run) => !began.beside.includes(run));
  if (missed.length > 0) await conversation.seen({ began: { ...began, beside: [...began.beside, ...missed] } });
}

export type Beginning = {
  /** Whether the host runs below another host. */
  readonly nested?: boolean;
  /** The worktree, used if no other carrier has reported one. */
  readonly folder?: string;
};

/**
 * Begins a run: the conversation takes over what it inherits, and gets the notifications that apply to the whole project. Call it
 * before the first gate check and at a host's SessionStart. If the result says `waits`, call it again; a second call is cheap.
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
  await joinStanding(inbox, { log, id, purpose });
  return inherited;
}

/**
 * Records that a connection of the conversation has closed. With the last one, the conversation ends, unless its host reports the
 * end itself (`staysUntilTold`).
 */
export async function leave(
  conversation: Conversation,
  { connection, staysUntilTold = false }: { readonly connection: string; readonly staysUntilTold?: boolean },
): Promise<void> {
  const { inbox, log, id } = conversation;
  const known = await conversation.presence();
  const gone = Object.entries(known?.connections ?? {}).flatMap(([key, owner]) => (inbox.isAlive(owner) === false ? key : []));
  await inbox.store.touch({
    log,
    conversation: id,
    disconnect: [connection, ...gone],
    ...(staysUntilTold ? {} : { ended: 'alone' }),
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
        reason: 'it is about a connection that called no tool and is closed',
      },
    ]);
}
