/** Reads a file's current content as a hash. */
import { hash, createHash } from 'node:crypto';
import { constants, open, stat, type FileHandle } from 'node:fs/promises';

/**
 * The hash of a file's content: `sha256:` and 64 hexadecimal digits. A file above 16 MiB is not read, because reading it at each
 * change would take too long. Its hash is `stat:` with its size and time, so a `touch` counts as a change.
 */
export type Hash = `sha256:${string}` | `stat:${string}`;

export const isHash = (text: string): text is Hash => /^(sha256:[0-9a-f]{64}|stat:\d+:[\d.]+)$/.test(text);

/**
 * `gone`: the path does not exist, or is a folder. `unclear`: the path is another kind of file, such as a pipe, or cannot be
 * read.
 */
export type Look =
  | { readonly kind: 'file'; readonly hash: Hash; readonly state: string; readonly empty: boolean; readonly moving: boolean }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unclear'; readonly why?: string };

export const HASHED_BYTES = 16 * 1_048_576;
const CHUNK = 1_048_576;

export const hashOf = (content: string | Uint8Array): Hash => `sha256:${hash('sha256', content, 'hex')}`;

/** Returns a text that changes with almost every write to a file, without reading the file. */
export const stateOf = (stats: { readonly size: number; readonly mtimeMs: number }): string => `${stats.size}:${stats.mtimeMs}`;

/** Reads a file's content, and never rejects. `moving` says that another program wrote to the file during the read. */
export async function look(path: string): Promise<Look> {
  let handle: FileHandle | undefined;
  try {
    // The type is checked first, because opening a pipe waits for its other side, and opening a device may have side effects.
    const before = await stat(path);
    if (before.isDirectory()) return { kind: 'gone' };
    if (!before.isFile()) return { kind: 'unclear' };
    const empty = before.size === 0;
    if (before.size > HASHED_BYTES)
      return { kind: 'file', hash: `stat:${stateOf(before)}`, state: stateOf(before), empty, moving: false };
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const content = await hashed(handle, before.size);
    const after = await handle.stat();
    return { kind: 'file', hash: content, state: stateOf(after), empty, moving: stateOf(after) !== stateOf(before) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'gone' } : { kind: 'unclear', why: code ?? message };
  } finally {
    // If the close fails, the read has still succeeded.
    await handle?.close().catch(() => {});
  }
}

/** Hashes a file in pieces, so that a large file does not block other work. A short read means the end of a regular file. */
async function hashed(handle: FileHandle, size: number): Promise<Hash> {
  const buffer = Buffer.allocUnsafe(Math.min(size + 1, CHUNK));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length);
  if (bytesRead < buffer.length) return hashOf(buffer.subarray(0, bytesRead));
  const sum = createHash('sha256').update(buffer);
  for (let left = HASHED_BYTES; left > 0; left -= CHUNK) {
    const { bytesRead: more } = await handle.read(buffer, 0, buffer.length);
    if (more === 0) break;
    sum.update(buffer.subarray(0, more));
  }
  return `sha256:${sum.digest('hex')}`;
}
