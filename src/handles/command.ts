/** Parses a model's command for a stateful tool. */
import { defined, withoutNulls } from '../core/defined.ts';
import { didYouMean } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { actionsOf, RESERVED, type Action, type Args, type Range, type StatefulTool } from './stateful-tool.ts';

export type Command =
  /** A call without `action` that begins in the foreground. */
  | { readonly kind: 'call'; readonly id?: string; readonly args: Args }
  | { readonly kind: 'spawn'; readonly id?: string; readonly args: Args }
  | { readonly kind: 'fetch'; readonly id: string; readonly range?: Range }
  | { readonly kind: 'apply'; readonly id: string; readonly text: string; readonly keys: readonly string[] }
  | { readonly kind: 'abort'; readonly id: string }
  | { readonly kind: 'bad'; readonly message: string };

const ID = /^[\p{L}\p{N}_.:@-]{1,64}$/u;

export function parseCommand(tool: StatefulTool, raw: Json): Command {
  const bad = (message: string): Command => ({ kind: 'bad', message: `${tool.name}: ${message}` });
  if (!isObject(raw)) return bad(`the arguments must be an object, got ${show(raw)}`);
  const { action, id, input, keys, from, lines, from_byte: fromByte, bytes } = withoutNulls(raw);
  const args = Object.fromEntries(Object.entries(raw).filter(([name]) => !RESERVED.includes(name)));
  if (id !== undefined && (typeof id !== 'string' || !ID.test(id)))
    return bad(`id must be at most 64 letters, digits and _ . : @ -, got ${show(id)}`);

  if (action === undefined) {
    const spawns = tool.spawns?.(args) ?? false;
    if (!spawns && tool.oneShot === false) return bad(`action is missing; write one of ${actionsOf(tool).join(', ')}`);
    const problem = checkArgs(tool, args);
    return problem === undefined ? { kind: spawns ? 'spawn' : 'call', ...defined({ id }), args } : bad(problem);
  }
  const actions = actionsOf(tool);
  if (typeof action !== 'string' || !actions.includes(action as Action)) {
    const meant = typeof action === 'string' ? didYouMean(action, actions) : undefined;
    return bad(`action must be one of ${actions.join(', ')}, got ${show(action)}${meant ? `; did you mean ${meant}?` : ''}`);
  }
  if (id === undefined)
    return bad(
      `${action} needs an id, ${action === 'spawn' ? 'a name of your choice for the handle' : 'the name of the handle'}`,
    );
  switch (action as Action) {
    case 'spawn': {
      const problem = checkArgs(tool, args);
      return problem === undefined ? { kind: 'spawn', id, args } : bad(problem);
    }
    case 'fetch': {
      const range = parseRange({ from, lines, fromByte, bytes });
      if (typeof range === 'string') return bad(range);
      return { kind: 'fetch', id, ...defined({ range }) };
    }
    case 'apply': {
      const pressed = keys ?? [];
      if (!Array.isArray(pressed) || !pressed.every((key) => typeof key === 'string'))
        return bad(`keys must be a list of names of keys, got ${show(pressed as Json)}`);
      if (input === undefined && pressed.length === 0) return bad('apply needs input or keys');
      const text = input === undefined ? '' : typeof input === 'string' ? input : JSON.stringify(input);
      return { kind: 'apply', id, text, keys: pressed };
    }
    case 'abort':
      return { kind: 'abort', id };
  }
}

/**
 * Returns the name of the handle that a call of this tool would spawn. Undefined if the call spawns no handle or does not name
 * it.
 */
export function spawnedId(tool: StatefulTool, raw: Json): string | undefined {
  if (!isObject(raw) || typeof raw['id'] !== 'string') return undefined;
  const { action, id, ...args } = raw;
  const spawns = action === undefined || action === null ? (tool.spawns?.(args) ?? false) : action === 'spawn';
  return spawns ? id : undefined;
}

function checkArgs(tool: StatefulTool, args: Args): string | undefined {
  for (const name of tool.parameters.required ?? []) if (args[name] === undefined) return `needs ${name}`;
  return tool.check?.(args);
}

function parseRange(
  given: Readonly<Record<'from' | 'lines' | 'fromByte' | 'bytes', Json | undefined>>,
): Range | undefined | string {
  const whole = (name: string, value: Json | undefined, least: number): number | undefined | string => {
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    return typeof number === 'number' && Number.isSafeInteger(number) && number >= least
      ? number
      : `${name} must be a whole number${least > Number.MIN_SAFE_INTEGER ? `, at least ${least}` : ''}, got ${show(value)}`;
  };
  const from = whole('from', given.from, Number.MIN_SAFE_INTEGER);
  const lines = whole('lines', given.lines, 1);
  const fromByte = whole('from_byte', given.fromByte, 0);
  const bytes = whole('bytes', given.bytes, 1);
  for (const problem of [from, lines, fromByte, bytes]) if (typeof problem === 'string') return problem;
  const byLine = from !== undefined || lines !== undefined;
  const byByte = fromByte !== undefined || bytes !== undefined;
  if (byLine && byByte) return 'fetch reads by lines (from, lines) or by bytes (from_byte, bytes), not by both';
  if (byByte)
    return { fromByte: (fromByte as number | undefined) ?? 0, ...(bytes === undefined ? {} : { bytes: bytes as number }) };
  if (!byLine) return undefined;
  return { from: (from as number | undefined) ?? 1, ...(lines === undefined ? {} : { lines: lines as number }) };
}

export const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a value as JSON for a message, cut to 80 characters. */
export function show(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
