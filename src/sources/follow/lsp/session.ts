/** Runs a language server on the files that have changed since the follower began, and finds the new errors in these files. */
import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import type { Diagnostic } from 'vscode-languageserver-protocol';
import { checksum } from '../../../core/checksum.ts';
import type { Json } from '../../../core/json.ts';
import { FolderWatch, scopeOf } from '../../files/index.ts';
import { gitIn } from '../../git/index.ts';
import { sayProblem } from '../../problems/index.ts';
import { CannotLook, type Look, type Standing } from '../follower.ts';
import type { What } from '../list.ts';
import { languageOf } from './languages.ts';
import { LanguageServer } from './server.ts';

const EVERY_MS = 1_000;
/** The maximum number of open files. Above this number, the server forgets the file with the oldest change. */
const MAX_FILES = 200;
const MAX_BYTES = 1_048_576;
const MAX_ERRORS = 50;
/** The longest time from a change of a file to the watcher's report of the change. */
const HINT_MS = 2_000;

type LspWhat = Extract<What, { kind: 'lsp' }>;
/** How often a file had each error in the last commit. The errors are counted when the file first changes. */
type Before = Readonly<Record<string, number>>;
/**
 * The memory of a follower. `files` has the errors that each changed file had in the last commit, by path. `at` is the time of
 * the last known change, in epoch ms. If a file is newer when a process starts, the file changed while no process watched the
 * folder.
 */
export type Memory = { readonly at: number; readonly files: Readonly<Record<string, Before>> };

export class Session {
  readonly #what: LspWhat;
  readonly #server: LanguageServer;
  readonly #watch: FolderWatch;
  readonly #changed: Set<string>;
  readonly #files: Map<string, Before>;
  #standing: readonly Standing[] | undefined;
  #at: number;
  #isReady = false;
  /** The newest error of the folder's watcher, until a check reports the error. */
  #trouble: string | undefined;

  private constructor(what: LspWhat, server: LanguageServer, { at, files }: Memory) {
    this.#what = what;
    this.#server = server;
    this.#files = new Map(Object.entries(files));
    this.#changed = new Set(this.#files.keys());
    this.#at = at;
    const scope = scopeOf(what.folder, ['**']);
    this.#watch = new FolderWatch({
      ignored: (path, stats) => {
        if (stats?.isDirectory()) return !scope.folder(path);
        if (stats === undefined) return false;
        if (languageOf(path, what.command) === undefined) return true;
        if (!this.#isReady && stats.isFile() && stats.mtimeMs >= at && scope.file(path)) this.#changed.add(path);
        return false;
      },
      follows: () => false,
      hint: (path, added) => this.#hint(path, added !== undefined && scope.file(path)),
      trouble: (line) => (this.#trouble = line),
    });
  }

  static async start(what: LspWhat, memory: Memory, signal: AbortSignal): Promise<Session> {
    const server = await LanguageServer.start(what.command, what.folder, signal);
    const session = new Session(what, server, memory);
    session.#watch.add([what.folder]);
    await session.#watch.ready(signal);
    session.#isReady = true;
    return session;
  }

  async look(signal: AbortSignal): Promise<Look> {
    if (this.#server.ended !== undefined) throw new CannotLook(this.#server.ended);
    const trouble = this.#trouble;
    this.#trouble = undefined;
    if (trouble !== undefined) throw new CannotLook(trouble);
    const changed = [...this.#changed];
    this.#changed.clear();
    const at = Date.now() - HINT_MS;
    if (changed.length > 0) {
      await this.#read(changed, signal);
      this.#at = at;
    }
    const paths = [...this.#files.keys()];
    const errors = this.#standing === undefined ? await this.#server.errorsOf(paths, signal) : await this.#server.errors();
    // Until the server has read each file, the earlier reports stay open.
    if (errors !== undefined && paths.every((path) => errors.has(path))) this.#standing = this.#standingIn(errors);
    if (this.#standing === undefined) throw new CannotLook(this.#server.ended ?? 'the language server did not answer in time');
    const open = this.#standing.length;
    return {
      standing: this.#standing,
      news: [],
      state: { at: this.#at, files: Object.fromEntries(this.#files) } as Json,
      summary: `${counted(this.#files.size, 'changed file')}, ${open === 0 ? 'no errors' : counted(open, 'error')}`,
      againMs: EVERY_MS,
    };
  }

  async end(): Promise<void> {
    await this.#watch.close();
    await this.#server.end();
  }

  #hint(path: string, isNew: boolean): void {
    if (this.#isReady && (isNew || languageOf(path, this.#what.command) !== undefined)) this.#changed.add(path);
  }

  async #read(paths: readonly string[], signal: AbortSignal): Promise<void> {
    const texts = new Map<string, string>();
    for (const path of paths) {
      const text = await textOf(path);
      if (text === undefined) this.#forget(path);
      else texts.set(path, text);
    }
    const fresh = [...texts.keys()].filter((path) => !this.#files.has(path));
    const committed = await this.#before(fresh, signal);
    for (const [path, before] of committed) this.#files.set(path, before);
    for (const [path, text] of texts) {
      const before = this.#files.get(path) ?? {};
      this.#files.delete(path);
      this.#files.set(path, before);
      this.#write(path, text);
      this.#server.saved(path, fresh.includes(path) && !committed.has(path) ? 1 : 2);
    }
    for (const path of [...this.#files.keys()].slice(0, -MAX_FILES)) this.#forget(path);
  }

  /**
   * Returns the errors that these files had in the last commit. To find these errors, the server checks all changed files with
   * the content of that commit.
   */
  async #before(paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Before>> {
    const git = gitIn(this.#what.folder);
    const committed = async (path: string): Promise<string | undefined> => {
      const answer = await git(['show', `HEAD:./${relative(this.#what.folder, path)}`]);
      return answer.kind === 'ok' ? answer.out : undefined;
    };
    const then = new Map<string, string>();
    for (const path of new Set([...this.#files.keys(), ...paths])) {
      const text = await committed(path);
      if (text !== undefined) then.set(path, text);
    }
    const known = paths.filter((path) => then.has(path));
    if (known.length === 0) return new Map();
    for (const [path, text] of then) this.#write(path, text);
    const errors = await this.#server.errorsOf(known, signal);
    for (const path of this.#files.keys()) {
      const text = await textOf(path);
      if (text !== undefined) this.#write(path, text);
    }
    return new Map(known.map((path) => [path, timesOf(errors?.get(path) ?? [])]));
  }

  #write(path: string, text: string): void {
    this.#server.write(path, text, languageOf(path, this.#what.command) ?? 'plaintext');
  }

  #forget(path: string): void {
    this.#files.delete(path);
    this.#server.close(path);
    this.#server.saved(path, 3);
  }

  #standingIn(errors: ReadonlyMap<string, readonly Diagnostic[]>): readonly Standing[] {
    const { command, folder } = this.#what;
    return [...errors]
      .flatMap(([path, all]) =>
        newIn(all, this.#files.get(path) ?? {}).map((error) => ({ file: relative(folder, path), ...error })),
      )
      .slice(0, MAX_ERRORS)
      .map(({ file, diagnostic, count }) => {
        const { range, source } = diagnostic;
        const code = codeOf(diagnostic);
        const problem = {
          tool: source ?? 'lsp',
          severity: 'error' as const,
          message: saidBy(diagnostic).split('\n', 1)[0]?.slice(0, 400).toWellFormed() ?? '',
          file,
          line: range.start.line + 1,
          column: range.start.character + 1,
          ...(code === undefined ? {} : { code }),
        };
        const fingerprint = checksum(`${file}\0${nameOf(diagnostic)}`);
        const { message: says, severity: _severity, ...place } = problem;
        return {
          key: fingerprint,
          fingerprint,
          type: 'problem.found',
          severity: 'error',
          message: `${sayProblem(problem)}${count > 1 ? ` (${count} times)` : ''}`,
          data: { command: command.join(' '), problem: says, ...place },
        };
      });
  }
}

type Fresh = { readonly diagnostic: Diagnostic; readonly count: number };

/** Returns each new error once, with the number of its new occurrences in the file. */
function newIn(all: readonly Diagnostic[], before: Before): readonly Fresh[] {
  const first = new Map<string, Diagnostic>();
  // If the file has several equal errors, the last error is shown.
  for (const diagnostic of all) first.set(nameOf(diagnostic), diagnostic);
  const now = timesOf(all);
  return [...first].flatMap(([name, diagnostic]) => {
    const count = (now[name] ?? 0) - (before[name] ?? 0);
    return count > 0 ? [{ diagnostic, count }] : [];
  });
}

function timesOf(all: readonly Diagnostic[]): Before {
  const counts: Record<string, number> = {};
  for (const diagnostic of all) counts[nameOf(diagnostic)] = (counts[nameOf(diagnostic)] ?? 0) + 1;
  return counts;
}

const nameOf = (diagnostic: Diagnostic): string => `${codeOf(diagnostic) ?? ''} ${saidBy(diagnostic)}`.slice(0, 400);

const saidBy = ({ message }: Diagnostic): string => (typeof message === 'string' ? message : message.value);

function codeOf({ code, source }: Diagnostic): string | undefined {
  if (code === undefined || code === '') return undefined;
  return typeof code === 'number' && /^(?:ts|typescript|js)$/u.test(source ?? '') ? `TS${code}` : String(code);
}

/** Returns the text of a file; undefined if the file does not exist or is too large. */
async function textOf(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined || text.length > MAX_BYTES ? undefined : text;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
