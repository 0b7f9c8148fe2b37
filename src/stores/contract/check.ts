/**
 * Provides assertions that name the broken rule and the differences, and that use only Node's `assert`. An undefined field
 * counts as missing. Without a rule, the title of the case is the rule.
 */
import assert from 'node:assert/strict';
import type { EarpieceError } from '../../core/errors.ts';

export const equal = (actual: unknown, expected: unknown, rule?: string): void =>
  under(rule, () => assert.deepEqual(plain(actual), plain(expected)));

/**
 * Asserts that `actual` has the fields of the shape, with the same values. Ignores further fields. A list must have as many
 * entries as its shape.
 */
export const matches = (actual: unknown, shape: unknown, rule?: string): void => equal(part(actual, shape), shape, rule);

/** Asserts that the call rejects with an `EarpieceError` of this code. */
export async function refuses(call: Promise<unknown>, code: EarpieceError['code'], rule: string): Promise<void> {
  const outcome = await call.then(
    (value) => ({ resolved: value }),
    (error: unknown) => ({ rejected: (error as { readonly code?: unknown } | undefined)?.code ?? String(error) }),
  );
  equal(outcome, { rejected: code }, rule);
}

/**
 * Runs a check of this rule. A failure names the rule first. If an inner check names a rule, the failure keeps that rule, because
 * it is more exact.
 */
export function under<T>(rule: string | undefined, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw rule === undefined ? error : broken(rule, error);
  }
}

const BROKEN = 'broken rule: ';

export function broken(rule: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.message.startsWith(BROKEN)) return error;
  const { message, stack, cause } = error;
  // The error of fast-check has the failed check only as its cause.
  const exact = cause instanceof Error && cause.message.startsWith(BROKEN) ? cause.message : `${BROKEN}${rule}`;
  error.message = `${exact}\n${message}`;
  // Some runners print only the stack, which has the message from the time when the error was made.
  if (stack !== undefined) error.stack = stack.replace(message, () => error.message);
  return error;
}

/** Returns the value without the fields that the shape does not name. */
function part(value: unknown, shape: unknown): unknown {
  if (Array.isArray(value) && Array.isArray(shape)) return value.map((one, i) => (i < shape.length ? part(one, shape[i]) : one));
  if (!isObject(value) || !isObject(shape)) return value;
  return Object.fromEntries(Object.keys(shape).map((key) => [key, part(value[key], shape[key])]));
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, field]) => (field === undefined ? [] : [[key, plain(field)]])));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
