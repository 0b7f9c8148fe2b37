/**
 * Checks settings that a program passes, with the same values and ranges as in the configuration. Durations are milliseconds
 * here.
 */
import { LEVELS } from '../core/notification.ts';
import type { Policy } from '../core/policy.ts';
import { seen } from './problems.ts';
import { SETTINGS } from './schema.ts';
import { formatDuration, type Value } from './values.ts';

/** A problem of a setting. `text` follows the name of the key, and contains the value seen and the allowed values. */
export type PolicyProblem = { readonly key: string; readonly text: string };

type Check = (value: unknown, key: string) => PolicyProblem | undefined;

type Readable = { readonly value: Pick<Value<unknown>, 'read' | 'expects' | 'rangeMs'> };

const bySetting =
  ({ value }: Readable): Check =>
  (given, key) => {
    if (value.rangeMs !== undefined) return inMs(value.rangeMs, given, key, value.read('never').kind === 'value');
    const read = value.read(given);
    return read.kind === 'value' ? undefined : { key, text: read.problems[0]?.text ?? `must be ${value.expects}` };
  };

function inMs(
  { min, max }: { readonly min: number; readonly max: number },
  given: unknown,
  key: string,
  never: boolean,
): PolicyProblem | undefined {
  if (never && given === null) return undefined;
  if (typeof given === 'number' && Number.isInteger(given) && given >= min && given <= max) return undefined;
  const range = `whole milliseconds from ${min} to ${max} (${formatDuration(min)} to ${formatDuration(max)})`;
  return { key, text: `is ${seen(given)}; write ${range}${never ? ', or null for never' : ''}` };
}

/** Checks a table with names that the program chooses. */
const each =
  (check: Check, like: string): Check =>
  (given, key) =>
    isTable(given)
      ? firstOf(Object.entries(given), ([name, value]) => check(value, `${key}.${name}`))
      : { key, text: `is ${seen(given)}; write ${like}` };

/** Checks a table with these keys. The keys in `may` may be missing. */
const keyed =
  (checks: Readonly<Record<string, Check>>, like: string, may: readonly string[] = []): Check =>
  (given, key) => {
    if (!isTable(given)) return { key, text: `is ${seen(given)}; write ${like}` };
    const unknown = Object.keys(given).find((name) => !Object.hasOwn(checks, name));
    if (unknown !== undefined) return { key: `${key}.${unknown}`, text: `is not a known key; write ${like}` };
    return firstOf(Object.entries(checks), ([name, check]) =>
      Object.hasOwn(given, name) || !may.includes(name) ? check(given[name], `${key}.${name}`) : undefined,
    );
  };

const byLevel = (settings: Readonly<Record<(typeof LEVELS)[number], Readable>>, like: string): Check =>
  keyed(Object.fromEntries(LEVELS.map((level) => [level, bySetting(settings[level])])), like);

const flag = bySetting(SETTINGS.kind);
const minute: Check = (given, key) =>
  typeof given === 'number' && Number.isInteger(given) && given >= 0 && given < 1_440
    ? undefined
    : { key, text: `is ${seen(given)}; write whole minutes since midnight, from 0 to 1439` };

const CHECKS: { readonly [K in keyof Required<Policy>]: Check } = {
  enable: bySetting(SETTINGS.enable),
  minLevel: bySetting(SETTINGS.minLevel),
  kinds: each(
    keyed(
      { enable: flag, names: each(flag, 'an object such as {failed: false}') },
      '{names: {failed: false}} or {enable: false, names: {}}',
      ['enable'],
    ),
    'an object such as {ci: {names: {failed: false}}}',
  ),
  flat: each(flag, 'an object such as {"ci.failed": false}'),
  tools: each(each(flag, 'an object such as {stopped: false}'), 'an object such as {bash: {stopped: false}}'),
  core: bySetting(SETTINGS.core),
  maxItems: bySetting(SETTINGS.maxItems),
  maxTokens: bySetting(SETTINGS.maxTokens),
  coalesceMs: each(bySetting(SETTINGS.coalesce), 'an object such as {"*": 2000}'),
  maxDeferMs: bySetting(SETTINGS.maxDefer),
  ttlMs: byLevel(SETTINGS.ttl, `an object with ${LEVELS.join(', ')}: milliseconds, or null for never`),
  maxOpen: bySetting(SETTINGS.maxOpen),
  view: bySetting(SETTINGS.view),
  interrupt: bySetting(SETTINGS.interrupt),
  wake: byLevel(SETTINGS.wake, `an object with ${LEVELS.join(', ')}: never, ask or auto`),
  wakeQuiet: keyed({ from: minute, to: minute }, 'an object with from and to: minutes since midnight'),
  wakeMaxPerHour: bySetting(SETTINGS.wakeMaxPerHour),
  maxLevel: each(bySetting(SETTINGS.maxLevel), 'an object such as {ci: "warning"}'),
  maxItemChars: bySetting(SETTINGS.maxItemChars),
  withheld: keyed(
    { maxBytes: bySetting(SETTINGS.withheldBytes), keepMs: bySetting(SETTINGS.withheldKeep) },
    'an object with maxBytes and keepMs',
  ),
  redact: bySetting(SETTINGS.redact),
  retentionMs: bySetting(SETTINGS.retention),
  taskRetentionMs: bySetting(SETTINGS.taskRetention),
  leaseMs: bySetting(SETTINGS.lease),
};

/** Finds the first problem of settings with known keys; returns undefined if there is none. */
export const policyProblem = (policy: Partial<Policy>): PolicyProblem | undefined =>
  firstOf(Object.entries(policy), ([key, value]) =>
    value === undefined ? { key, text: 'is undefined; leave the key out' } : CHECKS[key as keyof Policy](value, key),
  );

function firstOf<T>(all: readonly T[], problem: (one: T) => PolicyProblem | undefined): PolicyProblem | undefined {
  for (const one of all) {
    const found = problem(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
