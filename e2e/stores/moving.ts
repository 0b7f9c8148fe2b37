/** Makes a store with every kind of data, and reads all data through the store's port. */
import fc from 'fast-check';
import type { LogKey } from '../../src/core/address.ts';
import type { Store } from '../../src/core/ports.ts';
import type { Draft } from '../../src/core/records.ts';
import {
  closed,
  confirmed,
  conversation,
  ELSEWHERE,
  extended,
  folded,
  forked,
  LOG,
  ME,
  offered,
  OTHER,
  queued,
  read,
  refused,
  released,
  result,
  said,
  succeeded,
} from '../../src/stores/contract/drafts.ts';
import { stepsOf } from '../../src/stores/contract/random-drafts.ts';

/** A clock that a test sets. */
export type TestClock = { time: number; now: () => number };
export const testClock = (): TestClock => {
  const clock = { time: 1_700_000_000_000, now: () => clock.time };
  return clock;
};

const FAR = 9_999_999_999_999;
const X = { log: LOG, conversation: conversation('x') };
const ODD = 'odd \u0000 and é \u{1f600}';
/** In every engine, a record's body can contain half of a surrogate pair. Other fields cannot. */
const HALF = 'half \ud800';
const SETTINGS = ['mutes shop', `follow ${LOG}`, ODD, 'large', 'last_prune'];
const HOSTS = [ME, { ...ME, pid: 2 }, { machine: ODD, pid: 3, startedAt: '1' }];

/** Fills a store with every kind of data. `more` is a number of further notifications, so that a move takes several pages. */
export async function fill(store: Store, clock: TestClock, { seed, more }: { seed: number; more: number }): Promise<void> {
  const append = async (log: LogKey, ...drafts: readonly Draft[]): Promise<void> => {
    await store.append(log, drafts, { withinMs: 60_000 });
    clock.time += 7;
  };
  // The first records of this log are removed, so that the store does not begin at position 1.
  await append('gone/agent' as LogKey, queued('g1'), queued('g2'));
  await append('gone/agent' as LogKey, { type: 'agent_forgotten', by: 'test' });
  await store.erase('gone/agent' as LogKey, await store.head());
  // The random histories have gaps, because retention removes records.
  for (const step of fc.sample(stepsOf(fc, { prune: true }), { seed, numRuns: 6 }).flat()) {
    clock.time += step.tick;
    if (step.kind === 'append') await append(step.log, ...step.drafts);
    else await store.prune(store.ordered() - step.keepMs, { withinMs: 60_000 });
  }
  const hold = { conversation: 'x', level: 'critical', action: 'pause' } as const;
  await append(OTHER, queued('pause', hold), queued('seen', { ...hold, action: 'cancel' }), queued('key', { key: ODD }));
  await append(OTHER, refused(['pause']), read(['seen'], 'x'), folded('k2', 'key', { differs: { message: HALF } }));
  await append(OTHER, offered('held', ['key'], { conversation: 'x', until: FAR }));
  await append(OTHER, queued('unproven'), offered('lost', ['unproven'], { conversation: 'x' }), confirmed('lost'));
  await append(OTHER, released('lost', 'unproven'), extended(['unproven'], 'y'));
  await append(OTHER, queued('heir', { conversation: 'x' }), succeeded(['heir'], 'x', 'z'), forked(['heir'], 'z', 'w'));
  await append(ELSEWHERE, said('a transcript'), { type: 'unknown_type', deep: [{ a: null, 1: 'x', b: ODD, c: HALF }] });
  await append('shop/*' as LogKey, queued('all', { level: 'error' }));
  await append(`farm/${'é'.repeat(60)}` as LogKey, queued('long', { message: 'x'.repeat(50_000) }));
  // The writer's clock is far behind, so the record has both this clock's time and the log's time.
  clock.time -= 3_600_000;
  await append(ELSEWHERE, queued('late', { expiresAt: clock.time + 60_000 }), said('late'));
  clock.time += 3_600_000;
  const ids = Array.from({ length: more }, (_, n) => `m${n}`);
  for (let n = 0; n < ids.length; n += 50)
    await Promise.all(ids.slice(n, n + 50).map((id, at) => append(`many/a${at % 17}` as LogKey, queued(id))));
  for (let n = 0; n < ids.length; n += 50) await append('many/a0' as LogKey, closed([ids[n] as string], 'withdrawn'));
  await append(OTHER, queued('taken'), result(['taken'], 'y'));

  await store.touch({ ...X, host: 'codex', process: ME, carrier: 'hook', points: ['idle'], told: true, mark: 'm', folder: ODD });
  await store.touch({ log: OTHER, conversation: conversation('y'), ended: true });
  await store.touch({ log: 'shop/alone' as LogKey, conversation: conversation(ODD), purpose: 'review' });
  for (const host of HOSTS) await store.bind(host, X);
  const held = { ...X, at: clock.time, until: FAR, tool: ODD, body: `{"content":"${ODD}"}` };
  await store.withhold({ ...held, id: 'h1' });
  await store.withhold({ ...held, id: ODD, at: clock.time + 1 });
  for (const [n, key] of SETTINGS.entries()) await store.setSetting(key, [{ n, odd: ODD, list: [1.5, null] }]);
  await store.setSetting('large', 'y'.repeat(10_000));
  await store.secret();
}

/** Returns all data that readers can request from the store. */
export async function everything(store: Store): Promise<Record<string, unknown>> {
  const patience = { withinMs: 60_000 };
  const records = [];
  for (let page = await store.read({ limit: 5_000 }, patience); page.length > 0;) {
    records.push(...page);
    page = await store.read({ after: page.at(-1)?.seq ?? 0, limit: 5_000 }, patience);
  }
  const logs = await store.overview();
  const items: Record<string, unknown> = {};
  const of = new Map<string, number>();
  for (const { log } of logs) {
    const all = await store.items(log, { kind: 'latest', limit: 1_000_000 }, patience);
    items[log] = all.toSorted((a, b) => a.seq - b.seq || (a.audience < b.audience ? -1 : 1));
    of.set(log, await store.countOpen(log));
    for (const kind of ['open', 'gate', 'unread', 'held'] as const)
      of.set(`${log} ${kind}`, (await store.items(log, { kind }, patience)).length);
  }
  const presence = await store.presence({});
  return {
    head: await store.head(),
    records,
    logs,
    items,
    of,
    agents: await store.agents({ limit: 1_000 }, patience),
    presence,
    bindings: await Promise.all(HOSTS.map((host) => store.binding(host))),
    withheld: await Promise.all(presence.map(({ log, conversation: one }) => store.withheld(log, one))),
    settings: await Promise.all(SETTINGS.map((key) => store.setting(key))),
    secret: await store.secret(),
  };
}
