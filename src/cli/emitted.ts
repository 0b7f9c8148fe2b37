/** Where commands put events, and what they say became of them. */
import { randomUUID } from 'node:crypto';
import { makeEvent, notificationFrom, type Emitted, type Emitter, type Heard } from '../core/event.ts';
import type { Earpiece } from '../earpiece.ts';
import { plain } from './terminal.ts';

export function emitterOf(ear: Earpiece): Emitter {
  const { bus } = ear as { bus?: Emitter };
  return bus ?? withoutBus(ear);
}

/** One event is one notification. */
const withoutBus = (ear: Earpiece): Emitter => ({
  emit: async (input) => {
    const event = makeEvent(input, { id: randomUUID(), now: ear.store.now() });
    const queued = await ear.queue(event.subject, notificationFrom(event));
    const id = queued.kind === 'folded' ? queued.into : queued.id;
    return { event, heard: [{ subscriber: 'every event', kind: queued.kind, id }] };
  },
});

/** Something was made of it: queued, counted, taken back, or it was known already. */
export const wasHeard = ({ heard }: Emitted): boolean => heard.some(({ kind }) => kind !== 'skipped');

/** A line for each subscriber of its type. */
export function whatBecame({ event, heard }: Emitted): string[] {
  if (heard.length === 0) return [`no subscriber listens for ${event.type}; nothing was queued`];
  return heard.map((one) => `${plain(one.subscriber)}: ${byOne(one, plain(event.subject))}`);
}

function byOne(one: Heard, to: string): string {
  switch (one.kind) {
    case 'queued':
      return `queued ${plain(one.id)} for ${to}`;
    case 'folded':
      return `counted into ${plain(one.id)}, which waits for ${to}`;
    case 'duplicate':
      return `${plain(one.id)} was queued before for ${to}; nothing changed`;
    case 'withdrew':
      return one.ids.length === 0 ? 'there was nothing to take back' : `took back ${one.ids.map((id) => plain(id)).join(', ')}`;
    case 'skipped':
      return `nothing, because ${plain(one.because)}`;
    default:
      return one satisfies never;
  }
}
