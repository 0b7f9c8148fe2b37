/**
 * Writes planned changes. Each file is written whole or not at all. An installation records each change before the write, so that
 * uninstall can undo the change.
 */
import { existsSync, readFileSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { replaceFile, targetOf } from '../../config/replace.ts';
import { EarpieceError } from '../../core/errors.ts';
import { changes, type FilePlan } from './plan.ts';
import { digest, MAX_BYTES, type InstallBook } from './record.ts';

/**
 * How long a write may wait for another process. The wait is longer than the 10 s after which the draft of a killed process
 * counts as abandoned.
 */
const WITHIN_MS = 12_000;

/**
 * Writes the planned change of a settings file, and records the earlier content. Throws `conflict` if another program has changed
 * the file since it was planned.
 */
export async function install(plan: FilePlan, book: InstallBook): Promise<void> {
  const { host, scope, project, file, before, after } = plan;
  if (after === undefined || !changes(plan)) return;
  const known = book.get(file);
  // If the file is as the installation wrote it, the recorded earlier content stays valid.
  const same = known !== undefined && before !== undefined && known.written.includes(digest(before));
  book.put({
    host,
    scope,
    project,
    file,
    base: same ? known.base : (plan.base ?? null),
    written: [...(same ? known.written : []), digest(after)],
    folders: [...(known?.folders ?? []), ...missingFolders(dirname(targetOf(file)))],
  });
  await write(plan, after);
}

/**
 * Removes Earpiece's entries or the whole file, as planned, then the empty folders that Earpiece made, and the record. Throws
 * like `install`.
 */
export async function uninstall(plan: FilePlan, book: InstallBook): Promise<void> {
  const { file, before, after } = plan;
  const known = book.get(file);
  if (changes(plan)) {
    if (after === undefined) remove(file, before ?? '');
    else await write(plan, after);
  }
  const left = (known?.folders ?? []).toReversed().filter((folder) => !removeEmpty(folder));
  book.drop(file, { keep: plan.unrestored !== undefined });
  for (const each of plan.forgets ?? []) book.drop(each);
  for (const folder of left) passOn(folder, book);
}

/**
 * Adds the folder to the record of another installed file inside this folder. The uninstall of that file then removes the folder.
 */
function passOn(folder: string, book: InstallBook): void {
  const heir = book.list().find(({ file }) => [file, targetOf(file)].some((path) => path.startsWith(`${folder}${sep}`)));
  if (heir === undefined || heir.folders.includes(folder)) return;
  book.put({ ...heir, folders: [...heir.folders, folder].toSorted((a, b) => a.length - b.length) });
}

const write = async ({ file, before, scope, isPrivate = scope === 'user' }: FilePlan, after: string): Promise<void> =>
  void (await replaceFile(
    file,
    (text) => {
      if (text !== (before ?? '')) throw changedMeanwhile(file);
      return after;
    },
    { mode: isPrivate ? 0o600 : 0o644, withinMs: WITHIN_MS, maxBytes: MAX_BYTES },
  ));

function remove(file: string, before: string): void {
  if (readFileSync(file, 'utf8') !== before) throw changedMeanwhile(file);
  // If a person replaced the file by a link, the link stays, and its target is removed.
  rmSync(realpathSync(file));
}

const changedMeanwhile = (file: string): EarpieceError =>
  new EarpieceError(
    'conflict',
    `${file} was saved by another program at the same moment; Earpiece changed nothing in this file; run the command again`,
    {
      retryable: true,
    },
  );

function missingFolders(folder: string): readonly string[] {
  return existsSync(folder) || dirname(folder) === folder ? [] : [...missingFolders(dirname(folder)), folder];
}

/** Removes a folder. Returns false if the folder still exists, for example because it is not empty. */
function removeEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}
