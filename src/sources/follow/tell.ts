/**
 * Reports the findings of a check. The caller then writes the state. After a crash in between, the check is repeated. The events
 * have the same ids, so nothing is reported twice.
 */
import { checksum, type Emitter, type EventInput } from '../../core/event.ts';
import { fault } from '../../core/faults.ts';
import type { Look, News, Standing } from './follower.ts';
import type { Followed, State } from './list.ts';

/** The findings of a check. `whole`: states that are missing have ended. */
type Found = Pick<Look, 'standing' | 'news' | 'events'> & { readonly whole: boolean };

/**
 * Reports findings, and returns the reported states that are open. Throws the errors of `emit`, such as `nobody_there` if no
 * conversation is active.
 */
export async function tell(followed: Followed, before: State, found: Found, emitter: Emitter): Promise<State['told']> {
  const told = new Map(Object.entries(before.told));
  const now = new Set(found.standing.map(({ key }) => key));
  for (const key of told.keys()) {
    if (!found.whole || now.has(key)) continue;
    await emitter.emit(over(followed, before, key));
    fault('follow.told');
    told.delete(key);
  }
  for (const standing of found.standing) {
    if (told.get(standing.key) === standing.fingerprint) continue;
    await emitter.emit(eventOf(followed, before, standing));
    fault('follow.told');
    told.set(standing.key, standing.fingerprint);
  }
  for (const news of found.news) {
    await emitter.emit(newsOf(followed, news));
    fault('follow.told');
  }
  for (const event of found.events ?? []) {
    await emitter.emit({
      ...event,
      subject: followed.to,
      id: `${followed.uid}.${before.turn}.${checksum(JSON.stringify(event))}`,
    });
    fault('follow.told');
  }
  return Object.fromEntries(told);
}

const SOURCE = 'follow';

const base = ({ to }: Followed, { type, severity, message, data }: Standing | News): EventInput => ({
  type,
  source: SOURCE,
  subject: to,
  severity,
  message,
  data,
});

const keyOf = ({ uid }: Followed, key: string): string => `follow:${uid}:${key.length > 100 ? checksum(key) : key}`;

function eventOf(followed: Followed, { turn }: State, standing: Standing): EventInput {
  const { key, fingerprint } = standing;
  return {
    ...base(followed, standing),
    id: `${followed.uid}.${turn}.${checksum(`${key}\0${fingerprint}`)}`,
    key: keyOf(followed, key),
    supersede: true,
  };
}

const newsOf = (followed: Followed, news: News): EventInput => ({
  ...base(followed, news),
  id: `${followed.uid}.${checksum(news.id)}`,
  key: keyOf(followed, news.key ?? news.id),
});

const over = (followed: Followed, { turn }: State, key: string): EventInput => ({
  type: 'follow.over',
  source: SOURCE,
  subject: followed.to,
  severity: 'debug',
  message: 'it is over',
  data: {},
  id: `${followed.uid}.${turn}.${checksum(key)}.over`,
  key: keyOf(followed, key),
});

/** Withdraws the open notifications of a follower that ends. */
export async function tellEnd(followed: Followed, state: State, emitter: Emitter): Promise<void> {
  for (const key of Object.keys(state.told)) await emitter.emit(over(followed, state, key));
}
