/** Finds problems in the lines of a program, one line at a time, in bounded memory. */
import { defined } from '../../core/defined.ts';
import type { Matcher, Parts, Printed, Step } from './matcher.ts';
import type { Problem } from './problem.ts';
import { SHIPPED } from './shipped.ts';
import { PRINTED } from './shipped-printed.ts';

/** The maximum number of characters of a line that are matched. A longer line is cut. */
export const LINE_CHARS = 2_000;
const MESSAGE_CHARS = 400;

/**
 * A problem whose first lines were read. More lines may follow. `others`: the parts of the lines directly above, which name other
 * tests with the same error.
 */
type Begun = {
  readonly parts: Parts;
  readonly next: number;
  readonly skipped: number;
  readonly others: readonly Parts[];
  /** The parts of the line directly above, which are used only if the next line matches `before` of the step. */
  readonly last?: Parts | undefined;
};

export class ProblemReader {
  readonly #matchers: readonly Matcher[];
  readonly #begun = new Map<Matcher, Begun>();
  /** The places and messages of tests whose problem the tool prints later. */
  readonly #notes: Problem[] = [];
  /**
   * A section is the lines about one problem that only the problem's matcher reads. `lines` is the number of lines read so far.
   */
  #section: { readonly matcher: Matcher; readonly until: RegExp; readonly lines: number } | undefined;
  /** The printed block to which the next line belongs, and the number of its lines so far. */
  #printed: { readonly block: Printed; readonly lines: number } | undefined;
  /** The matchers whose tool is in a report: the headline was read, and no later run has begun. */
  readonly #reporting: Set<Matcher>;

  /** `reporting`: the matchers whose report began before the first line. */
  constructor(matchers: readonly Matcher[] = SHIPPED, reporting: readonly Matcher[] = []) {
    this.#matchers = matchers;
    this.#reporting = new Set(reporting);
  }

  /** Reads one line without escape sequences. Returns the problems that the line completes. */
  read(line: string): readonly Problem[] {
    const cut = line.slice(0, LINE_CHARS);
    const found: Problem[] = [];
    if (this.#readSection(cut, found) || this.#isPrinted(cut)) return found;
    let explained = false;
    for (const matcher of this.#matchers) {
      if (matcher.report?.from.test(cut)) this.#reporting.add(matcher);
      else if (matcher.report?.to.test(cut)) this.#reporting.delete(matcher);
      if (explained) this.#abandon(matcher, found);
      else explained = this.#goOn(matcher, cut, found) || this.#begin(matcher, cut, found);
    }
    return found;
  }

  /** Whether the lines belong to one problem or to a printed block, whose text may resemble the output of other tools. */
  get isInSection(): boolean {
    return this.#section !== undefined || this.#printed !== undefined;
  }

  /** Whether a test has printed the line. The first line of a block still goes to the matchers, and ends their open problems. */
  #isPrinted(line: string): boolean {
    const { block, lines } = this.#printed ?? { lines: 0 };
    if (block !== undefined && !block.to.test(line) && lines < SECTION_LINES) {
      this.#printed = { block, lines: lines + 1 };
      return true;
    }
    const next = PRINTED.find(({ from }) => from.test(line));
    this.#printed = next === undefined ? undefined : { block: next, lines: 0 };
    return false;
  }

  /** Reads the line if it belongs to a section. Returns false if other matchers should read the line. */
  #readSection(line: string, found: Problem[]): boolean {
    if (this.#section === undefined) return false;
    const { matcher, until, lines } = this.#section;
    if (until.test(line) || lines >= SECTION_LINES) {
      this.#section = undefined;
      this.#abandon(matcher, found);
      return false;
    }
    this.#section = { matcher, until, lines: lines + 1 };
    this.#goOn(matcher, line, found);
    return true;
  }

  /** Ends the output. Returns the unfinished problems that lack only optional lines. */
  end(): readonly Problem[] {
    const found: Problem[] = [];
    this.#section = undefined;
    this.#printed = undefined;
    for (const matcher of this.#matchers) this.#abandon(matcher, found);
    return found;
  }

  /** Begins a problem if the line matches. Returns true if later matchers skip the line. */
  #begin(matcher: Matcher, line: string, found: Problem[]): boolean {
    if (matcher.report !== undefined && !this.#reporting.has(matcher)) return false;
    const parts = matcher.steps[0].match(line);
    if (parts === undefined) return false;
    const before = this.#begun.get(matcher);
    const others = before?.next === 1 && matcher.steps[0].each ? [...before.others, before.parts].slice(-MAX_OTHERS) : [];
    if (others.length === 0) this.#abandon(matcher, found);
    return this.#advance(matcher, { parts, next: 1, skipped: 0, others }, found);
  }

  /** Continues the problem that this matcher has begun. Returns true if later matchers skip the line. */
  #goOn(matcher: Matcher, line: string, found: Problem[]): boolean {
    const begun = this.#begun.get(matcher);
    if (begun === undefined) return false;
    for (let at = begun.next; at < matcher.steps.length; at++) {
      const step = matcher.steps[at] as Step;
      if (begun.last !== undefined && step.before?.test(line)) {
        return this.#advance(
          matcher,
          { ...begun, parts: { ...begun.parts, ...begun.last }, next: at + 1, skipped: 0, last: undefined },
          found,
        );
      }
      const parts = step.match(line);
      if (parts !== undefined && step.before !== undefined) {
        this.#begun.set(matcher, { ...begun, parts: merged(begun.parts, parts), last: parts, skipped: begun.skipped + 1 });
        return false;
      }
      if (parts !== undefined) {
        const all = step.replaces ? { ...begun.parts, ...defined(parts) } : merged(begun.parts, parts);
        return this.#advance(matcher, { ...begun, parts: all, next: at + 1, skipped: 0 }, found);
      }
      if (!step.optional) break;
    }
    const last = matcher.steps[begun.next - 1] as Step;
    const again = last.repeats ? last.match(line) : undefined;
    if (again !== undefined) this.#begun.set(matcher, { ...begun, parts: { ...begun.parts, ...again }, skipped: 0 });
    // A second line of this form names another test with the same error.
    else if (last.each && last.match(line) !== undefined) return false;
    else if (begun.skipped >= patienceOf(matcher, begun.next)) this.#abandon(matcher, found);
    else this.#begun.set(matcher, { ...begun, skipped: begun.skipped + 1, last: undefined });
    return false;
  }

  #advance(matcher: Matcher, begun: Begun, found: Problem[]): boolean {
    const { until } = matcher;
    if (until !== undefined && begun.next === 2) this.#section = { matcher, until, lines: 0 };
    if (begun.next < matcher.steps.length) {
      this.#begun.set(matcher, begun);
      return this.#section !== undefined;
    }
    const before = this.#begun.get(matcher)?.parts ?? {};
    const isFound = this.#foundAll(matcher, begun, found);
    // A further line of the loop also gets the parts of the lines before the loop.
    if (matcher.steps.at(-1)?.loop) this.#begun.set(matcher, { ...begun, parts: before, next: matcher.steps.length - 1 });
    else this.#begun.delete(matcher);
    return isFound;
  }

  /** Ends the problem that this matcher has begun. If only optional lines are missing, the problem is added to `found`. */
  #abandon(matcher: Matcher, found: Problem[]): void {
    const begun = this.#begun.get(matcher);
    if (begun === undefined) return;
    this.#begun.delete(matcher);
    if (!matcher.steps.slice(begun.next).every(({ optional }) => optional)) return;
    this.#foundAll(matcher, begun, found);
  }

  #foundAll(matcher: Matcher, { parts, others }: Begun, found: Problem[]): boolean {
    for (const other of others) this.#found(matcher, { ...parts, ...other }, found);
    return this.#found(matcher, parts, found);
  }

  /** Adds the problem that these parts describe. Returns false if the parts describe no problem, or only a note. */
  #found({ tool, isNote, severity }: Matcher, parts: Parts, found: Problem[]): boolean {
    const problem = problemOf(tool, parts, severity);
    if (problem === undefined) return false;
    if (!isNote) {
      found.push(this.#withNote(problem));
      return true;
    }
    this.#notes.push(problem);
    if (this.#notes.length > MAX_NOTES) this.#notes.shift();
    return false;
  }

  #withNote(problem: Problem): Problem {
    const { tool, test } = problem;
    if (test === undefined || problem.file !== undefined) return problem;
    // The last note may still wait for optional lines.
    for (const matcher of this.#matchers) if (matcher.isNote && matcher.tool === tool) this.#abandon(matcher, []);
    const name = test.split('::').slice(1).join('.');
    // A tool cuts the message in its summary to the width of the terminal.
    const isCut = problem.message === NO_MESSAGE || problem.message.endsWith('...');
    const start = problem.message.replace(/\.{3}$/u, '');
    const named = this.#notes.findIndex((note) => note.tool === tool && note.test === name);
    const at = named < 0 ? this.#notes.findIndex((note) => isSame(note, tool, isCut, start)) : named;
    const [note] = at < 0 ? [] : this.#notes.splice(at, 1);
    if (note === undefined) return problem;
    return { ...note, ...problem, ...(isCut ? { message: note.message } : {}) };
  }
}

/** Whether a note without the name of its test has this message. With `isCut`, `message` is only the start of the message. */
const isSame = (note: Problem, tool: string, isCut: boolean, message: string): boolean =>
  note.tool === tool &&
  note.test === undefined &&
  (isCut && !['', NO_MESSAGE].includes(message) ? note.message.startsWith(message) : note.message === message);

const MAX_NOTES = 500;
/** The maximum number of lines of a section, or of a printed block. */
const SECTION_LINES = 2_000;
/** The maximum number of tests above one error, not counting the last test. */
const MAX_OTHERS = 500;
/** The message of a failed test for which the tool prints no reason. */
const NO_MESSAGE = 'failed';

/** Returns the maximum number of other lines before the next line of the problem. */
function patienceOf({ steps }: Matcher, next: number): number {
  const needed = steps.findIndex(({ optional }, at) => at >= next && !optional);
  return Math.max(...steps.slice(next, needed < 0 ? undefined : needed + 1).map(({ skip = 0 }) => skip));
}

/** Returns the problems in an output. If a tool's headline is missing, the lines may be the end of its report. */
export function problemsIn(lines: readonly string[], matchers: readonly Matcher[] = SHIPPED): readonly Problem[] {
  const headless = matchers.filter(({ report }) => report !== undefined && !lines.some((line) => report.from.test(line)));
  const reader = new ProblemReader(matchers, headless);
  return [...lines.flatMap((line) => reader.read(line)), ...reader.end()];
}

/**
 * Merges the parts of several lines. For each part, the first line that has the part decides. Only `more` and `suite` are
 * collected from all lines.
 */
function merged(before: Parts, parts: Parts): Parts {
  const [more, suite] = [
    [before.more, parts.more].filter((text) => text !== undefined).join(', '),
    [before.suite, parts.suite].filter((text) => text !== undefined).join(' > '),
  ];
  return { ...parts, ...defined(before), ...(more === '' ? {} : { more }), ...(suite === '' ? {} : { suite }) };
}

function problemOf(tool: string, parts: Parts, otherwise: Problem['severity'] = 'error'): Problem | undefined {
  const { message, more, severity, suite, code, file } = parts;
  const test = suite === undefined || parts.test === undefined ? parts.test : `${suite} > ${parts.test.trim()}`;
  const said = [message ?? (test === undefined ? undefined : NO_MESSAGE), more]
    .filter((text) => text !== undefined)
    .join('; ')
    .trim();
  if (said === '') return undefined;
  const [line, column] = [numberOf(parts.line), numberOf(parts.column)];
  return {
    tool,
    severity: severity === undefined || severity === '' ? otherwise : HARMLESS.test(severity) ? 'warning' : 'error',
    message: said.length > MESSAGE_CHARS ? `${said.slice(0, MESSAGE_CHARS - 1).toWellFormed()}…` : said,
    ...(test === undefined ? {} : { test: test.trim().slice(0, MESSAGE_CHARS) }),
    ...defined({ code }),
    ...(file === undefined ? {} : { file: file.trim().replace(/^file:\/\//u, '') }),
    ...defined({ line, column }),
  };
}

/** Matches the words and letters that tools use for severities below an error. */
const HARMLESS = /^(?:w|warn|warning|i|info|information|note|hint|help)$/iu;

const numberOf = (digits: string | undefined): number | undefined => (digits === undefined ? undefined : Number(digits));
