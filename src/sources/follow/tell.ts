/**
 * Reports the findings of a check. The state is first written with the reports, and then they are queued. After a crash in
 * between, the next process queues the written reports again. They have the same ids, so nothing is reported twice.
 */
import { EarpieceError } from '../../core/errors.ts';
import { checksum, type Emitter, type EventInput } from '../../core/event.ts';
import { fault } from '../../core/faults.ts';
import type { Store } from '../../core/ports.ts';
import type { Look, News, Standing } from './follower.ts';
import { keepState, type Followed, type Report, type State } from './list.ts';

/** The findings of a check. With `whole`, missing states have ended. */
type Found = Pick<Look, 'standing' | 'news' | 'events'> & { readonly whole: boolean };
/** The reported states that are open. `heard` says whether a conversation was active for each report. */
export type Told = { readonly told: State['told']; readonly heard: boolean };

type Place = { readonly store: Pick<Store, 'setting' | 'setSetting' | 'swapSetting'>; readonly emitter: Emitter };

/** The summary of a follower whose reports no agent can read. */
export const UNHEARD = 'no agent is active to read it';

/** Returns the reports that the findings of a check need. */
export function reportsOf(followed: Followed, before: State, found: Found): readonly Report[] {
  const now = new Set(found.standing.map(({ key }) => key));
  const ended = found.whole ? Object.keys(before.told).filter((key) => !now.has(key)) : [];
  const changed = found.standing.filter(({ key, fingerprint }) => before.told[key] !== fingerprint);
  return [
    ...ended.map((key) => ({ event: over(followed, before, key), key })),
    ...changed.map((each) => ({ event: eventOf(followed, before, each), key: each.key, fingerprint: each.fingerprint })),
    ...found.news.map((each) => ({ event: newsOf(followed, each) })),
    ...(found.events ?? []).map((each) => ({ event: foreign(followed, before, each) })),
  ];
}

/** Writes the state with the reports, and queues the reports. The caller then writes the state without reports. */
export async function tell(place: Place, uid: string, state: State, reports: readonly Report[]): Promise<Told> {
  if (reports.length === 0) return { told: state.told, heard: true };
  await keepState(place.store, uid, { ...state, turn: state.turn + 1, untold: reports });
  fault('follow.planned');
  return queue(reports, state.told, place.emitter);
}

/** Queues the reports of a process that crashed. Resolves to undefined if no conversation is active. */
export async function caughtUp({ store, emitter }: Place, uid: string, kept: State): Promise<State | undefined> {
  const { untold, ...state } = kept;
  if (untold === undefined) return kept;
  const { told, heard } = await queue(untold, state.told, emitter);
  if (!heard) return undefined;
  const after = { ...state, told };
  await keepState(store, uid, after);
  fault('follow.kept');
  return after;
}

async function queue(reports: readonly Report[], before: State['told'], emitter: Emitter): Promise<Told> {
  const told = new Map(Object.entries(before));
  for (const { event, key, fingerprint } of reports) {
    try {
      await emitter.emit(event);
    } catch (error) {
      if (!(error instanceof EarpieceError) || error.code !== 'nobody_there') throw error;
      return { told: Object.fromEntries(told), heard: false };
    }
    fault('follow.told');
    if (key === undefined) continue;
    if (fingerprint === undefined) told.delete(key);
    else told.set(key, fingerprint);
  }
  return { told: Object.fromEntries(told), heard: true };
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

const foreign = ({ uid, to }: Followed, { turn }: State, event: EventInput): EventInput => ({
  ...event,
  subject: to,
  id: `${uid}.${turn}.${checksum(JSON.stringify(event))}`,
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
  const reported = (state.untold ?? []).flatMap(({ key }) => (key === undefined ? [] : [key]));
  for (const key of new Set([...Object.keys(state.told), ...reported])) await emitter.emit(over(followed, state, key));
}
