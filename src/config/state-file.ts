/**
 * Reads and writes small JSON files in the state folder. Only the owner can read the files. A failed write leaves the old file
 * unchanged.
 */
import { accessSync, chmodSync, constants, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { EarpieceError } from '../core/errors.ts';
import { keepPrivate, makeFolders, readLimited } from '../input/index.ts';

const MAX_BYTES = 16 * 1_048_576;

/**
 * Reads a JSON file of the state folder. Returns undefined if the file does not exist, cannot be read or is not JSON, or if `is`
 * rejects its content. The next write replaces such a file.
 */
export function readState<T>(file: string, is: (value: unknown) => value is T): T | undefined {
  let text: string;
  try {
    text = readLimited(file, MAX_BYTES).toString('utf8');
  } catch {
    return undefined;
  }
  try {
    const value: unknown = JSON.parse(text);
    return is(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;

/**
 * Returns the error code if a file of the state folder cannot be read. Returns undefined if the file is readable or does not
 * exist.
 */
export function unreadable(file: string, maxBytes = MAX_BYTES): string | undefined {
  try {
    readLimited(file, maxBytes);
    return undefined;
  } catch (cause) {
    return codeOf(cause) === 'ENOENT' ? undefined : codeOf(cause);
  }
}

/**
 * Returns the error code if a folder of Earpiece is not usable. Returns undefined if the folder is usable or does not exist yet.
 */
export function unusable(folder: string): string | undefined {
  try {
    readdirSync(folder);
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (cause) {
    return codeOf(cause) === 'ENOENT' ? undefined : codeOf(cause);
  }
}

/**
 * Writes a JSON file of the state folder, so that a reader never sees a half-written file. Throws `bad_config` if the file cannot
 * be written.
 */
export function writeState(file: string, value: unknown): void {
  const folder = dirname(file);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  try {
    makeFolders(folder);
    keepPrivate(folder);
    writeFileSync(draft, `${JSON.stringify(value, undefined, 2)}\n`, { mode: 0o600, flush: true });
    chmodSync(draft, 0o600);
    renameSync(draft, file);
  } catch (cause) {
    discard(draft);
    throw new EarpieceError(
      'bad_config',
      `${file} cannot be written (${codeOf(cause)}); make ${folder} writable or set XDG_STATE_HOME`,
      {
        cause,
      },
    );
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true });
  } catch {
    // The draft was never created.
  }
}
