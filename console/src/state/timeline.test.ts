import { describe, expect, test } from 'vitest';
import type { Draft, Stored } from '../../../src/core/records.ts';
import { applied, nextExpiry, NOTHING_KNOWN, pausedUntil, settled, waitingOf, type Known, type Note } from './notes.ts';
import { contactIn, doingIn, timelineOf, type Entry } from './timeline.ts';

let seq = 0;
const waitingNow = (notes: Known['notes']): Note[] => waitingOf(notes, 2_000);
const record = (body: Record<string, unknown>, at = 1_000): Stored =>
  ({ seq: ++seq, log: 'shop/coder', at, body: { conversation: 'main', ...body } as unknown as Draft }) as Stored;
const queued = (id: string, more: Record<string, unknown> = {}, at = 1_000): Stored =>
  record(
    { type: 'system_notification_queued', id, kind: { source: 'ci', name: 'failed' }, message: `${id} failed`, ...more },
    at,
  );
const known = (records: readonly Stored[], before: Known = NOTHING_KNOWN): Known => applied(before, records, 'main');
const shown = (records: readonly Stored[]): Entry[] => timelineOf(records, known(records).notes);

const call = record({ type: 'tool_call_request', id: 'c1', name: 'read', arguments: { path: 'a' } });
const view = (...ids: string[]): Record<string, unknown> => ({
  format: 'default',
  text: ids.join('\n'),
  items: ids.map((id) => ({ ids: [id], text: `ci info: ${id}` })),
});
const result = (...ids: string[]): Stored =>
  record(
    {
      type: 'tool_call_response',
      id: 'c1',
      content: 'x',
      is_error: false,
      notifications: ids.map((id) => ({ id, kind: { source: 'ci', name: 'failed' }, message: `${id} failed` })),
      view: view(...ids),
    },
    6_200,
  );

describe('the list of waiting notifications', () => {
  test('contains the notifications that no record has closed, in the order in which they were queued', () => {
    const records = [queued('a'), queued('b'), call, result('a')];
    expect(waitingNow(known(records).notes).map(({ id }) => id)).toEqual(['b']);
  });

  test('a notification waits until it expires, even if no record closes it; an offered notification stays in flight', () => {
    const offer = record({
      type: 'carrier_offered',
      carrier: 'k',
      at_point: 'tool_result',
      on: 'read',
      ids: ['c'],
      view: view('c'),
    });
    const { notes } = known([queued('a'), queued('b', { expiresAt: 5_000 }), queued('c', { expiresAt: 4_000 }), offer]);
    expect(nextExpiry(notes, 1_000)).toBe(5_000);
    expect([4_999, 5_000].map((now) => waitingOf(notes, now).map(({ id }) => id))).toEqual([
      ['a', 'b', 'c'],
      ['a', 'c'],
    ]);
    expect(nextExpiry(notes, 5_000)).toBe(Number.POSITIVE_INFINITY);
  });

  test('applying records again changes nothing', () => {
    const records = [
      queued('a'),
      queued('b'),
      call,
      result('a'),
      record({ type: 'notification_closed', ids: ['b'], outcome: 'withdrawn', by: 'x', reason: 'y' }),
    ];
    const once = known(records);
    expect(known(records, once)).toEqual(once);
    for (let from = 0; from < records.length; from++) expect(known(records.slice(from), once)).toEqual(once);
  });

  test('a resume lifts earlier pauses, even if the records are applied again', () => {
    const word = (action: string): Stored => queued(action + seq, { action, level: action === 'pause' ? 'critical' : 'info' });
    const records = [word('pause'), word('resume'), word('pause')];
    expect(pausedUntil(known(records.slice(0, 2)).notes)).toBe(0);
    expect(pausedUntil(known(records).notes)).toBe(Number.POSITIVE_INFINITY);
    expect(pausedUntil(known(records, known(records)).notes)).toBe(Number.POSITIVE_INFINITY);
  });

  test('a notification that is missing from the open notifications counts as taken elsewhere, unless it is newer than that list', () => {
    const records = [queued('a'), queued('b')];
    const head = records[1]?.seq ?? 0;
    const later = settled(known([...records, queued('c')]), new Set(['b']), head);
    expect(waitingNow(later.notes).map(({ id }) => id)).toEqual(['b', 'c']);
  });

  test('an offered notification is in flight until its offer is confirmed, and waits again after a release', () => {
    const offer = record({
      type: 'carrier_offered',
      carrier: 'k',
      at_point: 'tool_result',
      on: 'read',
      ids: ['a'],
      view: view('a'),
    });
    const states = (more: readonly Stored[]): string[] =>
      waitingNow(known([queued('a'), offer, ...more]).notes).map(({ state }) => state);
    expect(states([])).toEqual(['offered']);
    expect(states([record({ type: 'carrier_released', carrier: 'k', reason: 'cancelled' })])).toEqual(['open']);
    expect(states([record({ type: 'carrier_confirmed', carrier: 'k' })])).toEqual([]);
  });

  test('a notification for another conversation is not shown; a notification for any conversation disappears when another conversation takes it', () => {
    const elsewhere = record({ ...queued('b').body, conversation: 'other' });
    const anyone = record({ ...queued('c').body, conversation: undefined });
    const other = { ...result('c'), body: { ...result('c').body, conversation: 'other' } } as Stored;
    expect(waitingNow(known([elsewhere, anyone]).notes).map(({ id, conversation }) => [id, conversation])).toEqual([['c', null]]);
    expect(waitingNow(known([elsewhere, anyone, other]).notes)).toEqual([]);
  });

  test('a pause lasts until it is resumed, even after it was read', () => {
    const pause = queued('p', { action: 'pause', level: 'critical' });
    const read = record({ type: 'notification_read', ids: ['p'], by: 'transcript', holds: true });
    expect(pausedUntil(known([pause]).notes)).toBe(Number.POSITIVE_INFINITY);
    expect(pausedUntil(known([queued('p', { action: 'pause', expiresAt: 5_000 })]).notes)).toBe(5_000);
    expect(pausedUntil(known([pause, call, result('p'), read]).notes)).toBe(Number.POSITIVE_INFINITY);
    expect(pausedUntil(known([pause, call, result('p'), read, queued('r', { action: 'resume' })]).notes)).toBe(0);
  });
});

test('a notification that a person marked as read names the person until the agent has read it', () => {
  const shownBy = (...more: readonly Stored[]): unknown => {
    const { receipt, markedBy } = known([queued('a'), call, result('a'), ...more]).notes.get('a') as Note;
    return { receipt, markedBy };
  };
  const marked = record({ type: 'notification_read', conversation: undefined, ids: ['a'], by: 'browser of mira' });
  const read = record({ type: 'notification_read', ids: ['a'], by: 'transcript' });
  expect(shownBy(marked)).toEqual({ receipt: 'read', markedBy: 'browser of mira' });
  expect(shownBy(marked, read)).toEqual({ receipt: 'read', markedBy: null });
  expect(shownBy(read, marked)).toEqual({ receipt: 'read', markedBy: null });
});

describe('the timeline', () => {
  test('an interrupt that arrives with the refusal of a call names the gate, and not the tool, as its carrier', () => {
    const offer = { type: 'carrier_offered', carrier: 'k', at_point: 'forced', on: 'Bash', ids: ['a'], view: view('a') };
    const confirmed = { type: 'carrier_confirmed', carrier: 'k' };
    const refused = { type: 'gate_refused', ids: ['a'], on: 'Bash' };
    const on = (...records: Record<string, unknown>[]): unknown =>
      shown([queued('a', { action: 'pause' }), ...records.map((body) => record(body))]).find(({ kind }) => kind === 'ride');
    expect(on(offer, refused, confirmed)).toMatchObject({ on: { kind: 'gate', name: 'Bash', made: false } });
    expect(on(offer, { ...refused, made: true }, confirmed)).toMatchObject({ on: { kind: 'gate', name: 'Bash', made: true } });
    // The adapter for the AI SDK also sends a message at this contact point, without a refused call.
    expect(on({ ...offer, on: 'message' }, confirmed)).toMatchObject({ on: { kind: 'hook', name: 'message' } });
  });

  test('distinguishes a refused call from a call whose result is withheld', () => {
    const refused = (more: Record<string, unknown>): Stored => record({ type: 'gate_refused', ids: ['a'], on: 'write', ...more });
    const entries = shown([queued('a', { action: 'pause' }), refused({}), refused({ made: true })]);
    expect(entries.filter(({ kind }) => kind === 'refused')).toMatchObject([
      { on: 'write', paused: true, made: false },
      { on: 'write', paused: true, made: true },
    ]);
  });

  test('a delivered notification follows its carrier, with the time that it waited', () => {
    const entries = shown([queued('a'), record({ type: 'chat_request', content: 'go' }), call, result('a')]);
    expect(entries.map(({ kind }) => kind)).toEqual(['person', 'tool', 'ride']);
    expect(entries.at(-1)).toMatchObject({
      on: { kind: 'tool', name: 'read' },
      at: 6_200,
      riders: [{ id: 'a', kind: 'ci.failed', level: 'info', message: 'a failed', queuedAt: 1_000 }],
    });
  });

  test('several notifications in one line become one entry with their count', () => {
    const coalesced = record({
      ...result('a', 'b').body,
      view: { format: 'default', text: '', items: [{ ids: ['a', 'b'], text: 'ci info: twice' }] },
    });
    const [ride] = shown([queued('a'), queued('b'), coalesced]).filter(({ kind }) => kind === 'ride');
    expect(ride).toMatchObject({ riders: [{ id: 'a', ids: ['a', 'b'], count: 2 }] });
  });

  test('in a repeated frame, only items that were sent before count as repeated', () => {
    const offer = (carrier: string, ...ids: string[]): Stored =>
      record({
        type: 'carrier_offered',
        carrier,
        at_point: 'tool_result',
        on: 'read_file',
        ids,
        view: { ...view(...ids), repeated: carrier !== 'k1' },
      });
    const confirmed = record({ type: 'carrier_confirmed', carrier: 'k2' });
    const repeatedOf = (reason: string): unknown => {
      const released = record({ type: 'carrier_released', carrier: 'k1', reason });
      const entries = shown([queued('a'), queued('b'), offer('k1', 'a'), released, offer('k2', 'a', 'b'), confirmed]);
      return entries.flatMap((entry) => (entry.kind === 'ride' ? entry.riders.map(({ id, repeated }) => [id, repeated]) : []));
    };
    expect(repeatedOf('cancelled')).toEqual([
      ['a', true],
      ['b', false],
    ]);
    // The first offer was never sent, so no record shows which item was sent before, and both items count as repeated.
    expect(repeatedOf('too_big')).toEqual([
      ['a', true],
      ['b', true],
    ]);
  });

  test('an offer is shown as delivered only when it is confirmed', () => {
    const offer = record({
      type: 'carrier_offered',
      carrier: 'k',
      at_point: 'tool_result',
      on: 'read_file',
      ids: ['a'],
      view: view('a'),
    });
    expect(shown([queued('a'), offer])).toEqual([]);
    expect(shown([queued('a'), offer, record({ type: 'carrier_confirmed', carrier: 'k' })])).toMatchObject([
      { kind: 'ride', on: { kind: 'tool', name: 'read_file' }, riders: [{ id: 'a' }] },
    ]);
  });

  test('a notification that ended without delivery says how it ended', () => {
    const closed = record({ type: 'notification_closed', ids: ['a'], outcome: 'withdrawn', by: 'mcp', reason: 'it is back' });
    expect(shown([queued('a'), closed])).toMatchObject([
      { kind: 'ended', outcome: 'withdrawn', by: 'mcp', reason: 'it is back', notes: [{ id: 'a' }] },
    ]);
  });

  test('records of an unknown type are shown only if everything is shown', () => {
    const records = [record({ type: 'weather', sky: 'blue' })];
    expect(shown(records)).toEqual([]);
    expect(timelineOf(records, known(records).notes, { everything: true })).toMatchObject([{ kind: 'record', type: 'weather' }]);
  });
});

test('last contact and last delivery come from the records of the host, and not from the records of producers', () => {
  const asked = record({ type: 'chat_request', content: 'go' }, 2_000);
  const rode = { ...result('a'), at: 3_000 };
  const answer = record({ type: 'chat_response', message: 'done' }, 4_000);
  const elsewhere = record({ type: 'chat_response', message: 'x', conversation: 'other' }, 9_000);
  expect(contactIn([queued('a')], 'main')).toEqual({ seenAt: null, toldAt: null });
  expect(contactIn([asked, queued('a'), rode, answer, queued('b', {}, 8_000), elsewhere], 'main')).toEqual({
    seenAt: 4_000,
    toldAt: 3_000,
  });
  const confirmed = record({ type: 'carrier_confirmed', carrier: 'k' }, 5_000);
  expect(contactIn([asked, confirmed], 'main')).toEqual({ seenAt: 5_000, toldAt: 5_000 });
});

test('the current work of an agent comes from its newest record', () => {
  const asked = record({ type: 'chat_request', content: 'go' });
  expect(doingIn([])).toBeNull();
  expect(doingIn([asked])).toMatchObject({ kind: 'thinking' });
  expect(doingIn([asked, call])).toMatchObject({ kind: 'tool', what: 'read' });
  expect(doingIn([asked, call, queued('a'), record({ type: 'notification_closed', ids: ['a'] })])).toMatchObject({
    kind: 'tool',
  });
  expect(doingIn([asked, call, result()])).toMatchObject({ kind: 'thinking' });
  const second = record({ type: 'tool_call_request', id: 'c2', name: 'write', arguments: {} });
  const secondEnds = record({ type: 'tool_call_response', id: 'c2', content: 'ok', is_error: false });
  expect(doingIn([asked, call, second, secondEnds])).toMatchObject({ kind: 'tool', what: 'read' });
  expect(doingIn([asked, call, second, secondEnds, result()])).toMatchObject({ kind: 'thinking' });
  expect(doingIn([asked, call, result(), record({ type: 'chat_response', message: 'done' })])).toMatchObject({ kind: 'nothing' });
});
