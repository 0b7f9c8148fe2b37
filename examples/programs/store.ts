// A new store that passes the contract: a journal. A store in memory makes each change, and then the journal writes the call to
// its file. When the file is opened again, the journal repeats the calls with their recorded times. The suite needs one more
// package: npm install --save-dev fast-check
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openEarpiece } from 'earpiece';
import { memoryStore, runStoreContract, type Clock, type Store } from 'earpiece/store';

type Journal = Store & { readonly path: string };
type Change = { readonly at: number; readonly secret?: string; readonly name?: string; readonly args?: readonly unknown[] };

const CHANGES = ['append', 'touch', 'bind', 'withhold', 'withheld', 'prune', 'forget', 'erase', 'setSetting', 'swapSetting'];

async function openJournal({ path, clock = { now: Date.now } }: { path: string; clock?: Clock }): Promise<Journal> {
  let then: number | undefined;
  const inner = memoryStore({ clock: { now: () => then ?? clock.now() } });
  const change = (name: string, args: readonly unknown[]): Promise<unknown> =>
    Reflect.apply(Reflect.get(inner, name) as (...all: readonly unknown[]) => Promise<unknown>, inner, args);
  const write = (line: Change): Promise<void> => appendFile(path, `${pack(line)}\n`);

  if (!existsSync(path)) await write({ at: clock.now(), secret: randomBytes(32).toString('hex') });
  const [first, ...changes] = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(unpack);
  for (const { at, name = '', args = [] } of changes) {
    then = at;
    await change(name, args);
  }
  then = undefined;
  /** Changes run one at a time, so that the file has the order in which the changes were made. */
  let before: Promise<unknown> = Promise.resolve();

  const own: Readonly<Record<string, unknown>> = { path, name: `journal ${path}`, secret: async () => first?.secret };
  return new Proxy(inner, {
    get(target, name) {
      if (typeof name === 'string' && name in own) return own[name];
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (typeof name !== 'string' || !CHANGES.includes(name)) return value.bind(target) as unknown;
      return (...args: readonly unknown[]) => {
        const made = before.then(async () => {
          const at = clock.now();
          then = at;
          // A change that the store refused, or that its caller aborted, is not written.
          const result = await change(name, args).finally(() => (then = undefined));
          await write({ at, name, args: args.filter((arg) => !(arg instanceof Object && 'signal' in arg)) });
          return result;
        });
        before = made.catch(() => undefined);
        return made;
      };
    },
  }) as Journal;
}

/** JSON has no undefined, which means "absent" for `touch` and `swapSetting`. */
const ABSENT = '{"undefined":true}';
const pack = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) => (inner === undefined ? { undefined: true } : inner));
const unpack = (line: string): Change =>
  JSON.parse(line, (_key, inner: unknown) => (JSON.stringify(inner) === ABSENT ? undefined : inner)) as Change;

const folder = mkdtempSync(join(tmpdir(), 'earpiece-'));
after(() => rmSync(folder, { recursive: true }));
let made = 0;

runStoreContract(
  'in a journal',
  {
    make: ({ clock }) => openJournal({ clock, path: join(folder, `${made++}`) }),
    again: (store, { clock }) => openJournal({ clock, path: store.path }),
    lacks: {
      'many-processes': 'only one process may write the journal',
      'overwrites-erased': 'the journal keeps what was written; erasing needs a new journal',
    },
  },
  { describe, test },
);

void test('an earpiece on the journal keeps queued notifications', async () => {
  const path = join(folder, 'mine');
  await using ear = await openEarpiece({ db: await openJournal({ path }) });
  await ear.queue('coder', { message: 'kept' });
  await using again = await openEarpiece({ db: await openJournal({ path }) });
  const { text } = await again.conversation('coder').toolResult({ id: 'c1', content: 'ok' });
  assert.match(text, /kept/u);
});
