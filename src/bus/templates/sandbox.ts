/**
 * Runs minijinja with Earpiece's filters and limits in the importing thread. A render blocks the thread, so only `worker.ts` and
 * tests use this file. Templates can use only their context: no files, no other templates, no JavaScript.
 */
import { Environment } from 'minijinja-js';
import type { Json } from '../../core/json.ts';
import { complaintOf, trapOf, unknownIn, type Words } from './complaints.ts';
import { filtersFor, nameOf, type Filter } from './filters.ts';
import type { Answer, Limits, Question } from './protocol.ts';

/** The maximum number of compiled templates that are kept. */
const KEPT = 64;
const NAME = 'template';

export type Sandbox = { readonly answer: (question: Question) => Answer };

export function sandbox(limits: Limits): Sandbox {
  const compiled = new Map<string, Environment>();
  let timeZone = 'UTC';
  /**
   * The first error of a filter. A thrown exception would break minijinja permanently, so the render runs to its end and then
   * fails.
   */
  let trouble: Error | undefined;
  const takeTrouble = (): Error | undefined => {
    const taken = trouble;
    trouble = undefined;
    return taken;
  };
  let panic: string | undefined;
  let words: Words | undefined;

  /** The field names of the objects in the current context from which `plainFor` removed null fields. */
  let nulls = new Map<string, readonly string[]>();
  const safely =
    (filter: Filter) =>
    (...args: readonly unknown[]): string => {
      try {
        return filter(args[0], ...args.slice(1));
      } catch (error) {
        trouble ??= error instanceof Error ? error : new Error(String(error));
        return '';
      }
    };
  const filters = Object.entries(
    filtersFor(
      () => timeZone,
      () => nulls,
    ),
  ).map(([name, filter]) => [name, safely(filter)] as const);

  /** Makes an environment for a single template, so that no template can include another template. */
  const environment = (): Environment => {
    const made = new Environment();
    made.trimBlocks = true;
    made.lstripBlocks = true;
    made.fuel = limits.fuel;
    made.undefinedBehavior = 'lenient';
    made.enablePyCompat();
    for (const [name, filter] of filters) made.addFilter(name, filter);
    const toon = filters.find(([name]) => name === 'toon_encode');
    if (toon) made.addGlobal('toon_encode', toon[1]);
    return made;
  };
  const plain = environment();
  try {
    // minijinja reports the reason for a panic only after it has had a first error.
    plain.evalExpr('!', {});
  } catch {
    // This error is expected.
  }

  const compile = (text: string): Environment => {
    const known = compiled.get(text);
    if (known) compiled.delete(text);
    const made = known ?? environment();
    // A template name without an extension turns escaping off.
    if (!known) made.addTemplate(NAME, text);
    compiled.set(text, made);
    const [oldest] = compiled.keys();
    if (compiled.size > KEPT && oldest !== undefined) {
      compiled.get(oldest)?.free();
      compiled.delete(oldest);
    }
    return made;
  };

  const knownWords = (): Words => (words ??= wordsOf(plain));

  const attempt = (source: string, run: () => Answer): Answer => {
    takeTrouble();
    panic = undefined;
    const say = console.error;
    // minijinja prints its panics with `console.error`. The second line has the reason.
    console.error = (text: unknown) => (panic ??= String(text).split('\n')[1] ?? String(text));
    try {
      const answer = run();
      const failed = takeTrouble();
      return failed ? { kind: 'wrong', complaint: { message: failed.message } } : answer;
    } catch (error) {
      if (isComplaint(error)) return { kind: 'wrong', complaint: complaintOf(error, source, limits, knownWords) };
      return { kind: 'broken', complaint: trapOf(error, panic, limits) };
    } finally {
      console.error = say;
    }
  };

  return {
    answer(question) {
      switch (question.kind) {
        case 'render':
          return attempt(question.text, () => {
            nulls = new Map();
            const context = plainFor(JSON.parse(question.context) as Json, nulls);
            timeZone = zoneOf(context);
            const text = compile(question.text).renderTemplate(NAME, context);
            if (text.length > limits.maxChars)
              return {
                kind: 'wrong',
                complaint: { message: `result has more than ${limits.maxChars.toLocaleString('en')} characters` },
              };
            return { kind: 'text', text };
          });
        case 'evaluate':
          return attempt(question.expression, () => {
            const context = JSON.parse(question.context) as Json;
            timeZone = zoneOf(context);
            plain.fuel = limits.fuel;
            return { kind: 'value', value: isTrue(plain.evalExpr(question.expression, context)) };
          });
        case 'check':
          return attempt(question.text, () => {
            compile(question.text);
            const unknown = unknownIn(question.text, knownWords());
            return unknown ? { kind: 'wrong', complaint: unknown } : { kind: 'fine' };
          });
        case 'check_expression':
          return attempt(question.expression, () => {
            // minijinja cannot compile an expression without running it. So the expression gets too little fuel to run.
            plain.fuel = 1;
            try {
              plain.evalExpr(question.expression, {});
            } catch (error) {
              if (!isComplaint(error) || error.message.startsWith('syntax error')) throw error;
            }
            const unknown = unknownIn(`{{${question.expression}}}`, knownWords());
            return unknown ? { kind: 'wrong', complaint: unknown } : { kind: 'fine' };
          });
        default:
          return question satisfies never;
      }
    },
  };
}

/**
 * Prepares a value for minijinja, which always prints null as "none". A null field is removed, so that its output is empty, and
 * `default` and `is defined` work. `nulls` keeps the names of all fields of such an object for tables. In a list, null becomes
 * the empty text. A whole number that minijinja would print with ".0" becomes a text.
 */
function plainFor(value: Json, nulls?: Map<string, readonly string[]>): Json {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value) ? String(value) : value;
  if (Array.isArray(value)) return value.map((each: Json) => (each === null ? '' : plainFor(each, nulls)));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  const kept = Object.fromEntries(fields.flatMap(([key, each]) => (each === null ? [] : [[key, plainFor(each, nulls)]])));
  if (nulls !== undefined && fields.some(([, each]) => each === null)) {
    const name = nameOf(kept);
    nulls.set(name, [...new Set([...(nulls.get(name) ?? []), ...fields.map(([key]) => key)])]);
  }
  return kept;
}

function zoneOf(context: Json): string {
  const zone =
    typeof context === 'object' && context !== null && !Array.isArray(context)
      ? (context as Readonly<Record<string, Json>>)['time_zone']
      : undefined;
  return typeof zone === 'string' ? zone : 'UTC';
}

/** Whether minijinja threw the error. minijinja throws plain errors. Traps and overflows have other classes. */
const isComplaint = (error: unknown): error is Error =>
  error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;

/** Whether a value is true. As in Jinja, an empty value is false. */
function isTrue(value: unknown): boolean {
  if (value instanceof Map) return value.size > 0;
  if (Array.isArray(value)) return value.length > 0;
  return Boolean(value);
}

/** Reads the names of filters, tests and functions from minijinja's `debug()`. */
function wordsOf(environment: Environment): Words {
  environment.fuel = 1_000;
  const text = environment.renderNamedStr(NAME, '{{ debug() }}', {});
  const between = (opening: string, closing: string): string => {
    const start = text.indexOf(opening);
    return start < 0 ? '' : text.slice(start, text.indexOf(`\n        ${closing}`, start));
  };
  const names = (part: string): string[] =>
    Array.from(part.matchAll(/^ {12}"(?<name>\w+)"/gmu), (match) => match.groups?.['name'] ?? '');
  return {
    filter: names(between('filters: [', ']')),
    test: names(between('tests: [', ']')),
    function: names(between('globals: {', '}')),
  };
}
