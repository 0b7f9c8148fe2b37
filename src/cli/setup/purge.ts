/** `earpiece uninstall --purge`: also removes the database, the configuration of the user and the caches. */
import { existsSync, lstatSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { cacheFolder, loadConfig, stateFolder, userConfigFile } from '../../config/index.ts';
import { fileOf, partsOf, redacted } from '../../stores/open.ts';
import { isEarpieceFile } from '../../stores/sqlite/header.ts';
import { quote } from '../../hosts/setup/ours.ts';
import { EXIT } from '../exit.ts';
import { isCached } from '../../input/add-package.ts';
import { complain, paint, plain, print, printJson } from '../terminal.ts';
import { agreed, isTerminal, nobodyToAsk } from './ask.ts';
import type { SetupOptions } from './carry-out.ts';
import { placeHere } from './here.ts';
import { runUninstall } from './install.ts';

type Going = { readonly what: string; readonly path: string; readonly bytes: number };
type Purge = { readonly going: readonly Going[]; readonly stays: readonly string[] };

/** Shows the entries and files to remove, asks once, and removes them. Resolves with the exit code. */
export async function runPurge(options: SetupOptions): Promise<number> {
  const { going, stays } = whatGoes(options);
  const json = options.json === true;
  if (!json) {
    print('The command removes the entries of Earpiece from the settings of every coding agent, and these files:\n');
    for (const { what, path, bytes } of going) print(`  ${plain(path)}  ${paint('dim', `${what}, ${kilobytes(bytes)}`)}`);
    if (going.length === 0) print('  none');
    for (const line of stays) print(`\n${plain(line)}`);
    print(`\n${STAYS}\n`);
  }
  if (options.yes !== true) {
    if (json || !isTerminal()) {
      complain(nobodyToAsk('nothing was removed', 'remove Earpiece'));
      return EXIT.usage.code;
    }
    if (!(await agreed('The command cannot be undone. Remove all of this? [y/N] '))) {
      print('nothing was removed');
      return EXIT.ok.code;
    }
  }
  // The state folder contains the records of the installation, so the agents' files are restored first.
  const code = await runUninstall([], { ...options, all: true, yes: true });
  if (code !== EXIT.ok.code) {
    complain('the entries of at least one agent could not be removed, so the files stay; fix that problem and try again');
    return code;
  }
  for (const { what, path, bytes } of going) {
    const parents = madeWith(path);
    // Only a folder that is named `earpiece` is removed with its content.
    rmSync(path, { recursive: isOwnFolder(path), force: true });
    parents.every(removedEmpty);
    if (json) printJson({ what, path, bytes });
  }
  for (const line of json ? stays : []) printJson({ stays: line });
  if (!json)
    print(
      `${paint('green', '✓')} ${stays.length > 0 ? 'the data that is named above stays' : 'only the package of Earpiece is left'}; ${packageLeft(realpathSync(process.argv[1] ?? import.meta.filename))}`,
    );
  return EXIT.ok.code;
}

/** The maximum time between the creations of two folders that count as made together, in ms. */
const TOGETHER_MS = 1_000;

/** Returns the parent folders that were made together with this folder, the innermost first. All of them are inside the home. */
function madeWith(path: string): readonly string[] {
  const made: string[] = [];
  const { home } = placeHere('user');
  try {
    const { birthtimeMs: born } = lstatSync(path);
    for (let at = dirname(path); at.startsWith(home + sep); at = dirname(at)) {
      if (born - lstatSync(at).birthtimeMs > TOGETHER_MS) break;
      made.push(at);
    }
  } catch {
    // The path does not exist.
  }
  return made;
}

/** Removes a folder if it is empty. Returns whether the folder was removed. */
function removedEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

/** Says how to remove the package to which this entry file belongs. */
function packageLeft(entry: string): string {
  const [folder = ''] = entry.split(`${sep}node_modules${sep}`);
  if (isCached(entry)) return `the package stays in the cache of its package manager: ${folder}`;
  if (folder === entry) return `to remove the program, remove its clone, which contains ${entry}`;
  return existsSync(join(folder, 'package.json'))
    ? `to remove the package from ${folder}: npm --prefix ${quote(folder)} uninstall earpiece`
    : 'to remove the package: npm uninstall -g earpiece';
}

const STAYS =
  'earpiece.toml and .earpiece/ of your projects stay, because they belong to the projects. Backups in other folders, and databases that ' +
  'other configurations name, stay too. End gateways, ' +
  'servers and agents first: a process that continues creates its files again.';

function whatGoes(options: SetupOptions): Purge {
  const at = { env: process.env };
  const places: readonly (readonly [string, string])[] = [
    ['database, records of installations', stateFolder(at)],
    ['configuration and subscribers of the user', dirname(userConfigFile(at))],
    ['cache', cacheFolder(at)],
  ];
  const folders = places.filter(([, folder]) => isOwnFolder(folder));
  const { db } = options as { readonly db?: string };
  const config = loadConfig({ cwd: process.cwd(), env: process.env, ...(db === undefined ? {} : { flags: { db } }) });
  const file = fileOf(config.db);
  const isElsewhere =
    file !== undefined && bytesOf(file) !== undefined && !folders.some(([, folder]) => file.startsWith(folder + sep));
  const isOurs = isElsewhere && isEarpieceFile(file);
  const stays = [
    ...(isElsewhere && !isOurs
      ? [`${file} stays, because it is not a database of Earpiece. If you do not need this file, remove the file yourself.`]
      : []),
    ...serverStays(config.db),
    ...archiveStays(
      config.archive,
      folders.map(([, folder]) => folder),
    ),
    ...[...folders.map(([, folder]) => folder), ...(isOurs ? [file] : [])].flatMap(linksIn).map(staysBehind),
  ];
  const companions = isOurs ? ['', '-wal', '-shm'].map((end) => ['database', `${file}${end}`] as const) : [];
  const going = [...folders, ...companions].flatMap(([what, path]) => {
    const bytes = bytesOf(path);
    return bytes === undefined ? [] : [{ what, path, bytes }];
  });
  return { going, stays };
}

/** Whether only Earpiece uses the folder, judged by its name. */
const isOwnFolder = (path: string): boolean => basename(path) === 'earpiece';

/**
 * Returns the size of the files at a path, in bytes; undefined if nothing exists there. For a link, returns the size of the link
 * and not the size of its target.
 */
function bytesOf(path: string): number | undefined {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory()) return stat.size;
    return readdirSync(path).reduce((sum, name) => sum + (bytesOf(join(path, name)) ?? 0), 0);
  } catch {
    return undefined;
  }
}

/** Names the database on a server. The data stays, because other users may share the database. */
function serverStays(db: string): readonly string[] {
  if (fileOf(db) !== undefined || partsOf(db).scheme === 'memory') return [];
  return [
    `The data in ${redacted(db)} stays, because other users may share this database. To erase one agent: earpiece forget <agent>. To erase everything, remove the database on the server.`,
  ];
}

/** Names the archive outside of the removed folders. The archive stays, because its purpose is to outlive the database. */
function archiveStays(archive: string | undefined, folders: readonly string[]): readonly string[] {
  if (archive === undefined || bytesOf(archive) === undefined) return [];
  if (folders.some((folder) => `${archive}${sep}`.startsWith(folder + sep))) return [];
  return [
    `${archive} stays, because it is the archive of removed records. If you do not need the archive, run: rm -r ${quote(archive)}`,
  ];
}

/** Finds the links at a path and below it. */
function linksIn(path: string): readonly string[] {
  try {
    const stat = lstatSync(path);
    if (stat.isSymbolicLink()) return [path];
    return stat.isDirectory() ? readdirSync(path).flatMap((name) => linksIn(join(path, name))) : [];
  } catch {
    return [];
  }
}

/** Names the target of a link. The target stays, because only the user knows what else it contains. */
function staysBehind(link: string): string {
  try {
    const target = realpathSync(link);
    return `${link} is a link: the link is removed, and ${target} stays with its content. If only Earpiece uses that folder, run: rm -r ${quote(target)}`;
  } catch {
    return `${link} is a link without a target: the link is removed.`;
  }
}

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1_024)} kB`;
