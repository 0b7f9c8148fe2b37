/** Reads files that programs name in their output. Such a path may lead to a pipe or a device, so no read may wait. */
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';

/** The maximum size of a file that is read, in bytes. */
const MAX_BYTES = 2_000_000;

/**
 * Returns the text of a regular file; undefined if the file does not exist, cannot be read, or is larger than 2 MB. Files of
 * `/proc` have the size 0, so this function reads nothing from such a file. Reading some of these files would never end.
 */
export function textOf(path: string): string | undefined {
  let file: number | undefined;
  try {
    if (!statSync(path).isFile()) return undefined;
    // Another program may put a pipe at this path now. With this flag, opening a pipe does not wait for its writer.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = fstatSync(file);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    const bytes = Buffer.alloc(stats.size);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
