/** Checks the rules that need the journal: the lines that the workers wrote for agents and producers. */
import { isType, type Stored } from '../../../src/core/records.ts';
import type { Problem } from './checker.ts';
import { PAST, type Told } from './roles.ts';

/**
 * Checks that no acknowledged notification expired, because each lives for at least a day. Checks that no notification was
 * withdrawn without a request.
 */
export function judgeEndings(told: readonly Told[], records: readonly Stored[], problem: Problem): void {
  const acknowledged = new Set(told.flatMap((line) => (line.kind === 'queued' ? [line.id] : [])));
  const withdrawing = new Set(told.flatMap((line) => (line.kind === 'withdrawing' ? [line.id] : [])));
  for (const { seq, body } of records) {
    if (!isType(body, 'notification_closed')) continue;
    for (const id of body.ids) {
      if (body.outcome === 'expired' && acknowledged.has(id)) problem('lost', `${id} was closed as expired by ${seq}`);
      if (body.outcome === 'withdrawn' && !withdrawing.has(id))
        problem('lost', `${id} was closed as withdrawn by ${seq}, and nobody withdrew it`);
    }
  }
}

/**
 * Checks that a notification is flagged when it is shown again, that Earpiece's own transcript shows it once, and that no
 * withdrawn notification is shown.
 */
export function judgeShown(told: readonly Told[], problem: Problem): void {
  const lines = told.toSorted((a, b) => a.t - b.t);
  const shown = new Set<string>();
  const carried = new Map<string, number>();
  const withdrawn = new Set<string>();
  for (const line of lines) if (line.kind === 'withdrawn' && line.result === 'withdrawn') withdrawn.add(line.id);
  for (const line of lines) {
    if (line.kind !== 'bytes' && line.kind !== 'carried') continue;
    for (const id of line.ids) {
      if (withdrawn.has(id)) problem('twice', `${id} was shown, and its producer was told that it is withdrawn`);
      if (line.kind === 'carried') carried.set(id, (carried.get(id) ?? 0) + 1);
      else {
        const key = `${line.to} ${id}`;
        if (shown.has(key) && line.pulled === undefined && !line.marked.includes(id))
          problem('unflagged', `${line.carrier} showed ${id} again in ${line.to} without a flag`);
        shown.add(key);
      }
    }
  }
  for (const [id, times] of carried)
    if (times > 1) problem('twice', `${id} was carried ${times} times in the transcripts that our workers saw`);
}

/** Checks that the reader got every record once and in order, although its process was killed and started again. */
export function judgeReading(
  told: readonly Told[],
  { records, from }: { readonly records: readonly Stored[]; readonly from: number },
  problem: Problem,
): void {
  const seqs = told.flatMap((line) => (line.kind === 'read' ? [line.seq] : []));
  let last = from;
  for (const seq of seqs) {
    if (seq <= last) problem('unread', `the reader got record ${seq} after record ${last}`);
    last = Math.max(last, seq);
  }
  const read = new Set(seqs);
  for (const { seq, log } of records)
    if (seq > from && seq <= last && log !== PAST && !read.has(seq))
      problem('unread', `the reader missed record ${seq} of ${log}`);
}
