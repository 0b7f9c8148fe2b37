/**
 * Reads files that other people wrote, but only regular files, and only up to a size. A device, a pipe or a huge file could fill
 * the memory.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Reads a file. Follows links. Throws the error of `openSync`, or an error whose `code` names the problem: `EISDIR`, `not a
 * regular file`, or `202 MB, but the maximum is 1 MB`.
 */
export function readLimited(path: string, maxBytes: number): Buffer {
  // The file is opened non-blocking, because opening a pipe without a writer would never return.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (stat.isDirectory()) throw refusal(path, 'EISDIR');
    if (!stat.isFile()) throw refusal(path, 'not a regular file');
    if (stat.size > maxBytes) throw refusal(path, tooLarge(stat.size, maxBytes));
    // The size from `fstat` is not reliable: a file of /proc has size 0, and any file may grow during the read.
    const parts: Buffer[] = [];
    for (let total = 0; ;) {
      const part = Buffer.allocUnsafe(Math.min(65_536, maxBytes + 1 - total));
      const length = readSync(file, part);
      if (length === 0) return Buffer.concat(parts);
      parts.push(part.subarray(0, length));
      total += length;
      if (total > maxBytes) throw refusal(path, tooLarge(total, maxBytes));
    }
  } finally {
    closeSync(file);
  }
}

const tooLarge = (bytes: number, max: number): string => `${megabytes(bytes)}, but the maximum is ${megabytes(max)}`;
const megabytes = (bytes: number): string => `${(bytes / 1_048_576).toFixed(bytes % 1_048_576 === 0 ? 0 : 1)} MB`;

const refusal = (path: string, code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: ${path}`), { code, path });
