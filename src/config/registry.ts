/**
 * Stores the project name of each root. A name belongs to the first root that claimed the name. Another root with the same name
 * gets a longer name. Entries of versions before 0.1.0 have no root: their root is found from their folder.
 */
import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { nameFrom } from '../core/address.ts';
import { projectPlace, stateFolder, type Surroundings } from './places.ts';
import { isFolder, rootOf } from './repository.ts';
import { lock } from './lock.ts';
import { readState, writeState } from './state-file.ts';

export const projectsFile = (at: Surroundings): string => join(stateFolder(at), 'projects.json');

/** An entry: the name of a project, the folder of its configuration, and its root. */
export type Entry = readonly [project: string, folder: string, root?: string];

type Place = { readonly folder: string; readonly root: string };

export type Holder = { readonly folder: string; /** Whether the folder no longer exists. */ readonly gone: boolean };

type Projects = { readonly version: 1; readonly projects: readonly Entry[] };

const isProjects = (value: unknown): value is Projects =>
  typeof value === 'object' &&
  value !== null &&
  'projects' in value &&
  Array.isArray(value.projects) &&
  value.projects.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string');

/** The maximum number of removed folders that keep their names. If there are more, the oldest folders are forgotten. */
const MAX_GONE = 500;

export const readEntries = (at: Surroundings): readonly Entry[] => readState(projectsFile(at), isProjects)?.projects ?? [];

const rootIn = ([, folder, root]: Entry): string =>
  typeof root === 'string' ? root : isFolder(folder) ? rootOf(projectPlace(folder).root) : folder;

/** Adds the root to each entry, so that each root is looked up only once. */
export const withRoots = (entries: readonly Entry[]): readonly Entry[] =>
  entries.map((entry) => [entry[0], entry[1], rootIn(entry)]);

const isGone = (entry: Entry): boolean => !isFolder(rootIn(entry));

const firstOf = (entries: readonly Entry[], name: string): Entry | undefined => entries.find(([other]) => other === name);

/** Finds another root that has the name; returns undefined if no other root has the name. */
export function holderOf(entries: readonly Entry[], name: string, root: string): Holder | undefined {
  const first = firstOf(entries, name);
  return first === undefined || rootIn(first) === root ? undefined : { folder: rootIn(first), gone: isGone(first) };
}

/** Finds the folder of a project's configuration. If that folder is gone, returns the project's root, if it exists. */
export function folderOf(entries: readonly Entry[], name: string): string | undefined {
  const first = firstOf(entries, name);
  return first && [first[1], rootIn(first)].find((folder) => isFolder(folder));
}

/**
 * Makes the name of a root whose configuration sets no name. The result is the name of the root's folder, or a longer name if
 * another root has that name.
 */
export function ownName(entries: readonly Entry[], root: string): string {
  const short = shortName(root);
  const plain = [short, nameFrom(`${basename(dirname(root))}-${short}`)];
  const isFree = (name: string): boolean => firstOf(entries, name) === undefined;
  const isMine = (name: string): boolean => {
    const first = firstOf(entries, name);
    return first !== undefined && rootIn(first) === root;
  };
  const hasAnother = entries.some((entry) => !plain.includes(entry[0]) && rootIn(entry) === root);
  const found = plain.find(isMine) ?? (hasAnother ? undefined : plain.find(isFree));
  if (found !== undefined) return found;
  const hash = createHash('sha256').update(root).digest('hex').slice(0, 6);
  const hashed = nameFrom(`${short.slice(0, 100)}-${hash}`);
  return isMine(hashed) ? hashed : ([...plain, hashed].find(isFree) ?? short);
}

/** Makes a name from the name of a folder. The folder of a bare repository ends in `.git`, which is left out. */
export const shortName = (root: string): string => nameFrom(basename(root).replace(/(?<=.)\.git$/, ''));

/**
 * Records that the root has the name, unless another root has the name. `folder` contains the configuration. Returns true if the
 * record is new. Throws `bad_config` if the file cannot be written.
 */
export function claimName(at: Surroundings, name: string, { folder, root }: Place): boolean {
  const isKnown = (entries: readonly Entry[]): boolean => {
    const first = firstOf(entries, name);
    return first !== undefined && (rootIn(first) !== root || isFolder(first[1]));
  };
  if (isKnown(readEntries(at))) return false;
  return changeEntries(at, (entries) =>
    isKnown(entries) ? entries : [...entries.filter((entry) => entry[0] !== name), [name, folder, root]],
  );
}

/** Gives the name to this root, even if another root had the name. The caller must know that the root has moved. */
export function takeName(at: Surroundings, name: string, { folder, root }: Place): void {
  // The newest entry is the last, because `changeEntries` forgets the first entries of removed folders.
  changeEntries(at, (entries) => [...entries.filter((entry) => entry[0] !== name), [name, folder, root]]);
}

function changeEntries(at: Surroundings, change: (entries: readonly Entry[]) => readonly Entry[]): boolean {
  const file = projectsFile(at);
  const letGo = lock(file);
  try {
    const before = readEntries(at);
    const after = change(before);
    if (after === before) return false;
    const gone = after.filter(isGone);
    const forgotten = new Set(gone.slice(0, Math.max(0, gone.length - MAX_GONE)));
    writeState(file, { version: 1, projects: after.filter((entry) => !forgotten.has(entry)) } satisfies Projects);
    return true;
  } finally {
    letGo();
  }
}
