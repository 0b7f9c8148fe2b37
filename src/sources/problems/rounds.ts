/**
 * Keeps the open problems of a program that keeps running. A round is one build or one run of tests. During a round, new problems
 * are added. At the end of a round, usually only the problems of that round are open. If a round repeats only some files, the
 * problems of the other files stay open.
 */
import { defined } from '../../core/defined.ts';
import { FailingFiles } from './failing-files.ts';
import { LoadErrors } from './load-errors.ts';
import type { Matcher, Named, Rounds } from './matcher.ts';
import { NamedUnits } from './named-units.ts';
import { keyOf, type Occurrence } from './occurrences.ts';
import { fingerprintOf, type Problem } from './problem.ts';
import { ProblemReader } from './reader.ts';
import { RESTARTS, ROUNDS } from './shipped-rounds.ts';

/** A problem, and how often it was printed in its round. */
export type Open = { readonly problem: Problem; readonly count: number };
/**
 * `unit` is the file or test that a round repeats. `stamp` is the stamp of that file when the problem was printed. `run` is the
 * run of the tool that printed the problem. `origins` maps each file that caused the problem to the file's stamp from
 * `importStampOf`, or to an empty text if the file had already changed. When all these files have changed, a later run that
 * does not repeat the problem ends the problem.
 */
type Kept = Open &
  Occurrence & {
    readonly unit?: string;
    readonly stamp?: string;
    readonly run: number;
    readonly origins?: ReadonlyMap<string, string>;
  };
type Found = Map<string, Kept>;

/** The maximum number of different problems of one tool that are kept. */
const MAX_OPEN = 500;

export type Surroundings = {
  readonly rounds?: Readonly<Record<string, Rounds>>;
  /** Returns a text that changes when the file changes, or undefined if there is no such file. */
  readonly stampOf?: (file: string, problem: Problem) => string | undefined;
  /** Returns a text that changes when the file or a file that it imports changes, or undefined if there is no such file. */
  readonly importStampOf?: (file: string) => string | undefined;
  /** Returns the lines of a file without their indent, or undefined if the file cannot be read. */
  readonly sourceOf?: (file: string) => readonly string[] | undefined;
};

export class OpenProblems {
  readonly #reader: ProblemReader;
  readonly #rounds: Readonly<Record<string, Rounds>>;
  readonly #stampOf: NonNullable<Surroundings['stampOf']>;
  readonly #importStampOf: NonNullable<Surroundings['importStampOf']>;
  readonly #sourceOf: NonNullable<Surroundings['sourceOf']>;
  /** The open problems of each tool. `#round` contains the problems of the current round. */
  readonly #open = new Map<string, Found>();
  readonly #round = new Map<string, Found>();
  /** The tools whose current round ends at a silence, because no line shows its end, or because late lines may follow. */
  readonly #unending = new Set<string>();
  /** The files and tests that the current round of each tool has named. */
  readonly #named = new Map<string, NamedUnits>();
  /** The failing files of each tool that counts them. */
  readonly #failing = new Map<string, FailingFiles>();
  /** The named files of the current round that the tool could not load. */
  readonly #unloaded = new Map<string, Set<string>>();
  readonly #loadErrors = new LoadErrors();

  constructor(matchers?: readonly Matcher[], around: Surroundings = {}) {
    const { rounds = ROUNDS, stampOf = () => undefined, importStampOf = () => undefined, sourceOf = () => undefined } = around;
    this.#reader = new ProblemReader(matchers);
    this.#rounds = rounds;
    this.#stampOf = stampOf;
    this.#importStampOf = importStampOf;
    this.#sourceOf = sourceOf;
  }

  /** Reads one line without escape sequences. */
  read(line: string): void {
    if (this.#loadErrors.read(line)) this.#endLoad();
    const named = this.#namedIn(line);
    // Earlier lines belong to the file that was named before.
    if (!this.#reader.isInSection && [...named.keys()].some((tool) => this.#roundsOf(tool).unitOf === undefined)) this.#end();
    this.#add(this.#reader.read(line));
    if (this.#reader.isInSection) return;
    if (RESTARTS.begins?.test(line)) {
      this.#end();
      for (const tool of Object.keys(this.#rounds)) {
        // A run that has ended is complete. A run without an end was interrupted, and its results still count.
        if (this.#roundsOf(tool).isLate && this.#unending.delete(tool)) this.#settle(tool);
        this.#namedBy(tool).started();
      }
    }
    for (const tool of new Set([...Object.keys(this.#rounds), ...this.#open.keys()])) {
      const rounds = this.#roundsOf(tool);
      const { begins, ends, clean, names, isLate, countsOf, unloaded } = rounds;
      if (begins?.test(line)) {
        this.#end();
        // The previous round may have had no line for its end, so it ends now, before this round names its own files.
        if (names !== undefined && this.#unending.has(tool)) this.#settle(tool);
        this.#begin(tool);
        this.#unending.delete(tool);
        if (ends === undefined) this.#unending.add(tool);
      }
      if (names !== undefined) this.#namedBy(tool).read(line, named.get(tool) ?? [], rounds);
      const last = this.#named.get(tool)?.all.at(-1);
      if (last !== undefined && unloaded?.test(line)) {
        this.#unloaded.set(tool, (this.#unloaded.get(tool) ?? new Set()).add(last.name));
      }
      const counted = countsOf?.(line);
      if (counted !== undefined) this.#failingOf(tool).read(counted);
      if (ends?.test(line)) {
        this.#end();
        this.#namedBy(tool).ran();
        if (isLate) this.#unending.add(tool);
        else this.#settle(tool);
      }
      if (clean?.test(line)) {
        this.#end();
        this.#begin(tool);
        this.#open.delete(tool);
      }
    }
  }

  /**
   * Called when the program has printed nothing for a while. Completes unfinished problems, and ends the rounds that end at a
   * silence.
   */
  silent(): void {
    this.#end();
    if (this.#loadErrors.silent()) this.#endLoad();
    for (const tool of this.#unending) this.#settle(tool);
    this.#unending.clear();
  }

  /** Removes all problems, because the program has ended without an error. */
  clear(): void {
    this.#end();
    this.#open.clear();
    this.#round.clear();
  }

  /** Returns the open problems by their keys. An error that several test files share is one problem. */
  open(): ReadonlyMap<string, Open> {
    const all = new Map<string, Open>();
    for (const found of this.#open.values()) {
      for (const [own, kept] of found) {
        const key = this.#sharedKeyOf(kept) ?? own;
        if (!all.has(key)) all.set(key, kept);
      }
    }
    return all;
  }

  /** Returns the key of an error in a file that test files import but cannot load; undefined for any other error. */
  #sharedKeyOf({ problem, unit }: Kept): string | undefined {
    const { unitOf, areTests } = this.#roundsOf(problem.tool);
    if (unitOf === undefined || areTests || unit === undefined || problem.file === undefined) return undefined;
    const { test = '', file, ...others } = problem;
    return test.includes(' > ') || isSameFile(file, unit) ? undefined : fingerprintOf({ ...others, file });
  }

  #roundsOf(tool: string): Rounds {
    return this.#rounds[tool] ?? RESTARTS;
  }

  /** Returns the files or tests that the line names, by tool. */
  #namedIn(line: string): ReadonlyMap<string, readonly Named[]> {
    const all = new Map<string, readonly Named[]>();
    for (const tool in this.#rounds) {
      const named = this.#rounds[tool]?.names?.(line) ?? [];
      if (named.length > 0) all.set(tool, named);
    }
    return all;
  }

  #end(): void {
    this.#add(this.#reader.end());
  }

  /** Ends the run of a file that Node.js could not load. */
  #endLoad(): void {
    this.#end();
    // If a silence splits the lines about the error, the second part shows no error, and must not end a round.
    if ((this.#round.get('node')?.size ?? 0) > 0) this.#settle('node');
  }

  #begin(tool: string): void {
    this.#round.set(tool, new Map());
    this.#named.get(tool)?.clear();
    this.#failing.get(tool)?.begin();
    this.#unloaded.delete(tool);
  }

  #failingOf(tool: string): FailingFiles {
    const failing = this.#failing.get(tool) ?? new FailingFiles();
    this.#failing.set(tool, failing);
    return failing;
  }

  #namedBy(tool: string): NamedUnits {
    const named = this.#named.get(tool) ?? new NamedUnits();
    this.#named.set(tool, named);
    return named;
  }

  #add(problems: readonly Problem[]): void {
    for (const problem of problems) {
      if (problem.severity !== 'error' || this.#isExplained(problem)) continue;
      const { tool, line = 0 } = problem;
      // With thousands of further problems, the search among the kept problems would delay the program.
      if ((this.#round.get(tool)?.size ?? 0) >= MAX_OPEN) continue;
      const file = this.#pathOf(problem);
      const [open, round] = [this.#open, this.#round].map((all) => all.get(tool) ?? new Map<string, Kept>()) as [Found, Found];
      const source = file === undefined ? undefined : this.#sourceOf(file);
      const [text, made] = [source?.[line - 1], file === undefined ? undefined : this.#stampOf(file, problem)];
      const origins = file !== undefined && this.#roundsOf(tool).areTests ? this.#originsOf(file) : undefined;
      const kept = { ...this.#kept({ ...problem, ...defined({ file }) }), ...defined({ text, made, origins }) };
      const key = keyOf(kept, round, open, (each) => source?.includes(each) ?? true);
      for (const [all, found] of [
        [this.#open, open],
        [this.#round, round],
      ] as const) {
        all.set(tool, found);
        if (found.size >= MAX_OPEN && !found.has(key)) continue;
        // Each round starts to count at 1, because each build prints the same problem again.
        const count = all === this.#round ? (found.get(key)?.count ?? 0) + 1 : (found.get(key)?.count ?? 1);
        // Deleting the key first moves the problem to the end: the problems of a round are in the order of their last lines.
        if (all === this.#round) found.delete(key);
        found.set(key, { ...kept, count });
      }
    }
  }

  /** Returns the file of a problem. Vite names a file by its path from the folder of the project, such as `/src/a.ts`. */
  #pathOf(problem: Problem): string | undefined {
    const { file } = problem;
    if (file === undefined || !file.startsWith('/') || this.#stampOf(file, problem) !== undefined) return file;
    const inProject = file.slice(1);
    return this.#stampOf(inProject, problem) === undefined ? file : inProject;
  }

  /**
   * Whether a problem needs no report. Such a problem only says that a test file has failed, and either Node.js has printed the
   * cause or the run was interrupted. A printed cause then counts as the problem of this file.
   */
  #isExplained(problem: Problem): boolean {
    const { tool, test = '' } = problem;
    if (this.#roundsOf(tool).isVague?.(problem) !== true) return false;
    const units = this.#namedBy(tool);
    const causes = [...(this.#open.get('node') ?? [])];
    const found =
      causes.findLast(([, each]) => isOf(test, each.problem)) ??
      causes.findLast(([, each]) => !units.all.some(({ name, failed }) => failed && isOf(name, each.problem)));
    if (found === undefined) {
      // If several test files import a file with an error, Node.js prints the error for each test file.
      const shared = [...(this.#round.get(tool) ?? [])].findLast(
        ([, { unit = '', problem: cause }]) => cause.tool === 'node' && !isOf(unit, cause),
      );
      if (shared === undefined) return problem.message.endsWith('; SIGTERM') || units.wasInterrupted;
      this.#keepCause(tool, shared, test);
      return true;
    }
    const [key, kept] = found;
    for (const all of [this.#open, this.#round]) all.get('node')?.delete(key);
    const unit = units.claim(test) ?? test;
    const { file = unit } = kept.problem;
    this.#keepCause(tool, [key, { ...kept, unit, run: units.run, problem: { ...kept.problem, file } }], unit);
    return true;
  }

  /** Keeps the cause of a test file's failure. Other test files may have failed for the same cause before. */
  #keepCause(tool: string, [key, kept]: readonly [string, Kept], testFile: string): void {
    // The file may have changed since Node.js read it. In that case, the file counts as changed, and a later run without the
    // problem may end the problem.
    const isOld = kept.made !== undefined && this.#stampOf(kept.problem.file ?? testFile, kept.problem) !== kept.made;
    const origins = new Map([
      ...(this.#open.get(tool)?.get(key)?.origins ?? []),
      ...(isOld ? [[testFile, ''] as const] : this.#originsOf(testFile)),
    ]);
    for (const all of [this.#open, this.#round]) all.set(tool, new Map([...(all.get(tool) ?? []), [key, { ...kept, origins }]]));
  }

  #originsOf(file: string): ReadonlyMap<string, string> {
    const stamp = this.#importStampOf(file);
    return new Map(stamp === undefined ? [] : [[file, stamp]]);
  }

  #kept(problem: Problem): Omit<Kept, 'count'> {
    const { names, unitOf, areTests } = this.#roundsOf(problem.tool);
    const named = this.#namedBy(problem.tool);
    const { run } = named;
    if (names === undefined) return { problem, run };
    const said = unitOf === undefined ? (problem.file ?? named.all.at(-1)?.name) : unitOf(problem);
    const unit = areTests && said !== undefined ? (named.claim(said) ?? said) : said;
    if (unit === undefined) return { problem, run };
    const stamp = this.#stampOf(unit, problem);
    return { problem, run, unit, ...(stamp === undefined ? {} : { stamp }) };
  }

  /** Ends the round of a tool. */
  #settle(tool: string): void {
    const round = this.#latest(tool);
    const named = this.#namedBy(tool);
    const before = this.#open.get(tool) ?? new Map<string, Kept>();
    const isPartial = round.size > 0 && this.#roundsOf(tool).isPartial?.([...round.values()].map(({ problem }) => problem));
    // This reporter names each file that it can load. If a round has problems but names no file, only the files of these problems
    // have run.
    const isOfFailedFiles = round.size > 0 && named.hasNamed && this.#roundsOf(tool).unitOf !== undefined;
    const others = isPartial
      ? [...before].filter(([key, { problem }]) => !round.has(key) && !this.#roundsOf(tool).isPartial?.([problem]))
      : named.all.length === 0 && !isOfFailedFiles
        ? this.#left(
            tool,
            [...before].filter(([key]) => !round.has(key)),
          )
        : [...before].filter(([key, kept]) => !round.has(key) && !this.#isOver(tool, kept, named, [...round.values()]));
    this.#open.set(tool, new Map([...others, ...round]));
    this.#begin(tool);
  }

  /** Returns the earlier problems that are open after a round that names no files. */
  #left(tool: string, before: readonly (readonly [string, Kept])[]): readonly (readonly [string, Kept])[] {
    const hasChanged = ({ problem, unit, stamp, made }: Kept): boolean =>
      (stamp === undefined && made === undefined) ||
      (unit !== undefined && this.#stampOf(unit, problem) !== stamp) ||
      (problem.file !== undefined && this.#stampOf(problem.file, problem) !== made);
    const left = new Set(
      this.#failing.get(tool)?.left(
        before.map(([, kept]) => kept),
        { hasChanged, sourceOf: this.#sourceOf },
      ),
    );
    return before.filter(([, kept]) => left.has(kept));
  }

  /** Returns the problems of the current round. If a test ran several times, only its last problems count. */
  #latest(tool: string): Found {
    const found = this.#round.get(tool) ?? new Map<string, Kept>();
    if (this.#roundsOf(tool).areTests !== true) return found;
    const named = this.#namedBy(tool);
    const all = [...found];
    // One summary may list the results of an interrupted run and of the run after it.
    const isRepeated = ({ unit = '', run, problem }: Kept, at: number): boolean =>
      all.some(
        ([, each], later) =>
          each.unit === unit &&
          each.problem.file === problem.file &&
          (each.run > run || (later > at && each.run === run && problem.test !== undefined && named.isSingle(unit))),
      );
    return new Map(all.filter(([, kept], at) => !isRepeated(kept, at)));
  }

  /** Whether a round that repeated the named files, and did not print this problem, shows that the problem is fixed. */
  #isOver(tool: string, { problem, unit, stamp, origins }: Kept, units: NamedUnits, round: readonly Kept[]): boolean {
    if (unit === undefined) return units.all.some(({ failed }) => !failed);
    const { unitOf, areTests } = this.#roundsOf(tool);
    // The same test has failed again for another reason.
    if (areTests && round.some((each) => each.unit === unit && each.problem.file === problem.file)) return true;
    const hasChanged =
      origins !== undefined && origins.size > 0 && [...origins].every(([file, before]) => this.#importStampOf(file) !== before);
    const named = units.all.filter(({ name }) => isSameFile(name, unit));
    // A tool may name the same file by a relative and by an absolute path.
    const isUnit = (other = ''): boolean =>
      other === unit ||
      (unitOf === undefined && isSameFile(other, unit) && this.#stampOf(other, problem) === this.#stampOf(unit, problem));
    // The tool reports why it could not load the file, and knows nothing about the tests of the file.
    if (named.some(({ name }) => isUnit(name) && this.#unloaded.get(tool)?.has(name))) return true;
    // The result may be that of the test with the same name in another file, so only a change of the file ends the problem.
    if (named.length > 0 && areTests && units.isAmbiguous(unit)) return hasChanged;
    // A tool may leave out the errors of a file that failed again.
    const failsAgain = round.some((each) => isUnit(each.unit) || each.origins?.has(unit) === true);
    if (named.length > 0 || (failsAgain && unitOf !== undefined)) return failsAgain || !named.at(-1)?.failed;
    // The test may have another name now, so a change of its file ends the problem.
    if (areTests) return hasChanged;
    const now = this.#stampOf(unit, problem);
    // A build names only the module that it replaces, but a person may have fixed another file. So a problem ends if its file has
    // changed.
    if (unitOf === undefined) return stamp === undefined || now !== stamp;
    // A run of named units reports all their errors. So the problem of another unit ends only if its file was deleted.
    return stamp !== undefined && now === undefined;
  }
}

/**
 * Whether Node.js printed this problem for the test file `unit`: the problem is in this file. For a problem without a file, the
 * message must name this file.
 */
const isOf = (unit: string, { file, message }: Problem): boolean =>
  file === undefined ? message.includes(unit) : isSameFile(unit, file);

/** Whether two paths name the same file, as seen from different folders. */
function isSameFile(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => path.replace(/^(?:\.?\/)+/u, '').replace(/\?.*$/u, ''));
  return one === other || one?.endsWith(`/${other}`) === true || other?.endsWith(`/${one}`) === true;
}
