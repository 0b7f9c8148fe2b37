/** Tests that the table of words in `docs/library.md` contains each word of the types, and no other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { TurnResult } from '../src/entries/agent.ts';
import { RECORD_TYPES } from '../src/core/record-types.ts';
import type { ErrorCode, Handled, Item, Offer, Queued, Receipt, RecordType, Withdrawn } from '../src/index.ts';

/** The compiler rejects a missing word here, and a word that the type does not have. */
const words = <Word extends string>(all: Readonly<Record<Word, true>>): readonly string[] => Object.keys(all).toSorted();

const WORDS: Readonly<Record<string, readonly string[]>> = {
  'queue(…).kind': words<Queued['kind']>({ queued: true, folded: true, duplicate: true }),
  'receipt(…).receipt': words<Receipt>({
    queued: true,
    offered: true,
    delivered: true,
    observed: true,
    read: true,
    maybe_seen: true,
    withdrawn: true,
    expired: true,
    superseded: true,
    filtered: true,
    dropped: true,
    known: true,
    summarized: true,
    folded: true,
    left_out: true,
  }),
  'emit(…).heard[].kind': words<Handled['kind']>({
    queued: true,
    folded: true,
    duplicate: true,
    withdrew: true,
    skipped: true,
  }),
  'confirm()': words<Awaited<ReturnType<Offer['confirm']>>>({ confirmed: true, late: true }),
  'withdraw(…)[].result': words<Withdrawn['result']>({
    withdrawn: true,
    maybe_seen: true,
    gate_lowered: true,
    too_late: true,
    folded: true,
    unknown: true,
  }),
  'TurnResult.how': words<TurnResult['how']>({ complete: true, truncated: true, refused: true, stopped: true, failed: true }),
  'Item.outcome': words<NonNullable<Item['outcome']>>({
    delivered: true,
    summarized: true,
    withdrawn: true,
    expired: true,
    superseded: true,
    filtered: true,
    known: true,
    dropped: true,
    left_out: true,
    folded: true,
  }),
  'Stored.body.type': ([...RECORD_TYPES] satisfies RecordType[]).toSorted(),
  ErrorCode: words<ErrorCode>({
    bad_address: true,
    bad_argument: true,
    bad_config: true,
    bad_event: true,
    bad_frame: true,
    bad_notification: true,
    bad_subscriber: true,
    not_found: true,
    conflict: true,
    nobody_there: true,
    not_trusted: true,
    store_unavailable: true,
    store_refused: true,
    store_corrupt: true,
    store_full: true,
    upstream: true,
    timeout: true,
  }),
};

it.each(Object.keys(WORDS))('docs/library.md lists every value of %s', (field) => {
  expect(onThePage().get(field)?.toSorted()).toEqual(WORDS[field]);
});

function onThePage(): ReadonlyMap<string, string[]> {
  const page = readFileSync(join(import.meta.dirname, '../docs/library.md'), 'utf8');
  const table = page.slice(page.indexOf('| field | word |')).split('\n').slice(2);
  const found = new Map<string, string[]>();
  let field = '';
  for (const row of table) {
    const [, first = '', second = ''] = row.split('|');
    field = /`([^`]+)`/.exec(first)?.[1] ?? field;
    found.set(field, [...(found.get(field) ?? []), ...[...second.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word)]);
  }
  return found;
}
