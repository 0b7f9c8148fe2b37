/** Keeps the files or tests that one tool has named in its current round, and distinguishes tests with the same name. */
import type { Named, Rounds } from './matcher.ts';

/** The maximum number of named files and tests of a round that are kept. */
const MAX_NAMED = 10_000;

type Suite = { readonly name: string; readonly indent: number };

export class NamedUnits {
  /** The suites around the next line, the outermost first. */
  #suites: Suite[] = [];
  #named: Named[] = [];
  /** The failed tests whose problem was printed. */
  readonly #claimed = new Set<Named>();
  /**
   * How often each unit (a file or test) was named. `#now`: in the current run. `#inRound`: the maximum in one run of this round.
   * `#atMost`: the maximum in one run so far.
   */
  readonly #now = new Map<string, number>();
  readonly #inRound = new Map<string, number>();
  readonly #atMost = new Map<string, number>();
  /** How often the program has started again in this round. */
  #starts = 0;
  /** The number of starts and ends of runs. */
  #run = 0;
  /** Whether the next line repeats the result of a test. */
  #isRepeated = false;

  /** The files or tests that the round has named, the latest last. */
  get all(): readonly Named[] {
    return this.#named;
  }

  /** Reads the next line of the output. `named`: the files or tests that the line names. */
  read(line: string, named: readonly Named[], { suiteOf, repeats }: Pick<Rounds, 'suiteOf' | 'repeats'>): void {
    const isRepeated = this.#isRepeated;
    this.#isRepeated = repeats?.test(line) ?? false;
    if (isRepeated) return;
    const suite = suiteOf?.(line);
    if (suite !== undefined) this.#suites = [...this.#around(suite.indent), suite];
    for (const each of named) {
      const full = { ...each, name: [...this.#around(each.indent ?? 0).map(({ name }) => name), each.name].join(SEPARATOR) };
      this.#named.push(full);
      count(this.#now, full.name, (this.#now.get(full.name) ?? 0) + 1);
      for (const most of [this.#inRound, this.#atMost]) count(most, full.name, this.#now.get(full.name) ?? 0);
    }
    if (this.#named.length > MAX_NAMED) this.#named = this.#named.slice(-MAX_NAMED);
  }

  /** Whether the tool names the units of a round. Some reporters name no units. */
  get hasNamed(): boolean {
    return this.#atMost.size > 0;
  }

  /** The number of the current run, which is larger than the numbers of earlier runs. */
  get run(): number {
    return this.#run;
  }

  /** Whether a change of a file may have interrupted a run of this round. */
  get wasInterrupted(): boolean {
    return this.#starts > 1;
  }

  /** Counts a new start of the program. A round may have several runs, because a run may be interrupted. */
  started(): void {
    this.#starts += 1;
    this.ran();
  }

  /** Ends the current run of the tool. */
  ran(): void {
    this.#run += 1;
    this.#suites = [];
    this.#now.clear();
  }

  /** Returns the full name of the failed test of this name whose problem is printed now. */
  claim(test: string): string | undefined {
    const found = this.#named.find((each) => each.failed && isCalled(each, test) && !this.#claimed.has(each));
    if (found !== undefined) this.#claimed.add(found);
    return found?.name;
  }

  /**
   * Whether several files have a test with this full name, and each run of this round omitted some of these tests. A result with
   * this name may then belong to any of these files.
   */
  isAmbiguous(name: string): boolean {
    return (this.#inRound.get(name) ?? 0) < (this.#atMost.get(name) ?? 0);
  }

  /** Whether each run of this round has at most one test with this full name. */
  isSingle(name: string): boolean {
    return this.#inRound.get(name) === 1;
  }

  /** Begins the next round. */
  clear(): void {
    this.#named = [];
    this.#claimed.clear();
    this.#inRound.clear();
    this.#starts = 0;
    this.ran();
  }

  #around(indent: number): readonly Suite[] {
    return this.#suites.filter((each) => each.indent < indent);
  }
}

const SEPARATOR = ' > ';

const isCalled = ({ name }: Named, test: string): boolean => name === test || name.endsWith(`${SEPARATOR}${test}`);

function count(counts: Map<string, number>, name: string, value: number): void {
  if (counts.size < MAX_NAMED && value > (counts.get(name) ?? 0)) counts.set(name, value);
}
