/**
 * Runs the contract suite of the store port. A store must pass all cases, except the cases of capabilities that the store lacks
 * by design.
 */
import { EarpieceError } from '../../core/errors.ts';
import type { Store } from '../../core/ports.ts';
import { append } from './cases/append.ts';
import { changed } from './cases/changed.ts';
import { conversations } from './cases/conversations.ts';
import { effects } from './cases/effects.ts';
import { end } from './cases/end.ts';
import { listing } from './cases/listing.ts';
import { many } from './cases/many.ts';
import { reading } from './cases/read.ts';
import { reopened } from './cases/reopened.ts';
import { replayed } from './cases/replayed.ts';
import { erase, forget, prune } from './cases/retention.ts';
import { time } from './cases/time.ts';
import { onStage, type Suite } from './suite.ts';
import { CAPABILITIES, type Capability, type StoreUnderTest } from './under-test.ts';

/** `describe` and `test` of `node:test`, or of vitest. */
export type TestRunner = {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (
    name: string,
    options: { readonly skip: boolean; readonly timeout: number },
    body: () => Promise<void>,
  ) => unknown;
};

/** Registers one test for each case. The suite works with `node:test` and with vitest, and needs the package fast-check. */
export function runStoreContract<S extends Store>(name: string, backend: StoreUnderTest<S>, runner: TestRunner): void {
  checkRunner(runner);
  checkBackend(name, backend);
  const { describe, test } = runner;
  const { lacks = {} } = backend;
  const suiteOf = (group: string): Suite => {
    const suite: Suite = {
      test: (title, body) =>
        void test(title, { skip: false, timeout: TIMEOUT_MS }, () => onStage(backend, `${group}: ${title}`, body)),
      testWhere(needs, title, body) {
        const lacked = [needs].flat().find((one) => lacks[one] !== undefined);
        if (lacked === undefined) suite.test(title, body);
        else void test(`${title} (not here: ${lacks[lacked]})`, { skip: true, timeout: TIMEOUT_MS }, async () => {});
      },
    };
    return suite;
  };
  void describe(`Store: ${name}`, () => {
    for (const [title, cases] of Object.entries(CASES)) void describe(title, () => cases(suiteOf(title)));
  });
}

const CASES: Readonly<Record<string, (suite: Suite) => void>> = {
  append,
  time,
  'each record and its effect': effects,
  'the index': (suite) => (replayed(suite), listing(suite)),
  read: reading,
  conversations,
  erase,
  prune,
  forget,
  changed,
  'many at once': many,
  'the end': end,
  'opened again': reopened,
};

/** The time limit of a case, in ms. On a slow machine, the random logs need much of this time. */
const TIMEOUT_MS = 90_000;

/** Throws for a JavaScript program that passes no test runner. */
function checkRunner(runner: Partial<TestRunner> | undefined): void {
  const missing = (['describe', 'test'] as const).find((one) => typeof runner?.[one] !== 'function');
  if (missing !== undefined)
    throw new EarpieceError(
      'bad_argument',
      `runStoreContract: the third argument has no ${missing}(); pass { describe, test } of node:test or of vitest`,
    );
}

function checkBackend<S extends Store>(name: string, { make, again, contents, lacks = {} }: StoreUnderTest<S>): void {
  if (typeof make !== 'function')
    throw new EarpieceError(
      'bad_argument',
      `the store ${JSON.stringify(name)} has no make(): add make(), which opens a new, empty store`,
    );
  const unknown = Object.keys(lacks).find((one) => !(CAPABILITIES as readonly string[]).includes(one));
  if (unknown !== undefined)
    throw new EarpieceError(
      'bad_argument',
      `unknown capability ${JSON.stringify(unknown)}; a store may lack ${CAPABILITIES.join(', ')}`,
    );
  const missing = (method: string, purpose: string, needed: Capability): EarpieceError =>
    new EarpieceError(
      'bad_argument',
      `the store ${JSON.stringify(name)} has no ${method}(), which the cases of ${needed} need to ${purpose}: add ${method}(), or give the reason in lacks`,
    );
  const reopens = (['survives-restart', 'many-processes'] as const).find((one) => lacks[one] === undefined);
  if (again === undefined && reopens !== undefined) throw missing('again', 'open the store a second time', reopens);
  if (contents === undefined && lacks['overwrites-erased'] === undefined)
    throw missing('contents', 'search the bytes of the store', 'overwrites-erased');
}
