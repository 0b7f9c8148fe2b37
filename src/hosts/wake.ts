/** Decides whether a notification may wake an idle agent, and returns the text that wakes the agent. */
import { defined } from '../core/defined.ts';
import { conversationOfSession, isSignal, type Conversation } from '../inbox/index.ts';
import { conversationOf, type Place } from './attend.ts';
import type { Host } from './host.ts';
import type { Attended, Caller } from './moment.ts';
import { wakesAt } from './wakes.ts';

export type Woken =
  /** There is no agent to wake: the host shows another session now, this session has ended, or its process is unknown. */
  | { readonly kind: 'over' }
  /**
   * The agent is not woken now. `nextAt` is the time of the next check, in milliseconds since the epoch. Without `nextAt`, only a
   * change of the store can lead to a wake.
   */
  | { readonly kind: 'waits'; readonly nextAt?: number }
  | { readonly kind: 'wakes'; readonly attended: Attended };

export async function wake(place: Place, host: Host, caller: Caller): Promise<Woken> {
  const { store } = place.inbox;
  // Without the process, it is unknown whether the session is still the current session.
  if (caller.process === undefined || caller.shared) return { kind: 'over' };
  const bound = await store.binding(caller.process);
  if (bound !== undefined && bound.conversation !== conversationOfSession(caller.session)) return { kind: 'over' };
  const conversation = await conversationOf(place, host, caller);
  const known = await conversation.presence();
  if (known?.endedAt !== undefined) return { kind: 'over' };
  // The SessionStart hook has not reported the session yet.
  if (known === undefined || bound === undefined) return { kind: 'waits', nextAt: store.now() + 500 };

  const { log, id } = conversation;
  const { ids, nextAt } = await wakesAt(conversation, 'idle');
  if (ids.length === 0) return { kind: 'waits', ...defined({ nextAt }) };
  // The record is written before the wake. If this process crashes before the wake, the agent is not woken, and the next carrier
  // contains the notifications.
  await store.append(log, [{ type: 'agent_woken', conversation: id, ids }]);
  const attended = await wakingAnswer(conversation, host);
  return attended === undefined ? { kind: 'waits' } : { kind: 'wakes', attended };
}

async function wakingAnswer(conversation: Conversation, host: Host): Promise<Attended | undefined> {
  if (isSignal(conversation.policy().view)) {
    const { text } = await conversation.signal({ at: 'idle' });
    return { answer: { kind: 'tell', text }, confirm: async () => {}, release: async () => {} };
  }
  const offer = await conversation.offer({ at: 'idle', on: 'wake', maxChars: host.maxChars });
  if (offer === undefined) return undefined;
  return {
    answer: { kind: 'tell', text: offer.view.text },
    carrier: offer.carrier,
    confirm: async () => void (await offer.confirm()),
    release: () => offer.release('write_error'),
  };
}
