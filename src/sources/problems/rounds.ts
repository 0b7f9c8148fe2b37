/**
 * Keeps the open problems of a program that keeps running. A round is one build or one run of tests. At the end of a round, the
 * problems of that round are the only open ones. If a round repeats only some files, the problems of the other files stay open.
 * During a round, new problems are added.
 */
import { defined } from '../../core/defined.ts';
import type { Matcher, Rounds } from './matcher.ts';
import { NamedUnits } from './named-units.ts';
import { keyOf, type Occurrence } from './occurrences.ts';
import type { Problem } from './problem.ts';
import { ProblemReader } from './reader.ts';
import { RESTARTS, ROUNDS } from './shipped-rounds.ts';

/** A problem, and how often it was printed in its round. */
export type Open = { readonly problem: Problem; readonly count: number };
/** `unit` is the file or test that a round repeats. `stamp` is the stamp of that file when the problem was printed. */
type Kept = Open & Occurrence & { readonly unit?: string; readonly stamp?: string };
type Found = Map<string, Kept>;

/** The maximum number of different problems of one tool that are kept. */
const MAX_OPEN = 500;

export type Surroundings = {
  readonly rounds?: Readonly<Record<string, Rounds>>;
  /** Returns a text that changes when the file changes, or undefined if there is no such file. */
  readonly stampOf?: (file: string, problem: Problem) => string | undefined;
  /** Returns the lines of a file without their indent, or undefined if the file cannot be read. */
  readonly sourceOf?: (file: string) => readonly string[] | undefined;
};

export class OpenProblems {
  readonly #reader: ProblemReader;
  readonly #rounds: Readonly<Record<string, Rounds>>;
  readonly #stampOf: NonNullable<Surroundings['stampOf']>;
  readonly #sourceOf: NonNullable<Surroundings['sourceOf']>;
  /** The open problems of each tool. `#round` holds the problems of the current round. */
  readonly #open = new Map<string, Found>();
  readonly #round = new Map<string, Found>();
  /** The tools whose current round has no line that shows its end. */
  readonly #unending = new Set<string>();
  /** The files and tests that the current round of each tool has named. */
  readonly #named = new Map<string, NamedUnits>();

  constructor(matchers?: readonly Matcher[], around: Surroundings = {}) {
    const { rounds = ROUNDS, stampOf = () => undefined, sourceOf = () => undefined } = around;
    this.#reader = new ProblemReader(matchers);
    this.#rounds = rounds;
    this.#stampOf = stampOf;
    this.#sourceOf = sourceOf;
  }

  /** Reads one line without escape sequences. */
  read(line: string): void {
    this.#add(this.#reader.read(line));
    if (this.#reader.isInSection) return;
    if (RESTARTS.begins?.test(line)) {
      this.#end();
      for (const named of this.#named.values()) named.ran();
    }
    for (const tool of new Set([...Object.keys(this.#rounds), ...this.#open.keys()])) {
      const rounds = this.#roundsOf(tool);
      const { begins, ends, clean, names, unitOf, isLate } = rounds;
      if (begins?.test(line)) {
        this.#end();
        // The previous round may have had no line for its end, so it ends now, before this round names its own files.
        if (names !== undefined && this.#unending.has(tool)) this.#settle(tool);
        this.#begin(tool);
        this.#unending.delete(tool);
        if (ends === undefined) this.#unending.add(tool);
      }
      // Earlier lines belong to the file that was named before.
      const found = names?.(line) ?? [];
      if (unitOf === undefined && found.length > 0) this.#end();
      this.#namedBy(tool).read(line, found, rounds);
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
   * Called when the program has printed nothing for a while. Completes unfinished problems, and ends rounds that have no line for
   * their end.
   */
  silent(): void {
    this.#end();
    for (const tool of this.#unending) this.#settle(tool);
    this.#unending.clear();
  }

  /** Removes all problems, because the program has ended without an error. */
  clear(): void {
    this.#end();
    this.#open.clear();
    this.#round.clear();
  }

  /** Returns the open problems by their keys. */
  open(): ReadonlyMap<string, Open> {
    return new Map([...this.#open.values()].flatMap((found) => [...found]));
  }

  #roundsOf(tool: string): Rounds {
    return this.#rounds[tool] ?? RESTARTS;
  }

  #end(): void {
    this.#add(this.#reader.end());
  }

  #begin(tool: string): void {
    this.#round.set(tool, new Map());
    this.#named.get(tool)?.clear();
  }

  #namedBy(tool: string): NamedUnits {
    const named = this.#named.get(tool) ?? new NamedUnits();
    this.#named.set(tool, named);
    return named;
  }

  #add(problems: readonly Problem[]): void {
    for (const problem of problems) {
      if (problem.severity !== 'error') continue;
      const { tool, file, line = 0 } = problem;
      const [open, round] = [this.#open, this.#round].map((all) => all.get(tool) ?? new Map<string, Kept>()) as [Found, Found];
      const source = file === undefined ? undefined : this.#sourceOf(file);
      const [text, made] = [source?.[line - 1], file === undefined ? undefined : this.#stampOf(file, problem)];
      const kept = { ...this.#kept(problem), ...defined({ text, made }) };
      const key = keyOf(kept, round, open, (each) => source?.includes(each) ?? true);
      for (const [all, found] of [
        [this.#open, open],
        [this.#round, round],
      ] as const) {
        all.set(tool, found);
        if (found.size >= MAX_OPEN && !found.has(key)) continue;
        // Each round starts to count at 1, because each build prints the same problem again.
        const count = all === this.#round ? (found.get(key)?.count ?? 0) + 1 : (found.get(key)?.count ?? 1);
        found.set(key, { ...kept, count });
      }
    }
  }

  #kept(problem: Problem): Omit<Kept, 'count'> {
    const { names, unitOf, areTests } = this.#roundsOf(problem.tool);
    if (names === undefined) return { problem };
    const named = this.#namedBy(problem.tool);
    const said = unitOf === undefined ? (problem.file ?? named.all.at(-1)?.name) : unitOf(problem);
    const unit = areTests && said !== undefined ? (named.claim(said) ?? said) : said;
    if (unit === undefined) return { problem };
    const stamp = this.#stampOf(unit, problem);
    return { problem, unit, ...(stamp === undefined ? {} : { stamp }) };
  }

  /** Ends the round of a tool. */
  #settle(tool: string): void {
    const round = this.#round.get(tool) ?? new Map<string, Kept>();
    const named = this.#namedBy(tool);
    const before = this.#open.get(tool) ?? new Map<string, Kept>();
    const isPartial = round.size > 0 && this.#roundsOf(tool).isPartial?.([...round.values()].map(({ problem }) => problem));
    const others = isPartial
      ? [...before].filter(([key, { problem }]) => !round.has(key) && !this.#roundsOf(tool).isPartial?.([problem]))
      : named.all.length === 0
        ? []
        : [...before].filter(([key, kept]) => !round.has(key) && !this.#isOver(kept, named, [...round.values()]));
    this.#open.set(tool, new Map([...others, ...round]));
    this.#begin(tool);
  }

  /** Whether a round that repeated the named files, and did not print this problem, shows that the problem is fixed. */
  #isOver({ problem, unit, stamp, made }: Kept, units: NamedUnits, round: readonly Kept[]): boolean {
    if (unit === undefined) return units.all.some(({ failed }) => !failed);
    const { unitOf, areTests } = this.#roundsOf(problem.tool);
    const hasChanged = problem.file !== undefined && made !== undefined && this.#stampOf(problem.file, problem) !== made;
    const named = units.all.filter(({ name }) => isSameFile(name, unit));
    // The result may be that of the test with the same name in another file, so only a change of the file ends the problem.
    if (named.length > 0 && areTests && units.isAmbiguous(unit)) return hasChanged;
    // A tool may leave out the errors of a file that failed again.
    if (named.length > 0) return !named.at(-1)?.failed || round.some((each) => each.unit === unit);
    // The test may have another name now, so a change of its file ends the problem.
    if (areTests) return hasChanged;
    const now = this.#stampOf(unit, problem);
    // A build names only the module that it replaces, but a person may have fixed another file. So a problem ends if its file has
    // changed.
    if (unitOf === undefined) return stamp === undefined || now !== stamp;
    // A run of named units reports all their errors. So the problem of another unit ends only if its file is gone.
    return stamp !== undefined && now === undefined;
  }
}

/** Whether two paths name the same file, as seen from different folders. */
function isSameFile(a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => path.replace(/^(?:\.?\/)+/u, '').replace(/\?.*$/u, ''));
  return one === other || one?.endsWith(`/${other}`) === true || other?.endsWith(`/${one}`) === true;
}
