/** Which notifications wake an idle agent of a coding host now. Each wakes once, in whichever process. */
import type { NotificationId } from '../core/notification.ts';
import { waking } from '../core/waking.ts';
import type { Conversation } from '../inbox/index.ts';

/** What the prompt of a woken agent says. The notifications themselves come by its hook. */
export const NUDGE = 'Earpiece: notifications wait for you.';

const LOOKED_BACK = 200;

/** Empty: the agent is left alone. */
export async function wakesOf(conversation: Conversation): Promise<readonly NotificationId[]> {
  const { id, inbox, log } = conversation;
  const { store } = inbox;
  const open = (await store.items(log, { kind: 'open', conversation: id })).filter(({ state }) => state === 'open');
  if (open.length === 0) return [];
  // Its prompt hook brings them.
  const taken = new Set(
    (await conversation.decisions({ at: 'turn_start' })).flatMap((each) => (each.kind === 'take' ? [each.id] : [])),
  );
  const woken = await store.read({ log, conversation: id, types: ['agent_woken'], newestFirst: true, limit: LOOKED_BACK });
  const spent = new Set(woken.flatMap(({ body }) => (body as unknown as { ids: readonly NotificationId[] }).ids));
  const gate = await conversation.gate();
  const { wakes } = waking(
    open.filter((item) => taken.has(item.id)),
    {
      log,
      policy: conversation.policy(),
      now: store.now(),
      paused: gate.some(({ notification }) => notification.action === 'pause'),
      spent: (each) => spent.has(each),
    },
  );
  return wakes.map((item) => item.id);
}
