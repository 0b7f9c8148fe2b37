/** `earpiece uninstall --purge`: also removes the database, the configuration of the user and the caches. */
import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { cacheFolder, loadConfig, stateFolder, userConfigFile } from '../../config/index.ts';
import { fileOf } from '../../stores/open.ts';
import { EXIT } from '../exit.ts';
import { complain, paint, plain, print, printJson } from '../terminal.ts';
import { agreed, isTerminal } from './ask.ts';
import type { SetupOptions } from './carry-out.ts';
import { runUninstall } from './install.ts';

type Going = { readonly what: string; readonly path: string; readonly bytes: number };

/** Resolves with the exit code. */
export async function runPurge(options: SetupOptions): Promise<number> {
  const going = whatGoes(options);
  const json = options.json === true;
  if (!json) {
    print('This removes the entries of Earpiece from the settings of every coding agent, and these files:\n');
    for (const { what, path, bytes } of going) print(`  ${plain(path)}  ${paint('dim', `${what}, ${kilobytes(bytes)}`)}`);
    if (going.length === 0) print('  none');
    print(`\n${STAYS}\n`);
  }
  if (options.yes !== true) {
    if (json || !isTerminal()) {
      complain('nothing is removed: without a terminal nobody can be asked; to remove it, add --yes');
      return EXIT.usage.code;
    }
    if (!(await agreed('It cannot be undone. Remove all of this? [y/N] '))) {
      print('nothing is removed');
      return EXIT.ok.code;
    }
  }
  // The records of the installation lie in the state folder, so its files come back first.
  const code = await runUninstall([], { ...options, all: true, yes: true });
  if (code !== EXIT.ok.code) {
    complain('the files stay, because the entries of some agent could not be taken out; fix that and try again');
    return code;
  }
  for (const { what, path, bytes } of going) {
    rmSync(path, { recursive: true, force: true });
    if (json) printJson({ what, path, bytes });
  }
  if (!json) print(`${paint('green', '✓')} nothing of Earpiece is left but its package; npm uninstall -g earpiece removes that`);
  return EXIT.ok.code;
}

const STAYS =
  'earpiece.toml and .earpiece/ of your projects stay: they belong to the projects. So do backups that you made. End gateways, ' +
  'servers and agents first: one that runs on makes its files again.';

function whatGoes(options: SetupOptions): readonly Going[] {
  const at = { env: process.env };
  const folders: readonly (readonly [string, string])[] = [
    ['database, records of installations', stateFolder(at)],
    ['configuration and subscribers of the user', dirname(userConfigFile(at))],
    ['cache', cacheFolder(at)],
  ];
  const { db } = options as { readonly db?: string };
  const file = fileOf(loadConfig({ cwd: process.cwd(), env: process.env, ...(db === undefined ? {} : { flags: { db } }) }).db);
  const elsewhere = file === undefined || folders.some(([, folder]) => file.startsWith(folder + sep)) ? [] : ['', '-wal', '-shm'];
  return [...folders, ...elsewhere.map((end) => ['database', `${file}${end}`] as const)].flatMap(([what, path]) => {
    const bytes = bytesOf(path);
    return bytes === undefined ? [] : [{ what, path, bytes }];
  });
}

/** Undefined where there is nothing. A link is counted and removed, not what it leads to. */
function bytesOf(path: string): number | undefined {
  try {
    const stat = lstatSync(path);
    if (!stat.isDirectory()) return stat.size;
    return readdirSync(path).reduce((sum, name) => sum + (bytesOf(join(path, name)) ?? 0), 0);
  } catch {
    return undefined;
  }
}

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1_024)} kB`;
