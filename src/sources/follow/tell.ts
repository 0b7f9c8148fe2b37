/**
 * Reports the findings of a check: first writes the state with the reports, and then queues the reports. If the process crashes
 * before all reports are queued, the next process queues the written reports again. The repeated reports have the same ids, so
 * nothing is reported twice.
 */
import { EarpieceError, keepConflict } from '../../core/errors.ts';
import { defined } from '../../core/defined.ts';
import type { Emitter, Event } from '../../core/event.ts';
import { checksum } from '../../core/checksum.ts';
import { fault } from '../../core/faults.ts';
import type { Json } from '../../core/json.ts';
import type { Store } from '../../core/ports.ts';
import { clean } from '../../handles/text.ts';
import type { Look, News, Standing } from './follower.ts';
import { covers, keepState, type Group, type Report, type State } from './list.ts';

/** The findings of a check. With `whole`, missing states have ended. */
type Found = Pick<Look, 'standing' | 'news' | 'events'> & { readonly whole: boolean };
/** The part of a follower's state that its reports change. `heard` says whether a conversation was active for each report. */
export type Told = Required<Pick<State, 'told' | 'ids' | 'tos' | 'news'>> & { readonly heard: boolean };

type Addressed = Pick<Group, 'uid' | 'tos'>;
type Place = { readonly store: Pick<Store, 'setting' | 'setSetting' | 'swapSetting'>; readonly emitter: Emitter };

/** The summary of a follower whose reports no agent can read. */
export const UNHEARD = 'not reported: no agent is active';

/** Returns the reports that the findings of a check need. */
export function reportsOf(group: Addressed, before: State, found: Found): readonly Report[] {
  const now = new Set(found.standing.map(({ key }) => key));
  const ended = found.whole ? Object.keys(before.told).filter((key) => !now.has(key)) : [];
  const changed = found.standing.filter(({ key, fingerprint }) => before.told[key] !== fingerprint);
  // A new address also gets the reports of the open states. A log that already has such a report drops the new report, because
  // both reports have the same id.
  const joined = group.tos.filter((to) => before.tos !== undefined && !before.tos.includes(to));
  const again = joined.length === 0 ? [] : found.standing.filter(({ key, fingerprint }) => before.told[key] === fingerprint);
  const left = leftBy(before, group.tos);
  return [
    ...(left.length === 0 ? [] : Object.keys(before.told).map((key) => ({ event: over(group, before, key), tos: left }))),
    ...ended.map((key) => ({ event: over(group, before, key), key })),
    ...again.map((each) => ({ event: eventOf(group, before, each), tos: joined })),
    ...changed.map((each) => ({ event: eventOf(group, before, each), key: each.key, fingerprint: each.fingerprint })),
    ...found.news.map((each) => ({ event: newsOf(group, each), ...defined({ endOf: each.endOf }) })),
    ...(found.events ?? []).map((each) => ({ event: foreign(group, before, each) })),
  ];
}

/**
 * Returns the notified addresses that no follower has any more. An address that includes a current address, or that a current
 * address includes, is left out.
 */
const leftBy = ({ tos = [] }: State, now: readonly string[]): readonly string[] =>
  tos.filter((to) => now.every((each) => !covers(each, to) && !covers(to, each)));

/** Writes the state with the reports, and queues the reports. The caller then writes the state without reports. */
export async function tell(place: Place, group: Addressed, state: State, reports: readonly Report[]): Promise<Told> {
  const { told, ids = {}, news = [] } = state;
  if (reports.length === 0) return { told, ids, news, tos: group.tos, heard: true };
  await keepState(place.store, group.uid, { ...state, turn: state.turn + 1, untold: reports });
  fault('follow.planned');
  return queue(reports, state, place.emitter, group);
}

/** Queues the reports of a process that crashed. Resolves to undefined if no conversation is active. */
export async function caughtUp({ store, emitter }: Place, group: Addressed, kept: State): Promise<State | undefined> {
  const { untold, ...state } = kept;
  if (untold === undefined) return kept;
  const { heard, ...told } = await queue(untold, state, emitter, group);
  if (!heard) return undefined;
  const after = { ...state, ...told };
  await keepState(store, group.uid, after);
  fault('follow.kept');
  return after;
}

async function queue(reports: readonly Report[], before: State, emitter: Emitter, group: Addressed): Promise<Told> {
  const told = new Map(Object.entries(before.told));
  const ids = new Map(Object.entries(before.ids ?? {}));
  const news = new Set(before.news);
  const result = (heard: boolean): Told => ({
    told: Object.fromEntries(told),
    ids: Object.fromEntries(ids),
    news: [...news].slice(-MAX_NEWS),
    tos: heard ? group.tos : (before.tos ?? group.tos),
    heard,
  });
  /** The addresses and states whose unread report was withdrawn. */
  const withdrawn = new Set<string>();
  for (const { event, key, fingerprint, endOf, tos = group.tos } of reports) {
    try {
      for (const to of tos) {
        if (endOf !== undefined && withdrawn.has(`${to} ${endOf}`)) continue;
        // A conflict means that an earlier process has queued this report in the name of another sender.
        const emitted = await emitter.emit({ ...event, subject: to }).catch(keepConflict());
        if (emitted?.heard.some((each) => each.kind === 'withdrew' && each.ids.length > 0)) withdrawn.add(`${to} ${key}`);
      }
    } catch (error) {
      if (!(error instanceof EarpieceError) || error.code !== 'nobody_there') throw error;
      return result(false);
    }
    fault('follow.told');
    if (key === undefined) {
      if (event.source === SOURCE && event.key !== undefined) {
        news.delete(event.key);
        news.add(event.key);
      }
      continue;
    }
    ids.delete(key);
    if (fingerprint === undefined) told.delete(key);
    else {
      told.set(key, fingerprint);
      if (event.id !== undefined) ids.set(key, event.id);
    }
  }
  return result(true);
}

const SOURCE = 'follow';

type Unaddressed = Report['event'];

/** Makes the event without the escape sequences that texts of programs and servers may contain. */
const base = ({ type, severity, message, data }: Standing | News): Unaddressed => ({
  type,
  source: SOURCE,
  severity,
  message: clean(message),
  data: cleaned(data) as Event['data'],
});

function cleaned(value: Json): Json {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cleaned(each)]));
}

const keyOf = ({ uid }: Addressed, key: string): string => `follow:${uid}:${key.length > 100 ? checksum(key) : key}`;

function eventOf(group: Addressed, { turn, told, ids }: State, standing: Standing): Unaddressed {
  const { key, fingerprint } = standing;
  const known = told[key] === fingerprint ? ids?.[key] : undefined;
  return {
    ...base(standing),
    id: known ?? `${group.uid}.${turn}.${checksum(`${key}\0${fingerprint}`)}`,
    key: keyOf(group, key),
    supersede: true,
  };
}

const newsOf = (group: Addressed, news: News): Unaddressed => ({
  ...base(news),
  id: `${group.uid}.${checksum(news.id)}`,
  key: keyOf(group, news.key ?? news.id),
});

const foreign = ({ uid }: Addressed, { turn }: State, event: Unaddressed): Unaddressed => ({
  ...event,
  id: `${uid}.${turn}.${checksum(JSON.stringify(event))}`,
});

const over = (group: Addressed, state: State, key: string): Unaddressed => overOf(group, state, keyOf(group, key));

/** Makes the event that withdraws the notifications with this event key. */
const overOf = ({ uid }: Addressed, { turn }: State, key: string): Unaddressed => ({
  type: 'follow.over',
  source: SOURCE,
  severity: 'debug',
  message: 'the problem has ended',
  data: {},
  id: `${uid}.${turn}.${checksum(key)}.over`,
  key,
});

/** The maximum number of keys of news that `unfollow` withdraws. Agents have usually read older news. */
const MAX_NEWS = 100;

/** Withdraws the open notifications of a group for these addresses. */
export async function tellEnd(group: Addressed, state: State, emitter: Emitter): Promise<void> {
  const reported = (state.untold ?? []).flatMap(({ event }) =>
    event.source === SOURCE && event.key !== undefined ? [event.key] : [],
  );
  const open = Object.keys(state.told).map((key) => keyOf(group, key));
  for (const key of new Set([...open, ...(state.news ?? []), ...reported]))
    for (const to of group.tos) await emitter.emit({ ...overOf(group, state, key), subject: to });
}
