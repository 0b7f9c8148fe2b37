import type { ConversationId, LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { Notification } from '../../core/notification.ts';
import type { Presence } from '../../core/ports.ts';
import type { Context } from '../context.ts';
import { activeOnes, isActive } from '../presence/presence.ts';

/**
 * Returns the active conversations of an agent that may take a notification: conversations of its purpose, and conversations
 * without a purpose. All conversations may take a notification without a purpose.
 */
export async function audienceOf(
  context: Context,
  query: { readonly log: LogKey },
  { purpose }: Pick<Notification, 'purpose'>,
): Promise<readonly Presence[]> {
  return forPurpose(await activeOnes(context, query), purpose);
}

const forPurpose = (active: readonly Presence[], purpose: string | undefined): readonly Presence[] =>
  active.filter((p) => purpose === undefined || p.purpose === undefined || p.purpose === purpose);

/** The maximum number of agents in a page. */
const PAGE = 1_000;

/** A page of the presence in a project: all conversations of some agents. `upTo`: the last of these agents. */
type Page = { readonly presence: readonly Presence[]; readonly upTo: LogKey; readonly isLast: boolean };

/** Reads the presence of a project in pages, so that a large project does not fill the memory. */
export async function* presenceIn({ store }: Context, project: string, after?: LogKey): AsyncGenerator<Page, void, undefined> {
  for (let from = after; ;) {
    const presence = await store.presence({ project, limit: PAGE, ...defined({ after: from }) });
    const upTo = presence.at(-1)?.log;
    if (upTo === undefined) return;
    const isLast = new Set(presence.map(({ log }) => log)).size < PAGE;
    yield { presence, upTo, isLast };
    if (isLast) return;
    from = upTo;
  }
}

/** A page of the active conversations in a project that may take a notification. */
export type Receivers = Page & {
  readonly targets: readonly { readonly log: LogKey; readonly conversations: readonly ConversationId[] }[];
};

export async function* receiversIn(
  context: Context,
  project: string,
  { purpose }: Pick<Notification, 'purpose'>,
  after?: LogKey,
): AsyncGenerator<Receivers, void, undefined> {
  for await (const page of presenceIn(context, project, after)) {
    const presence = forPurpose(page.presence.filter(isActiveNow(context)), purpose);
    const targets = [...Map.groupBy(presence, ({ log }) => log)].map(([log, of]) => ({
      log,
      conversations: of.map(({ conversation }) => conversation),
    }));
    yield { ...page, presence, targets };
  }
}

const isActiveNow = (context: Context): ((presence: Presence) => boolean) => {
  const now = context.store.now();
  return (presence) => isActive(context, presence, now);
};
