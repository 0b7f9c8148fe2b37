/**
 * Reads one folder of subscribers. There is no timer and no file watch: the caller triggers each check. Unchanged files are not
 * parsed again.
 */
import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { readLimited } from '../../input/index.ts';
import { seen } from '../../config/problems.ts';
import type { FolderName, SubscriberProblem, Template } from '../subscriber.ts';
import { LIMITS } from './fields.ts';
import { NOWHERE, parseSubscriber, type Parsed, type TemplateFound } from './parse.ts';

/** A file of the folder. `subscriber` is missing if the file cannot be read or does not define a valid subscriber. */
export type SubscriberFile = Parsed & { readonly file: string };

/**
 * The state of a folder. The state is a new object only if something has changed. A new state keeps the objects of unchanged
 * subscribers.
 */
export type FolderState = {
  /** The files in use, sorted by file name. Each id occurs once. */
  readonly files: readonly (SubscriberFile & Required<Pick<Parsed, 'subscriber'>>)[];
  readonly problems: readonly SubscriberProblem[];
};

export type FolderOptions = {
  readonly path: string;
  readonly name: FolderName;
  /** Whether the folder may be missing without a problem. */
  readonly optional: boolean;
  /** The shortest time between two checks, in milliseconds. With Infinity, the folder is checked once. */
  readonly checkEveryMs: number;
};

export const MAX_FILES = 1_000;
const HALF_MS = 0.5;

export class Folder {
  readonly #options: FolderOptions;
  /** The state of each file before it was read, so that the next check sees a change during the read. */
  #stamps = new Map<string, Stamp>();
  #files = new Map<string, Known>();
  #templates = new Map<string, KnownTemplate>();
  #state: FolderState = { files: [], problems: [] };
  #nextCheck = Number.NEGATIVE_INFINITY;

  constructor(options: FolderOptions) {
    this.#options = options;
  }

  /**
   * Returns the folder's state. Checks the folder first, if a check is due (see `checkEveryMs`). `now`: milliseconds of a
   * monotonic clock. Must not throw.
   */
  check(now: number): FolderState {
    if (now < this.#nextCheck) return this.#state;
    const { checkEveryMs } = this.#options;
    const began = performance.now();
    const unchanged = this.#stamps.size > 0 && [...this.#stamps].every(([path, stamp]) => isSame(stamp, stampOf(path)));
    if (!unchanged) this.#read();
    // A very large folder is checked less often, so that checks take at most a twentieth of the time.
    const took = unchanged ? performance.now() - began : 0;
    this.#nextCheck = now + checkEveryMs * Math.max(1, took / HALF_MS);
    return this.#state;
  }

  /** Reads one of the folder's files, under any name. Undefined if the file does not exist. */
  file(name: string): SubscriberFile | undefined {
    return this.#file(name, new Map())?.parsed;
  }

  #read(): void {
    const stamps = new Map<string, Stamp>();
    this.#stamps = stamps;
    const { path, name, optional } = this.#options;
    stamps.set(path, stampOf(path));
    const problems: SubscriberProblem[] = [];
    const names = this.#names(problems, optional);
    const templates = new Map<string, KnownTemplate>();
    const files = new Map<string, Known>();
    for (const each of names) {
      const known = this.#file(each, templates);
      if (known === undefined) continue;
      files.set(each, known);
      stamps.set(join(path, each), known.stamp);
    }
    for (const [each, { stamp }] of templates) stamps.set(join(path, each), stamp);
    this.#files = files;
    this.#templates = templates;
    this.#settle([...files.values()], problems, name);
  }

  #names(problems: SubscriberProblem[], optional: boolean): readonly string[] {
    const { path } = this.#options;
    let all: string[];
    try {
      all = readdirSync(path);
    } catch (cause) {
      const code = codeOf(cause);
      if (code === 'ENOENT' && optional) return [];
      const way =
        code === 'ENOENT'
          ? 'does not exist; reinstall earpiece'
          : code === 'ENOTDIR'
            ? 'is not a folder; subscribers are *.toml files in a folder of this name'
            : `cannot be read (${code}); make the folder readable, or remove it`;
      problems.push({ file: path, severity: 'error', message: way });
      return [];
    }
    // Temporary files of editors begin with a dot.
    const names = all.filter((each) => each.endsWith('.toml') && !each.startsWith('.')).sort();
    if (names.length > MAX_FILES)
      problems.push({
        file: path,
        severity: 'error',
        message: `has ${names.length} *.toml files; only the first ${MAX_FILES} by name are read: remove some files`,
      });
    return names.slice(0, MAX_FILES);
  }

  /** Reads one file. Undefined if the file no longer exists. */
  #file(name: string, templates: Map<string, KnownTemplate>): Known | undefined {
    const path = join(this.#options.path, name);
    const before = this.#files.get(name);
    const stamp = stampOf(path);
    const same = before !== undefined && isSame(before.stamp, stamp);
    const text = same ? before.text : this.#text(path, stamp);
    if (text === undefined) return undefined;
    const asked = before?.asked;
    const stays =
      before !== undefined &&
      isSameText(before.text, text) &&
      (asked === undefined || this.#template(asked.name, templates) === asked.found);
    if (stays) return { ...before, stamp };
    if (text.kind === 'refused') return { stamp, text, asked: undefined, parsed: { file: path, ...refusal(path, text.why) } };
    let named: Known['asked'];
    const parsed = parseSubscriber(text.text, {
      file: path,
      folder: this.#options.name,
      template: (template) => {
        named = { name: template, found: this.#template(template, templates) };
        return named.found;
      },
    });
    return { stamp, text, asked: named, parsed: { file: path, ...parsed } };
  }

  #template(name: string, templates: Map<string, KnownTemplate>): TemplateFound {
    const looked = templates.get(name);
    if (looked !== undefined) return looked.found;
    const path = join(this.#options.path, name);
    const before = this.#templates.get(name);
    const stamp = stampOf(path);
    const found =
      before !== undefined && isSame(before.stamp, stamp) ? before.found : this.#readTemplate(path, name, stamp, before);
    templates.set(name, { stamp, found });
    return found;
  }

  #readTemplate(path: string, name: string, stamp: Stamp, before: KnownTemplate | undefined): TemplateFound {
    if (stamp.stat === undefined) return before?.found.kind === 'missing' ? before.found : { kind: 'missing' };
    const text = this.#text(path, stamp);
    if (text === undefined) return { kind: 'missing' };
    if (text.kind === 'refused') return before?.found.kind === 'refused' && before.found.why === text.why ? before.found : text;
    const hash = createHash('sha256').update(text.text).digest('hex');
    if (before?.found.kind === 'template' && before.found.template.hash === hash) return before.found;
    return { kind: 'template', template: { name, text: text.text, hash } satisfies Template };
  }

  /** Reads the text of a file. Undefined if the file no longer exists. */
  #text(path: string, { stat }: Stamp): Text | undefined {
    // Without permission to search the folder, `stat` has failed. The read below then fails with the reason.
    if (stat !== undefined && !stat.isFile()) return { kind: 'refused', why: 'is not a file; rename or remove it' };
    if (stat !== undefined && stat.size > LIMITS.fileBytes)
      return { kind: 'refused', why: `has ${stat.size} bytes, but at most ${LIMITS.fileBytes} are allowed; shorten the file` };
    try {
      // A link in a cloned repository must not bring the user's own files to a model. Links in the user's folder are allowed.
      if (this.#options.name === 'project' && !realpathSync(path).startsWith(realpathSync(this.#options.path) + sep))
        return { kind: 'refused', why: 'is a link to a place outside of the folder; copy the file into the folder' };
      return decoded(readLimited(path, LIMITS.fileBytes));
    } catch (cause) {
      const code = codeOf(cause);
      if (code !== 'ENOENT') return { kind: 'refused', why: `cannot be read (${code}); make the file readable` };
      return lstatSync(path, { throwIfNoEntry: false }) === undefined
        ? undefined
        : { kind: 'refused', why: 'is a link to a missing file; correct or remove the link' };
    }
  }

  /** Decides which files are used: for each id, the first file by name. */
  #settle(known: readonly Known[], problems: SubscriberProblem[], name: FolderName): void {
    const files: FolderState['files'][number][] = [];
    const first = new Map<string, string>();
    for (const { parsed } of known) {
      problems.push(...parsed.problems);
      const { subscriber, file, at } = parsed;
      if (subscriber === undefined) continue;
      const other = first.get(subscriber.id);
      if (other === undefined) {
        first.set(subscriber.id, file);
        files.push({ ...parsed, subscriber });
      } else
        problems.push({
          file,
          ...at.id,
          severity: 'error',
          message: `subscriber.id ${seen(subscriber.id)} is also the id of ${other}, which is used; ${name === 'shipped' ? 'each' : 'choose another id: each'} id may appear only once in a folder`,
        });
    }
    const before = this.#state;
    const same =
      before.files.length === files.length &&
      before.files.every(({ subscriber }, i) => subscriber === files[i]?.subscriber) &&
      JSON.stringify(before.problems) === JSON.stringify(problems);
    if (!same) this.#state = { files, problems };
  }
}

/** Reads a single file with the templates of its folder. Undefined if the file does not exist. */
export const readSubscriber = (path: string): SubscriberFile | undefined =>
  new Folder({ path: dirname(path), name: 'user', optional: false, checkEveryMs: 0 }).file(basename(path));

type Text = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'refused'; readonly why: string };
type Known = {
  readonly stamp: Stamp;
  readonly text: Text;
  /** The template that the file names, and the result of the search for that name. */
  readonly asked: { readonly name: string; readonly found: TemplateFound } | undefined;
  readonly parsed: SubscriberFile;
};
type KnownTemplate = { readonly stamp: Stamp; readonly found: TemplateFound };

/** Decodes a file. Files from Windows may begin with a byte-order mark or have another encoding. */
function decoded(bytes: Buffer): Text {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16 || !isUtf8(bytes))
    return { kind: 'refused', why: `is ${isUtf16 ? 'UTF-16' : 'not UTF-8'}; save the file as UTF-8` };
  return { kind: 'text', text: bytes.toString('utf8').replace(/^\ufeff/u, '') };
}

const isSameText = (a: Text, b: Text): boolean =>
  a === b || (a.kind === 'text' ? b.kind === 'text' && a.text === b.text : b.kind === 'refused' && a.why === b.why);

const refusal = (file: string, why: string): Parsed => ({
  problems: [{ file, severity: 'error', message: why }],
  at: NOWHERE,
});

type Stamp = {
  readonly stat: Stats | undefined;
  /** Whether the file was written so recently that another write of the same length could leave the same stamp. */
  readonly fresh: boolean;
};

/**
 * How long a file counts as `fresh` after its last write, in ms. File systems store times in steps, so two writes within one step
 * have the same time.
 */
const STEP_MS = 100;

function stampOf(path: string): Stamp {
  const stat = statOf(path);
  return { stat, fresh: stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) <= STEP_MS };
}

const isSame = ({ stat: a, fresh }: Stamp, { stat: b }: Stamp): boolean =>
  !fresh &&
  (a === b ||
    (a !== undefined &&
      b !== undefined &&
      a.ino === b.ino &&
      a.size === b.size &&
      a.mtimeMs === b.mtimeMs &&
      a.ctimeMs === b.ctimeMs));

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const codeOf = (cause: unknown): string => (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;
