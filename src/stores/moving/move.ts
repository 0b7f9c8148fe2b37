/**
 * Moves the content of one store to another store, usually of another engine. If the process is killed, the next run continues
 * with the unfinished step. The steps are:
 *
 * 1. The source is checked, and the target gets its mark.
 * 2. The source gets its mark, and from then on refuses all writers.
 * 3. The records are copied in pages, and then the rows.
 * 4. Both stores are read and compared, and the target is checked.
 * 5. The mark of the source says that the target contains everything.
 * 6. The mark of the target is removed.
 */
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { type Content, contentOf, counted, differences, fingerprint } from './digest.ts';
import { commandOf, giveUp, markedError, wayBack } from './marks.ts';
import type { Cursor, End, Found, Mark } from './port.ts';

export type Phase = 'check' | 'copy' | 'compare' | 'verify';
export type MoveOptions = {
  /** Called after each part of a phase: `done` of the phase's `of` records are finished. */
  readonly onProgress?: (phase: Phase, done: number, of: number) => void;
  /**
   * Stops the move. A copy stops after the current page, a comparison after the store that is being read, and the check of the
   * source at its end.
   */
  readonly signal?: AbortSignal;
  /** Called as soon as the source refuses writers. */
  readonly onMarked?: (mark: Mark) => void;
  readonly now?: () => number;
};

export type Moved =
  | {
      readonly kind: 'moved';
      readonly records: number;
      /** The number of records that an earlier run had copied. */
      readonly copiedBefore: number;
      readonly logs: number;
      readonly rows: Readonly<Record<string, number>>;
      readonly fingerprint: string;
    }
  | { readonly kind: 'stopped'; readonly mark: Mark; readonly copied: number; readonly of: number }
  /** The target differs from the source, or the target's index from its records. `problems` has one line for each difference. */
  | { readonly kind: 'differs'; readonly mark: Mark; readonly problems: readonly string[] };

export async function move(from: End, to: End, options: MoveOptions = {}): Promise<Moved> {
  checkPair(from, to);
  const mark = await markBoth(from, to, options);
  options.onMarked?.(mark);
  const before = await to.cursor();
  if (mark.doneAt === undefined) {
    const stopped = await copy(from, to, { mark, before, options });
    if (stopped !== undefined) return stopped;
  }
  const compared = await compare(from, to, options);
  if (compared === undefined) return { kind: 'stopped', mark, copied: await from.count(), of: await from.count() };
  if (compared.problems.length > 0) return { kind: 'differs', mark, problems: compared.problems };
  fault('move.compared');
  if (mark.doneAt === undefined) await from.freeze({ ...mark, doneAt: (options.now ?? Date.now)() });
  fault('move.source_done');
  await to.release();
  const { content } = compared;
  return {
    kind: 'moved',
    records: counted(content.logs),
    copiedBefore: before?.copied ?? 0,
    logs: content.logs.size,
    rows: Object.fromEntries([...content.rows].map(([kind, { count }]) => [kind, count])),
    fingerprint: fingerprint(content),
  };
}

/**
 * Gives up an unfinished move, so that the source accepts writes again. If `to` is given, also removes the target with its copied
 * records.
 */
export async function cancelMove(from: End, to: End | undefined): Promise<{ readonly discarded: boolean }> {
  const [source, target] = [await from.find(), await to?.find()];
  const mark = source.kind === 'marked' ? source.mark : undefined;
  if (mark?.doneAt !== undefined)
    throw new EarpieceError(
      'conflict',
      `the migration of ${from.name} to ${mark.to} is finished and cannot be cancelled: to go back, run ${wayBack(mark)}`,
    );
  if (mark?.role === 'target') throw markedError(from.name, mark);
  const mine =
    target?.kind === 'marked' &&
    target.mark.role === 'target' &&
    (mark === undefined ? target.mark.from === from.address : target.mark.move === mark.move);
  if (mark === undefined && !mine)
    throw new EarpieceError('not_found', `${from.name} is not being migrated, so there is nothing to cancel; leave --cancel out`);
  if (to !== undefined && target?.kind === 'marked' && !mine) throw markedError(to.name, target.mark);
  if (mine) await to?.discard();
  if (mark !== undefined) await from.thaw();
  return { discarded: mine };
}

function checkPair(from: End, to: End): void {
  if (from.name === to.name)
    throw new EarpieceError('bad_argument', `--from and --to both name ${from.name}: name another database with --to`);
  if (from.engine === 'nats' && to.engine === 'nats')
    throw new EarpieceError(
      'bad_argument',
      'a migration from NATS (--from) to NATS (--to) is not possible: copy both streams of the store with nats stream backup and restore',
    );
}

async function markBoth(from: End, to: End, options: MoveOptions): Promise<Mark> {
  const source = await from.find();
  const target = await to.find();
  if (source.kind === 'none')
    throw new EarpieceError('not_found', `there is no Earpiece database at ${from.name}: correct --from`);
  if (source.kind === 'marked') return resumed(from, to, { source: source.mark, target });
  const isBack = target.kind === 'marked' && isWayBack(from, to, target.mark);
  if (target.kind === 'marked' && !isBack) {
    if (target.mark.role === 'source' || target.mark.from !== from.address) throw markedError(to.name, target.mark);
    if ((await to.cursor()) !== undefined)
      throw new EarpieceError(
        'conflict',
        `${to.name} holds the rest of a cancelled migration: remove that rest with ${giveUp(target.mark)}`,
      );
    const mark: Mark = { ...target.mark, role: 'source' };
    await freeze(from, mark);
    return mark;
  }
  if (!isBack) checkEmpty(to, target);
  await checkSource(from, options);
  if (isBack) await replaced(from, to);
  const marked: Mark = {
    role: 'source',
    move: randomUUID(),
    from: from.address,
    to: to.address,
    startedAt: (options.now ?? Date.now)(),
  };
  await begin(from, to, marked);
  const seen = await from.find();
  if (seen.kind === 'marked' && seen.mark.role === 'target') {
    // `from` and `to` are the same empty store.
    await to.release();
    throw new EarpieceError('bad_argument', `${from.name} and ${to.name} are the same database: name another database with --to`);
  }
  await freeze(from, marked);
  return marked;
}

/** Continues a move whose source already has a mark. */
async function resumed(from: End, to: End, { source, target }: { readonly source: Mark; readonly target: Found }): Promise<Mark> {
  if (source.role === 'target') throw markedError(from.name, source);
  if (target.kind === 'marked') {
    if (target.mark.move !== source.move) throw markedError(to.name, target.mark);
    return source;
  }
  if (source.doneAt !== undefined || source.to !== to.address) throw markedError(from.name, source);
  // The target was removed after the interruption, so the move starts again from the beginning.
  checkEmpty(to, target);
  await begin(from, to, source);
  return source;
}

/** Whether `to` is a file that was migrated to `from`. */
const isWayBack = (from: End, to: End, mark: Mark): boolean =>
  to.engine === 'sqlite' && mark.role === 'source' && mark.doneAt !== undefined && mark.to === from.address;

/**
 * Removes the file that was migrated to `from`. Throws `conflict` if `from` lacks the file's content and is therefore another
 * database.
 */
async function replaced(from: End, to: End): Promise<void> {
  if (!(await isCopied(from, to)))
    throw new EarpieceError(
      'conflict',
      `${from.name} does not contain the content of ${to.name}, which was migrated to a database with this address: name a new database with --to`,
    );
  await to.discard();
}

/**
 * Whether `from` is a copy of `to`: both have the same secret, or `from` has the newest record of `to`. A store that never
 * delivered has no secret.
 */
async function isCopied(from: End, to: End): Promise<boolean> {
  const secret = await secretOf(to);
  if (secret !== undefined && secret === (await secretOf(from))) return true;
  const { head } = await to.bounds();
  const after = { seq: head - 1, copied: 0 };
  for await (const { records } of to.records(after)) {
    const newest = records.at(-1);
    if (newest === undefined) break;
    for await (const page of from.records({ ...after, log: newest.log }))
      return page.records.some((record) => isDeepStrictEqual(record, newest));
    return false;
  }
  return true;
}

async function secretOf(end: End): Promise<string | undefined> {
  for await (const rows of end.rows()) for (const row of rows) if (row.kind === 'secret') return row.value;
  return undefined;
}

function checkEmpty(to: End, found: Found): void {
  if (found.kind === 'store' && found.holds !== undefined)
    throw new EarpieceError('conflict', `${to.name} is not empty, but holds ${found.holds}; name an empty database with --to`);
}

async function checkSource(from: End, { onProgress, signal }: MoveOptions): Promise<void> {
  const problems = await from.verify({ onProgress: (done, of) => onProgress?.('check', done, of) });
  signal?.throwIfAborted();
  if (problems.length > 0)
    throw new EarpieceError(
      'store_corrupt',
      `${from.name} is damaged, so nothing was migrated (${problems.length === 1 ? '' : `${problems.length} problems, such as `}${problems[0]}): earpiece db check lists the problems; restore a backup`,
    );
}

async function begin(from: End, to: End, mark: Mark): Promise<void> {
  await to.begin({ ...mark, role: 'target' }, (await from.bounds()).first);
  fault('move.target_marked');
}

async function freeze(from: End, mark: Mark): Promise<void> {
  await from.freeze(mark);
  fault('move.source_marked');
}

type Copying = { readonly mark: Mark; readonly before: Cursor | undefined; readonly options: MoveOptions };

async function copy(from: End, to: End, { mark, before, options }: Copying): Promise<Moved | undefined> {
  const { signal, onProgress } = options;
  const of = await from.count();
  let copied = before === undefined ? 0 : of - (await from.count(before));
  onProgress?.('copy', copied, of);
  for await (const page of from.records(before)) {
    if (signal?.aborted) return { kind: 'stopped', mark, copied, of };
    await to.take(page);
    fault('move.page');
    copied += page.records.length;
    onProgress?.('copy', copied, of);
  }
  for await (const rows of from.rows()) {
    if (signal?.aborted) return { kind: 'stopped', mark, copied, of };
    await to.takeRows(rows);
    fault('move.rows');
  }
  await to.takeHead((await from.bounds()).head);
  return signal?.aborted ? { kind: 'stopped', mark, copied, of } : undefined;
}

/** Reads and compares both stores, and then checks the target. Returns undefined if the move was stopped. */
async function compare(
  from: End,
  to: End,
  { onProgress, signal }: MoveOptions,
): Promise<{ readonly content: Content; readonly problems: readonly string[] } | undefined> {
  const of = 2 * (await from.count());
  const step = (base: number) => (done: number) => onProgress?.('compare', base + done, of);
  const content = await contentOf(from, step(0));
  if (signal?.aborted) return undefined;
  const copy = await contentOf(to, step(of / 2));
  if (signal?.aborted) return undefined;
  const problems = differences(content, copy);
  if (problems.length > 0) return { content, problems };
  return { content, problems: await to.verify({ onProgress: (done, all) => onProgress?.('verify', done, all) }) };
}

/** Describes, for people, how to continue an interrupted move. */
export const wayOn = (mark: Mark): string =>
  mark.doneAt === undefined
    ? `nothing is lost, but the source accepts no writes: continue with ${commandOf(mark)}, or cancel with ${giveUp(mark)}`
    : `nothing is lost: finish the migration with ${commandOf(mark)}`;
