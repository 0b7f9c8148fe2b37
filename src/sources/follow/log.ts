/** Follows a log file: each new line that matches is news. */
import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { clean } from '../../handles/text.ts';
import { readPattern, type Pattern } from '../../input/index.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import { checksum } from '../../core/checksum.ts';
import { CannotLook, type Follower, type Look, type News } from './follower.ts';
import { isLinked } from './links.ts';
import type { Group, What } from './list.ts';
import { openRotated } from './rotated.ts';

const EVERY_MS = 1_000;
/** The maximum number of bytes of one check, and of each of its reads. Between the reads, the process does its other work. */
const CHECK_BYTES = 64 * 1_048_576;
const CHUNK_BYTES = 1_048_576;
/** The maximum number of lines whose text a check reports. One notification also keeps at most this number of different texts. */
const MAX_LINES = 51;
/** The maximum number of bytes of a line that the pattern reads. */
const LINE_BYTES = 65_536;
/** The maximum length of a reported line, and of its part before the match, in characters. */
const LINE_CHARS = 300;
const BEFORE_CHARS = 80;

/**
 * The position of the follower in the file `ino`. `seen` is a checksum of the last bytes before the offset. `head` is a hash of
 * the first bytes of the file up to the offset. `last` is the last matching line. `restarts` counts how often reading returned to
 * the beginning of a file, and is part of the ids of lines.
 */
type Place = {
  readonly ino: number;
  readonly offset: number;
  readonly seen: string;
  /** Undefined in the state of an earlier version. */
  readonly head?: string;
  readonly restarts: number;
  readonly last?: string;
};

/** The inode number of a log file that does not exist yet. */
const NO_FILE = 0;
/**
 * The numbers of bytes before the offset, and at the beginning of the file, that show whether the file is still the same file.
 */
const SEEN_BYTES = 64;
const HEAD_BYTES = 65_536;
const HEAD_CHARS = 22;

export function logFollower(
  { file, match }: Extract<What, { kind: 'log' }>,
  { level = 'warning', by }: Pick<Group, 'level' | 'by'>,
): Follower {
  const pattern = patternOf(match);
  return {
    look: (state, signal) =>
      lookAt({ file, pattern, level, ofAgent: by !== undefined, signal }, state as unknown as Place | undefined),
  };
}

/** Parses the regular expression for the lines of a followed log. Throws `bad_argument` for an invalid pattern. */
export function patternOf(match: string, name = '--match'): Pattern {
  const read = readPattern(match);
  if (read.kind === 'pattern') return read.pattern;
  throw new EarpieceError('bad_argument', `${name} ${JSON.stringify(match.slice(0, 80))}: ${read.problem}`);
}

type Reading = {
  readonly file: string;
  readonly pattern: Pattern;
  readonly level: News['severity'];
  /** Whether only agents follow the file. The path is then the real path of a file in the project, and no link may replace it. */
  readonly ofAgent: boolean;
  readonly signal: AbortSignal;
};

async function lookAt(reading: Reading, before: Place | undefined): Promise<Look> {
  const opened = openOf(reading);
  try {
    const now = opened === undefined ? undefined : fstatSync(opened);
    const isOther = before !== undefined && before.ino !== NO_FILE && before.ino !== now?.ino;
    const rest = isOther ? await restOf(reading, before, now !== undefined) : undefined;
    if (rest !== undefined) return rest;
    // A file that is created later is read from its beginning.
    if (opened === undefined || now === undefined)
      return look({ ino: NO_FILE, offset: 0, seen: '', restarts: before?.restarts ?? 0 }, [], {
        summary: 'the file does not exist yet',
      });
    const { ino, size } = now;
    // The first check begins at the end of the file, so that earlier lines are not reported.
    if (before === undefined) return look({ ino, offset: size, ...marksAt(opened, size), restarts: 0 }, []);
    const marks = before.ino === ino ? marksIfAt(opened, before) : undefined;
    if (marks !== undefined) return (await readFrom(reading, opened, { ...before, ...marks })).look;
    const beginning = { ...before, ino, offset: 0, ...marksAt(opened, 0), restarts: before.restarts + 1 };
    return (await readFrom(reading, opened, beginning)).look;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

/**
 * Reads the rest of a file that was renamed since the last check. Undefined if the file was deleted or rewritten, or if it has no
 * further line and a new file is at the path. Without a new file at the path, the renamed file is still followed.
 */
async function restOf(reading: Reading, before: Place, hasNew: boolean): Promise<Look | undefined> {
  const opened = openRotated(reading.file, before.ino);
  if (opened === undefined) return undefined;
  try {
    const marks = marksIfAt(opened, before);
    if (marks === undefined) return undefined;
    const rest = await readFrom(reading, opened, { ...before, ...marks }, hasNew);
    if (rest.offset > before.offset) return { ...rest.look, againMs: hasNew ? 0 : EVERY_MS };
    return hasNew ? undefined : look(before, [], { summary: 'the file was renamed, and no new file exists yet' });
  } finally {
    closeSync(opened);
  }
}

/**
 * Returns the checksums of the place if the file still has the bytes before the place. After a file was emptied, new content may
 * have the same last bytes before the offset, such as the summary of a build. So `head` is compared, too.
 */
function marksIfAt(opened: number, { offset, seen, head }: Place): Marks | undefined {
  if (offset > fstatSync(opened).size) return undefined;
  const now = marksAt(opened, offset);
  return seen === now.seen && (head === undefined || head === now.head) ? now : undefined;
}

/**
 * Reads the next lines, up to the limit of a check. `isWhole`: no program writes the file any longer, so the last line is
 * complete without a line break. If the file is emptied between two reads, the next check begins at the start of the file.
 */
async function readFrom(
  reading: Reading,
  opened: number,
  before: Place,
  isWhole = false,
): Promise<{ readonly look: Look; readonly offset: number }> {
  const start = before.offset;
  const matches = new Matches(reading.pattern);
  const { size } = fstatSync(opened);
  let place = before;
  for (;;) {
    const from = place.offset;
    const bytes = bytesOf(opened, from, Math.max(0, Math.min(CHUNK_BYTES, size - from)));
    const { news, end } = linesIn(bytes, from, isWhole && from + bytes.length >= size);
    for (const each of news) matches.add(each);
    if (end > 0) place = { ...place, offset: from + end, ...marksAt(opened, from + end) };
    if (end === 0 || place.offset >= size || place.offset - start >= CHECK_BYTES) break;
    await setImmediate();
    if (reading.signal.aborted || marksIfAt(opened, place) === undefined) break;
  }
  const { offset, ino, restarts } = place;
  const last = matches.last ?? before.last;
  const { told, more } = matches.reported();
  const id = `${ino}:${restarts}`;
  const news = told.map(({ at, line }) => newsOf(reading, `${id}:${at}`, line));
  const rest = `… and ${more.toLocaleString('en')} more matching ${more === 1 ? 'line' : 'lines'}`;
  return {
    offset,
    look: look(
      { ...place, ...defined({ last: last === undefined ? undefined : short(last) }) },
      more === 0 ? news : [...news, { ...newsOf(reading, `${id}:${start}:more`, rest), key: 'more' }],
      { unread: offset > start ? size - offset : 0 },
    ),
  };
}

/** Collects the matching lines of one check. */
class Matches {
  readonly #pattern: Pattern;
  /** The first matching lines, with repetitions. */
  readonly #first: Line[] = [];
  /** The first line with each reported text, by that text. */
  readonly #different = new Map<string, Line>();
  #count = 0;
  #last: string | undefined;

  constructor(pattern: Pattern) {
    this.#pattern = pattern;
  }

  add({ at, line }: Line): void {
    if (!this.#pattern.test(line)) return;
    this.#count++;
    this.#last = line;
    if (this.#different.size >= MAX_LINES) return;
    const found = { at, line: partOf(line, this.#pattern) };
    if (this.#first.length < MAX_LINES) this.#first.push(found);
    const text = short(found.line);
    if (!this.#different.has(text)) this.#different.set(text, found);
  }

  get last(): string | undefined {
    return this.#last === undefined ? undefined : partOf(this.#last, this.#pattern);
  }

  /**
   * Returns the lines to report, and the number of the other matching lines. If at most `MAX_LINES` lines match, all are
   * reported.
   */
  reported(): { readonly told: readonly Line[]; readonly more: number } {
    const told = this.#count <= MAX_LINES ? this.#first : [...this.#different.values()];
    return { told, more: this.#count - told.length };
  }
}

type Marks = Required<Pick<Place, 'seen' | 'head'>>;

/** Returns the checksums for a file that was read to this offset. */
function marksAt(opened: number, offset: number): Marks {
  const length = Math.min(SEEN_BYTES, offset);
  return {
    seen: checksum(bytesOf(opened, offset - length, length).toString('latin1')),
    head: createHash('sha256')
      .update(bytesOf(opened, 0, Math.min(HEAD_BYTES, offset)))
      .digest('base64url')
      .slice(0, HEAD_CHARS),
  };
}

function bytesOf(opened: number, from: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(opened, bytes, 0, length, from));
}

const look = (
  place: Place,
  news: readonly News[],
  { summary, unread = 0 }: { readonly summary?: string; readonly unread?: number } = {},
): Look => ({
  standing: [],
  news,
  state: place,
  summary:
    (unread < CHUNK_BYTES ? '' : `${Math.round(unread / CHUNK_BYTES).toLocaleString('en')} MB still to read, `) +
    (summary ?? (place.last === undefined ? 'no line has matched yet' : `last: ${place.last}`)),
  againMs: unread > 0 ? 0 : EVERY_MS,
});

function openOf({ file, ofAgent }: Reading): number | undefined {
  let opened: number | undefined;
  let code: string | undefined;
  // An agent must not learn whether a file exists outside of its project, so this check is first.
  if (ofAgent && isLinked(file)) throw cannotLook(linked(file));
  try {
    // Without O_NONBLOCK, opening a pipe that has no writer would never return.
    opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    code = (error as NodeJS.ErrnoException).code ?? String(error);
  }
  // A link may have replaced the file since the first check.
  const problem =
    ofAgent && (isLinked(file) || (opened !== undefined && !isAtItsPath(opened, file)))
      ? linked(file)
      : code !== undefined && code !== 'ENOENT'
        ? `${file} cannot be read (${code})`
        : opened !== undefined && !fstatSync(opened).isFile()
          ? `${file} is not a regular file`
          : undefined;
  if (problem === undefined) return opened;
  if (opened !== undefined) closeSync(opened);
  throw cannotLook(problem);
}

const cannotLook = (problem: string): CannotLook => new CannotLook(problem, { lasting: true, everyMs: EVERY_MS });

const linked = (file: string): string =>
  `${file} is now a link, which could lead out of the project; a person can run: earpiece follow log <file>`;

/** Whether the open file is still the file at this path. */
function isAtItsPath(opened: number, file: string): boolean {
  try {
    const [there, here] = [lstatSync(file), fstatSync(opened)];
    return there.ino === here.ino && there.dev === here.dev;
  } catch {
    return false;
  }
}

type Line = { readonly at: number; readonly line: string };

/**
 * Returns the complete lines with their positions. An unfinished line waits for the next read. Two unfinished lines count as
 * complete: a line that fills the whole read, and the last line of a replaced file.
 */
function linesIn(bytes: Buffer, start: number, isRest: boolean): { readonly news: readonly Line[]; readonly end: number } {
  const news: Line[] = [];
  let from = 0;
  for (let to = bytes.indexOf(0x0a); to >= 0; to = bytes.indexOf(0x0a, from)) {
    news.push({ at: start + from, line: textOf(bytes.subarray(from, to)) });
    from = to + 1;
  }
  if (from < bytes.length && (isRest || (from === 0 && bytes.length === CHUNK_BYTES))) {
    news.push({ at: start + from, line: textOf(bytes.subarray(from)) });
    from = bytes.length;
  }
  return { news, end: from };
}

/** Keeps the text before a carriage return or a backspace, so that a program cannot hide a part of a line. */
const textOf = (bytes: Buffer): string =>
  clean(bytes.subarray(0, LINE_BYTES).toString('utf8').replaceAll('\b', '').trimEnd().replaceAll('\r', ' ')).trim();

/** Cuts the beginning of a long line, so that the reported part contains the match. */
function partOf(line: string, pattern: Pattern): string {
  if (line.length <= LINE_CHARS) return line;
  const at = pattern.place(line) ?? 0;
  return at <= BEFORE_CHARS ? line : `…${line.slice(at - BEFORE_CHARS).toWellFormed()}`;
}

const newsOf = ({ file, level: severity }: Pick<Reading, 'file' | 'level'>, id: string, line: string): News => ({
  id,
  key: 'lines',
  type: 'log.matched',
  severity,
  message: `${file}: ${short(line)}`,
  data: { file, line: short(line) },
});

const short = (text: string): string =>
  text.length > LINE_CHARS ? `${text.slice(0, LINE_CHARS - 1).toWellFormed()}…` : text.toWellFormed();
