/** Reads the event that an agent writes to the stdin of its hook. Each process reads the event once. */

/**
 * These functions are taken from `process`, because an import would also load streams and promises, which slows each hook call.
 */
const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs');

export type HookInput = Readonly<Record<string, unknown>>;

/** The bytes read so far. `ended` means that no more bytes are read, and `late` that no byte arrived within the allowed time. */
type Read = { readonly bytes: Buffer; readonly ended: boolean; readonly late: boolean };

/** The maximum time that a hook waits for the next byte. During this time, the agent waits for the hook. */
export const INPUT_WITHIN_MS = 2_000;
const LOOK_EVERY_MS = 2;
const CHUNK = 64 * 1024;
/**
 * The maximum size of an input that `inputAtOnce` reads, in bytes. `readInput` in `hook.ts` reads a larger input, such as a batch
 * of large results.
 */
const MAX_AT_ONCE = 4 * 1024 * 1024;
const CLOSING = '}'.charCodeAt(0);

let read: Read = { bytes: Buffer.alloc(0), ended: false, late: false };
let whole: HookInput | undefined;

/** Reads the input synchronously; returns undefined if that is impossible, or if the input is not a JSON object. */
export function inputAtOnce(): HookInput | undefined {
  if (whole !== undefined || read.ended) return whole;
  const about = fstatSync(0);
  if (!about.isFIFO() && !about.isSocket() && !about.isFile()) return undefined;
  const fd = about.isFile() ? 0 : unblocked(about.isFIFO());
  const chunks = [read.bytes];
  let size = read.bytes.length;
  try {
    while (size < MAX_AT_ONCE) {
      const chunk = Buffer.allocUnsafe(CHUNK);
      const n = readInTime(fd, chunk);
      if (n === undefined || n === 0) {
        read = { bytes: Buffer.concat(chunks), ended: true, late: n === undefined };
        return (whole = parsed(read.bytes));
      }
      size += n;
      chunks.push(chunk.subarray(0, n));
      // A host may leave the pipe open, so the input also ends when its JSON object is complete.
      if (mayBeWhole(chunk.subarray(0, n))) {
        read = { bytes: Buffer.concat(chunks), ended: false, late: false };
        whole = parsed(read.bytes);
        if (whole !== undefined) return whole;
        chunks.splice(0, chunks.length, read.bytes);
      }
    }
  } catch {
    // If this function cannot read the input, `readInput` reads it later.
  } finally {
    if (fd !== 0) closeSync(fd);
  }
  read = { bytes: Buffer.concat(chunks), ended: false, late: false };
  return undefined;
}

/** Returns a descriptor of stdin whose reads do not block. */
function unblocked(isPipe: boolean): number {
  try {
    if (isPipe) return openSync('/proc/self/fd/0', constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    // This system has no file for stdin, so the next lines change stdin itself.
  }
  // Reading `process.stdin` makes Node set the descriptor to nonblocking, which takes 4 ms.
  void process.stdin;
  return 0;
}

/** Reads the next bytes; returns undefined if no byte arrived within the allowed time. */
function readInTime(fd: number, chunk: Buffer): number | undefined {
  const until = performance.now() + INPUT_WITHIN_MS;
  do {
    try {
      return readSync(fd, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_EVERY_MS);
    }
  } while (performance.now() < until);
  return undefined;
}

/** Returns the bytes that `inputAtOnce` has already read. */
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

/** Shell commands that may open a pull request, or push to the branch of a pull request. */
const PUSHES = /\bgh\s+pr\s+create\b|\bgit\b[^;&|\n]{0,200}\bpush\b/u;
const MAX_CHARS = 20_000;

/** Whether a command in this input may have opened a pull request, or pushed to the branch of a pull request. */
export const mayHavePushed = (input: HookInput): boolean => commandsIn(input).some((command) => PUSHES.test(command));

function commandsIn(input: HookInput): readonly string[] {
  const batch = input['tool_calls'];
  const calls: readonly unknown[] = Array.isArray(batch) ? batch : [input, input['postToolUse']];
  return calls.filter(isTable).flatMap((call) => {
    const given = [call['tool_input'], call['parameters']].find(isTable)?.['command'];
    const words = Array.isArray(given) ? given.filter((word) => typeof word === 'string').join(' ') : given;
    return typeof words === 'string' ? [words.slice(0, MAX_CHARS)] : [];
  });
}

const isTable = (value: unknown): value is HookInput => typeof value === 'object' && value !== null && !Array.isArray(value);
