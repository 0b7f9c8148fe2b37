/** The event that an agent writes to its hook's stdin: read once a process, whoever asks first. */

/** Asked for, not imported: an import brings streams and promises with it, for which each hook call would pay. */
const { fstatSync, readSync } = process.getBuiltinModule('node:fs');

export type HookInput = Readonly<Record<string, unknown>>;

/** What was read by now, and whether more may come. */
type Read = { readonly bytes: Buffer; readonly ended: boolean };

const CHUNK = 64 * 1024;
/** A larger input (a batch of large results) is left to the reader that has a limit. */
const MAX_AT_ONCE = 4 * 1024 * 1024;
const CLOSING = '}'.charCodeAt(0);

let read: Read = { bytes: Buffer.alloc(0), ended: false };

/** The input, read without an event loop; undefined where it cannot be had whole like that. */
export function inputAtOnce(): HookInput | undefined {
  const about = fstatSync(0);
  if (!about.isFIFO() && !about.isSocket() && !about.isFile()) return undefined;
  const chunks = [read.bytes];
  let size = read.bytes.length;
  try {
    while (size < MAX_AT_ONCE) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const n = readSync(0, chunk);
      if (n === 0) {
        read = { bytes: Buffer.concat(chunks), ended: true };
        return parsed(read.bytes);
      }
      size += n;
      chunks.push(chunk.subarray(0, n));
      // A host that leaves the pipe open has said all when the object is whole.
      if (mayBeWhole(chunk.subarray(0, n))) {
        read = { bytes: Buffer.concat(chunks), ended: false };
        const whole = parsed(read.bytes);
        if (whole !== undefined) return whole;
        chunks.splice(0, chunks.length, read.bytes);
      }
    }
  } catch {
    // A pipe that does not block and has nothing yet: the event loop can wait for it.
  }
  read = { bytes: Buffer.concat(chunks), ended: false };
  return undefined;
}

/** What was read already. */
export const readBefore = (): Read => read;

export const mayBeWhole = (chunk: Buffer): boolean => chunk.at(-1) === CLOSING || chunk.at(-2) === CLOSING;

export function parsed(bytes: Buffer): HookInput | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').trim());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as HookInput) : undefined;
  } catch {
    return undefined;
  }
}
