/**
 * Keeps the open problems of a program that keeps running. A round is one build or one run of tests. At the end of a round, the
 * problems of that round are the only open ones. During a round, new problems are added.
 */
import type { Matcher, Rounds } from './matcher.ts';
import { fingerprintOf, type Problem } from './problem.ts';
import { ProblemReader } from './reader.ts';
import { ROUNDS } from './shipped.ts';

/** A problem, and how often it was printed in its round. */
export type Open = { readonly problem: Problem; readonly count: number };
type Found = Map<string, Open>;

/** The maximum number of different problems of one tool that are kept. */
const MAX_OPEN = 500;

export class OpenProblems {
  readonly #reader: ProblemReader;
  readonly #rounds: Readonly<Record<string, Rounds>>;
  /** The open problems of each tool. `#round` holds the problems of the current round. */
  readonly #open = new Map<string, Found>();
  readonly #round = new Map<string, Found>();
  /** The tools whose current round has no line that shows its end. */
  readonly #unending = new Set<string>();

  constructor(matchers?: readonly Matcher[], rounds: Readonly<Record<string, Rounds>> = ROUNDS) {
    this.#reader = new ProblemReader(matchers);
    this.#rounds = rounds;
  }

  /** Reads one line without escape sequences. */
  read(line: string): void {
    this.#add(this.#reader.read(line));
    for (const [tool, { begins, ends, clean }] of Object.entries(this.#rounds)) {
      if (begins?.test(line)) {
        this.#end();
        this.#round.set(tool, new Map());
        if (ends === undefined) this.#unending.add(tool);
      }
      if (ends?.test(line)) {
        this.#end();
        this.#settle(tool);
      }
      if (clean?.test(line)) {
        this.#end();
        this.#round.delete(tool);
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

  open(): ReadonlyMap<string, Open> {
    return new Map([...this.#open.values()].flatMap((found) => [...found]));
  }

  #end(): void {
    this.#add(this.#reader.end());
  }

  #add(problems: readonly Problem[]): void {
    for (const problem of problems) {
      if (problem.severity !== 'error') continue;
      for (const all of [this.#open, this.#round]) {
        const found = all.get(problem.tool) ?? new Map<string, Open>();
        all.set(problem.tool, found);
        const fingerprint = fingerprintOf(problem);
        if (found.size >= MAX_OPEN && !found.has(fingerprint)) continue;
        // Each round starts to count at 1, because each build prints the same problem again.
        const count = all === this.#round ? (found.get(fingerprint)?.count ?? 0) + 1 : (found.get(fingerprint)?.count ?? 1);
        found.set(fingerprint, { problem, count });
      }
    }
  }

  #settle(tool: string): void {
    this.#open.set(tool, this.#round.get(tool) ?? new Map<string, Open>());
    this.#round.set(tool, new Map());
  }
}
