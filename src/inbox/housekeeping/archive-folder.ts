/** The folders of an archive: one for each database, in it one for each project, and in it one for each agent. */
import { createHash } from 'node:crypto';
import { open, readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { splitLog, type LogKey } from '../../core/address.ts';
import type { Store } from '../../core/ports.ts';
import { makeFolders } from '../../input/folders.ts';

/** Returns the folder of this database in `root`. Two databases may have the same `root`, which is the setting `archive`. */
export async function folderOf(store: Pick<Store, 'secret'>, root: string): Promise<string> {
  return join(root, hash(`archive ${await store.secret()}`).slice(0, 8));
}

export function placeOf(folder: string, log: LogKey): string {
  const { project, agent } = splitLog(log);
  return join(folder, safeName(project), safeName(agent));
}

/**
 * Removes the files of one agent. Returns the folder and the number of removed files. The folder of another database or of
 * another `archive` stays.
 */
export async function removeArchived(store: Store, root: string, log: LogKey): Promise<{ folder: string; files: number }> {
  const folder = placeOf(await folderOf(store, root), log);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  await rm(folder, { recursive: true, force: true });
  return { folder, files: names.length };
}

/** Makes a folder that only the user can open. A new folder survives a power cut. */
export async function madeFolder(folder: string): Promise<void> {
  const made = makeFolders(folder);
  if (made === undefined) return;
  for (let at = folder; at.length >= made.length; at = dirname(at)) await synced(dirname(at));
}

/** Syncs the names in a folder to the disk. */
export async function synced(folder: string): Promise<void> {
  await using handle = await open(folder, 'r');
  await handle.sync();
}

/**
 * Makes a file name that differs for each name of a project or an agent. A name may be `..`, too long for a file system, or equal
 * to another name except for case. The file name of such a name has its harmless characters and a hash.
 */
function safeName(name: string): string {
  if (/^[a-z0-9][a-z0-9._-]{0,99}$/u.test(name)) return name;
  const start = name.replaceAll(/[^A-Za-z0-9_-]+/gu, '-').replace(/^-+/u, '');
  return `${start.slice(0, 60)}~${hash(name).slice(0, 16)}`;
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');
