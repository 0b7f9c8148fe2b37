import { accessSync, chmodSync, constants, openSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname } from 'node:path';
import { EarpieceError } from '../../core/errors.ts';
import { keepPrivate, makeFolders } from '../../input/index.ts';
import { setAside } from './files.ts';
import { closeRaw } from './raw-file.ts';
import { type FileSystem, fileSystemOf, networkName } from './filesystem.ts';
import { APPLICATION_ID, MAJOR } from './migrations.ts';

/**
 * The oldest supported SQLite. In older versions, several processes can corrupt a shared WAL file (the WAL-reset bug of 3.7.0 to
 * 3.51.2).
 */
export const OLDEST_SQLITE = '3.51.3';

export function checkSqlite(version: string): void {
  const [have, need] = [version, OLDEST_SQLITE].map((text) => text.split('.').map(Number)) as [number[], number[]];
  for (const [i, wanted] of need.entries()) {
    const part = have[i] ?? 0;
    if (part > wanted) return;
    if (part < wanted)
      throw refusal(
        `this Node (${process.version}) bundles SQLite ${version}, in which several processes can damage one database: ${OLDEST_SQLITE} or newer is needed; use the newest Node 24`,
      );
  }
}

/**
 * Makes a missing file and folder that only this user can access. If the file exists and belongs to this user, removes all
 * permissions of others (users who are neither its owner nor in its group). Throws if the path is unusable. Returns the new paths
 * of files that `setAside` renamed.
 */
export function prepareFile(path: string, probe: (path: string) => FileSystem = fileSystemOf): readonly string[] {
  const folder = dirname(path);
  try {
    makeFolders(folder);
    // Only a folder with Earpiece's name is made private, because another folder may be shared on purpose.
    if (basename(folder) === 'earpiece') keepPrivate(folder);
  } catch (error) {
    throw denied(error, folder, 'make the folder');
  }
  const file = statOf(path);
  if (file?.isDirectory())
    throw refusal(`${path} is a folder, not a database: name a file in that folder, e.g. ${path}/earpiece.db`, path);
  if (file !== undefined && !file.isFile())
    throw refusal(`${path} is not a regular file: name another file with --db or EARPIECE_DB`, path);
  const fs = probe(file === undefined ? folder : path);
  const network = networkName(fs);
  if (network !== undefined)
    throw refusal(
      `${path} is on ${network}${fs.mountedAt === undefined ? '' : ` (mounted at ${fs.mountedAt})`}, a network file system where SQLite's locks do not work: name a file on a local disk with --db or EARPIECE_DB`,
      path,
    );
  try {
    const aside = file === undefined ? setAside(path) : [];
    if (file === undefined) closeRaw(openSync(path, 'a+', 0o600));
    else if ((Number(file.mode) & 0o007) !== 0 && file.uid === process.getuid?.()) chmodSync(path, Number(file.mode) & 0o770);
    accessSync(path, constants.R_OK | constants.W_OK);
    // SQLite creates and deletes the -wal and -shm files in that folder.
    accessSync(folder, constants.W_OK | constants.X_OK);
    return aside;
  } catch (error) {
    throw denied(error, path, 'read and write');
  }
}

/**
 * Checks the header of an opened file. Accepts an empty file and an Earpiece database. Throws `store_refused` for the database of
 * another program, or of a newer major version.
 */
export function checkHeader(
  path: string,
  header: { readonly applicationId: number; readonly version: number; readonly empty: boolean },
): void {
  if (header.applicationId === 0 && header.empty) return;
  if (header.applicationId !== APPLICATION_ID)
    throw refusal(`${path} is the SQLite database of another program: name another file with --db or EARPIECE_DB`, path);
  const major = Math.floor(header.version / 1000);
  if (major > MAJOR)
    throw refusal(
      `${path} was written by a newer version of Earpiece (schema ${major}; this version knows schema ${MAJOR}). Update Earpiece on this machine, or name another file with --db or EARPIECE_DB`,
      path,
    );
}

function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw denied(error, path, 'read');
  }
}

function denied(error: unknown, path: string, what: string): EarpieceError {
  const { code = 'error' } = error as NodeJS.ErrnoException;
  const why: Record<string, string> = {
    EACCES: 'permission denied',
    EPERM: 'permission denied',
    EROFS: 'the file system is read-only',
    ENOTDIR: 'a part of the path is a file',
    EEXIST: 'a part of the path is a file',
    ENOENT: 'no file can be created at this path',
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is exceeded',
    ENAMETOOLONG: 'the path is too long',
    ELOOP: 'the symbolic links in the path form a loop',
  };
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  return new EarpieceError(
    full ? 'store_full' : 'store_refused',
    `cannot ${what} ${path} as user ${userName()}: ${why[code] ?? code} (${code}); ${full ? 'free some space' : 'solve this problem'}, or name another file with --db or EARPIECE_DB`,
    { cause: error, data: { path }, retryable: full },
  );
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Returns the error with `option` in place of `--db`, for a command that has another option for its file. */
export function namedBy(error: unknown, option: string): unknown {
  if (!(error instanceof EarpieceError)) return error;
  const { code, message, data, cause, retryable } = error;
  return new EarpieceError(code, message.replace('with --db or EARPIECE_DB', `with ${option}`), { data, cause, retryable });
}

const refusal = (message: string, path?: string): EarpieceError =>
  new EarpieceError('store_refused', message, path === undefined ? {} : { data: { path } });
