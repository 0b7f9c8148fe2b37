/** Plans all changes of an installation or removal, file by file, before the first change. */
import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { formatProblem } from '../../config/index.ts';
import type { Edited } from '../../config/edit.ts';
import { defined } from '../../core/defined.ts';
import type { Ours } from './ours.ts';
import { readSettings } from './read-settings.ts';
import { digest, type InstallBook, type Recorded } from './record.ts';
import type { Part, Place, Scope, Setup } from './setup.ts';
import { lostServers } from './wrap.ts';

export type FilePlan = {
  readonly host: string;
  readonly scope: Scope;
  readonly project: string;
  readonly file: string;
  /** Earpiece's entries in the file, in words for people. */
  readonly what: readonly string[];
  readonly isPrivate?: boolean;
  /** The current content; undefined if the file does not exist. */
  readonly before: string | undefined;
  readonly after: string | undefined;
  /**
   * The content without Earpiece's entries, as before the installation; undefined if the file did not exist or this content is
   * unknown.
   */
  readonly base: string | undefined;
  /** The reason why this file cannot be changed, and what to do. If a file has a problem, no file of the host is changed. */
  readonly problem?: string;
  /** Set if the file has a problem, and Earpiece's entries were found in the file. */
  readonly hasEntries?: true;
  /**
   * The parts that the removal cannot restore, in words for a person. If there are such parts, the saved bytes of the file are
   * kept.
   */
  readonly unrestored?: string;
  /** Missing files whose records are dropped too. */
  readonly forgets?: readonly string[];
};

export const changes = ({ before, after }: FilePlan): boolean => before !== after;

/** Whether the plan has anything to do: the file changes, or its record ends because the file was changed by hand. */
export const isPending = (plan: FilePlan): boolean => changes(plan) || plan.unrestored !== undefined;

export function planInstall(setup: Setup, place: Place, ours: Ours, book: InstallBook): readonly FilePlan[] {
  return [...byFile(setup.parts(place, ours))].map(([file, parts]) => {
    const plan = planned(setup, place, file, parts);
    const there = readSettings(file);
    if (there.problem !== undefined)
      return { ...plan, before: undefined, after: undefined, base: undefined, problem: there.problem };
    const { text: before } = there;
    const added = all(parts, before ?? '', (part, text) => part.add(text, book.get(file)?.base ?? undefined));
    if (added.kind === 'problem') return { ...plan, before, after: before, base: before, problem: formatProblem(added.problem) };
    const base = added.text === before || before === undefined ? before : withoutUs(parts, before, book.get(file));
    const unwritable = added.text === before ? undefined : hindrance(file);
    return { ...plan, before, after: added.text, base, ...defined({ problem: unwritable }) };
  });
}

const planned = (setup: Setup, { scope, project }: Place, file: string, parts: readonly Part[]) => ({
  host: setup.name,
  scope,
  project,
  file,
  what: parts.map(({ what }) => what),
  isPrivate: scope === 'user' || parts.some((part) => part.isPrivate),
});

function withoutUs(parts: readonly Part[], text: string, known: Recorded | undefined): string {
  if (typeof known?.base === 'string' && known.written.includes(digest(text))) return known.base;
  const bare = all(parts.toReversed(), text, (part, each) => part.remove(each, known?.base ?? undefined));
  return bare.kind === 'text' ? bare.text : text;
}

/** Plans the removal for one host: in the recorded files, and in the files that `setup` names. */
export function planUninstall(setup: Setup, places: readonly Place[], ours: Ours, book: InstallBook): readonly FilePlan[] {
  const plans = new Map<string, FilePlan>();
  const recorded = book.list().filter(({ host }) => host === setup.name);
  const known = recorded.map(({ scope, project }): Place => ({ ...(places[0] as Place), scope, project }));
  for (const place of [...places, ...known])
    for (const [file, parts] of byFile(setup.parts(place, ours)))
      if (!plans.has(file)) plans.set(file, unrestored(without(setup, place, file, parts, book), setup, place, ours, book));
  for (const record of recorded) if (!plans.has(record.file)) plans.set(record.file, elsewhere(record));
  return [...plans.values()];
}

/** Adds the parts that the removal cannot restore: a file that a person deleted, or lost servers behind a gateway. */
function unrestored(plan: FilePlan, setup: Setup, place: Place, ours: Ours, book: InstallBook): FilePlan {
  const { file, before, after, problem } = plan;
  if (problem !== undefined) return plan;
  const wraps = typeof setup.wraps === 'function' ? setup.wraps(place, ours) : undefined;
  const list =
    wraps?.file === file && book.get(wraps.list) && readSettings(wraps.list).text === undefined ? wraps.list : undefined;
  const record = book.get(file);
  const forgets = list === undefined ? [] : [list];
  const kept = book.keptAs(file);
  if (before === undefined)
    return record === undefined
      ? plan
      : {
          ...plan,
          forgets,
          unrestored: `${file} no longer exists, so there is nothing to remove${kept === undefined ? '' : `; the file from before the installation is kept as ${kept}`}`,
        };
  if (list === undefined || wraps === undefined) return plan;
  const lost = lostServers(after ?? '', record?.base ?? '', wraps);
  if (record !== undefined && lost.length === 0) return { ...plan, forgets };
  const what =
    kept === undefined
      ? 'their names are unknown, because no copy of the file from before the installation exists'
      : `missing: ${lost.join(', ')}; the file from before the installation, with their entries, is kept as ${kept}`;
  return {
    ...plan,
    forgets,
    unrestored: `the MCP servers that were behind the gateway cannot be restored: the gateway's entry and the list ${list} no longer exist; ${what}`,
  };
}

/**
 * Makes the plan for a recorded file in which the host no longer keeps its settings. Earpiece's entries in such a file cannot be
 * recognized.
 */
function elsewhere({ host, scope, project, file, base, written }: Recorded): FilePlan {
  const there = readSettings(file);
  const plan = { host, scope, project, file, what: [], before: there.text, base: base ?? undefined };
  if (there.text === undefined || !written.includes(digest(there.text))) {
    const problem =
      there.text === undefined ? there.problem : `${file} has changed since the installation; remove Earpiece's entries by hand`;
    return { ...plan, after: there.text, ...defined({ problem }) };
  }
  return { ...plan, after: base ?? undefined, ...stuck(file) };
}

function without(setup: Setup, place: Place, file: string, parts: readonly Part[], book: InstallBook): FilePlan {
  const record = book.get(file);
  const plan = planned(setup, place, file, parts);
  const there = readSettings(file);
  if (there.problem !== undefined)
    return { ...plan, before: undefined, after: undefined, base: undefined, problem: there.problem };
  const { text: before } = there;
  const base = record?.base ?? undefined;
  const unknown = book.trouble(file);
  if (unknown !== undefined) return { ...plan, before, after: before, base, problem: unknown };
  if (before === undefined) return { ...plan, before, after: before, base };
  if (record?.written.includes(digest(before))) return { ...plan, before, after: base, base, ...stuck(file) };
  const removed = all(parts.toReversed(), before, (part, text) => part.remove(text, base));
  if (removed.kind === 'problem')
    return { ...plan, before, after: before, base, problem: formatProblem(removed.problem), hasEntries: true };
  // If only Earpiece needed the file, the file is removed.
  const left = removed.text.replace(/^\ufeff/u, '').trim();
  const isEmptied = record?.base === null && before === '';
  const gone =
    (removed.text !== before || isEmptied) && (left === '' ? record?.base == null : left === '{}' && record?.base === null);
  const after = gone ? undefined : removed.text;
  return { ...plan, before, after, base, ...(after === before ? {} : stuck(file)) };
}

const stuck = (file: string): { readonly problem?: string } => {
  const problem = hindrance(file);
  return problem === undefined ? {} : { problem };
};

function all(parts: readonly Part[], text: string, change: (part: Part, text: string) => Edited): Edited {
  let edited: Edited = { kind: 'text', text };
  for (const part of parts) if (edited.kind === 'text') edited = change(part, edited.text);
  return edited;
}

function byFile(parts: readonly Part[]): ReadonlyMap<string, readonly Part[]> {
  return Map.groupBy(parts, ({ file }) => file);
}

/** Returns the reason why a file cannot be replaced. Called before any file is changed. */
function hindrance(file: string): string | undefined {
  try {
    const target = existsSync(file) ? realpathSync(file) : file;
    const mode = statSync(target, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined && (mode & 0o222) === 0)
      return `${file} is read-only; make the file writable (chmod u+w), or change the source from which it is generated, then run the command again`;
    let folder = dirname(target);
    while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return `${file} cannot be changed (${code ?? message}); make the folder writable, then run the command again`;
  }
}
