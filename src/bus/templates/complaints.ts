/** Turns minijinja's errors into messages for people. */
import { didYouMean } from '../../core/errors.ts';
import type { Complaint, Limits } from './protocol.ts';

/** The names that a template may use, as minijinja lists them. */
export type Words = {
  readonly filter: readonly string[];
  readonly test: readonly string[];
  readonly function: readonly string[];
};

const MESSAGE_CHARS = 300;
/**
 * Matches the place in an error of minijinja: `<kind>: <what> (in <name>:<line>)`. In some errors, the template's source follows.
 */
const PLACE = / \(in (?:template|<expression>):(?<line>\d+)\)/u;
const UNKNOWN = /^unknown (?<what>filter|test|function): (?:filter |test )?(?<name>\S+) is unknown$/u;

export function complaintOf(error: Error, source: string, { fuel }: Limits, words: () => Words): Complaint {
  const place = PLACE.exec(error.message);
  const what = (place ? error.message.slice(0, place.index) : (error.message.split('\n')[0] ?? '')).trim();
  const found = place?.groups?.['line'];
  // minijinja reports line 0 for an empty text.
  const line = found === undefined ? undefined : Math.max(1, Number(found));
  const at = (message: string): Complaint => {
    const short = message.length > MESSAGE_CHARS ? `${message.slice(0, MESSAGE_CHARS - 1).toWellFormed()}…` : message;
    return line === undefined ? { message: short } : { line, message: short };
  };

  if (what.endsWith('engine ran out of fuel')) return { message: `takes more than ${fuel.toLocaleString('en')} steps` };
  const unknown = UNKNOWN.exec(what)?.groups;
  if (unknown) {
    const kind = unknown['what'] as keyof Words;
    return at(unknownWord(kind, unknown['name'] ?? '', words()));
  }
  if (what === 'undefined value') {
    const text = source.split('\n')[(line ?? 1) - 1]?.trim() ?? '';
    return at(
      `reads a field of a value that does not exist: ${text.length > 120 ? `${text.slice(0, 119).toWellFormed()}…` : text}`,
    );
  }
  return at(what);
}

export function unknownWord(kind: keyof Words, name: string, words: Words): string {
  const near = didYouMean(name, words[kind]);
  return `unknown ${kind} ${name}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

/**
 * Explains a trap of the engine's WebAssembly module. `panic`: the reason that the module printed, or undefined if the module
 * printed no reason, for example because it ran out of memory.
 */
export function trapOf(error: unknown, panic: string | undefined, { memoryMb }: Limits): Complaint {
  const said = String(error);
  if (error instanceof RangeError || said.includes('out of bounds')) return { message: 'is nested too deeply' };
  // The template closes a tag that it never opened.
  if (panic === 'empty lexer stack') return { message: 'syntax error: unexpected "}}" or "%}"' };
  const isTrap = error instanceof Error && error.name === 'RuntimeError';
  if (panic === 'capacity overflow' || (isTrap && panic === undefined))
    return { message: `needs more than ${memoryMb} MB of memory` };
  return { message: `breaks the template engine: ${(panic ?? said).slice(0, MESSAGE_CHARS).toWellFormed()}` };
}

/**
 * Finds the first unknown filter or test. minijinja itself finds an unknown name only at run time, which is too late for a
 * checker. `text` must have compiled already. Functions are not checked, because they may be macros.
 */
export function unknownIn(text: string, words: Words): Complaint | undefined {
  for (const tag of text.matchAll(TAG)) {
    const code = tag.groups?.['code']?.replaceAll(TEXT, (quoted) => quoted.replaceAll(/[^\n]/gu, ' '));
    if (code === undefined) continue;
    for (const use of code.matchAll(USE)) {
      const { filter, block, test } = use.groups ?? {};
      const kind = test === undefined ? 'filter' : 'test';
      const name = filter ?? block ?? test ?? '';
      if (words[kind].includes(name)) continue;
      const before = text.slice(0, tag.index + tag[0].indexOf(tag.groups?.['code'] ?? '') + use.index + use[0].length);
      return { line: before.split('\n').length, message: unknownWord(kind, name, words) };
    }
  }
  return undefined;
}

const TAG =
  /\{#[\s\S]*?#\}|\{%[-+]?\s*raw\s*[-+]?%\}[\s\S]*?\{%[-+]?\s*endraw\s*[-+]?%\}|\{[{%](?<code>(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'|[^"'])*?)[%}]\}/gu;
const TEXT = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'/gu;
const USE =
  /\|\s*(?<filter>[A-Za-z_]\w*)|^[-+]?\s*filter\s+(?<block>[A-Za-z_]\w*)|\bis\s+(?:not\s+)?(?<test>(?!not\b)[A-Za-z_]\w*)/gu;
