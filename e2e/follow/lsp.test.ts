/** Tests `earpiece follow lsp` with real language servers: the new errors in changed files, each until it is fixed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { add, looker } from '../../src/sources/follow/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

const BIN = join(import.meta.dirname, '../../node_modules/.bin');
/** One of the servers needs a TypeScript compiler of a version before 7, which another package contains. */
const OLD_COMPILER = dirname(
  dirname(createRequire(createRequire(import.meta.url).resolve('@arethetypeswrong/core')).resolve('typescript')),
);

let shell: Shell;
let ear: LoadedInbox;
beforeEach(async () => {
  shell = new Shell();
  ear = await shell.open();
  mkdirSync(join(shell.folder, 'src'));
  mkdirSync(join(shell.folder, 'node_modules'));
  symlinkSync(OLD_COMPILER, join(shell.folder, 'node_modules/typescript'));
  writeFileSync(join(shell.folder, '.gitignore'), 'node_modules\n');
  writeFileSync(
    join(shell.folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { strict: true, noEmit: true, types: [], lib: ['es2023'] }, include: ['src'] }),
  );
});
afterEach(async () => {
  const owner = await looker(ear.store, 'shop', ear.isAlive);
  if (owner !== undefined) process.kill(owner.pid, 'SIGTERM');
  await until(
    () => looker(ear.store, 'shop', ear.isAlive),
    (now) => now === undefined,
  );
  await shell[Symbol.asyncDispose]();
});

async function until<T>(ask: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (isSo(value)) return value;
    await pause(100);
  }
}
const open = async (): Promise<readonly string[]> =>
  (await ear.open('shop/coder')).map(({ notification: { message } }) => message).toSorted();
const seen = async (): Promise<unknown> => (await shell.json(['following']))[0]?.['says'];
const file = (name: string, text: string): void => writeFileSync(join(shell.folder, 'src', name), text);
const git = (...args: string[]): unknown =>
  execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=a@b', ...args], { cwd: shell.folder, stdio: 'pipe' });

const CODE = {
  'price.ts': 'export const price: number = 3;\n',
  'cart.ts': "import { price } from './price';\nexport const sum = price + 1;\n",
};
const OLD_ERROR = "export const old: number = 'wrong before';\n";

const SERVERS: readonly (readonly [string, readonly string[]])[] = [
  ['typescript-language-server', [join(BIN, 'typescript-language-server'), '--stdio']],
  ['the compiler from version 7 on', [join(BIN, 'tsc'), '--lsp', '--stdio']],
];

for (const [name, command] of SERVERS)
  verifies(
    'follow:lsp',
    `${name}: after three wrong edits and two fixes, one error is open; an error of the last commit is not reported`,
    async () => {
      for (const [path, text] of Object.entries(CODE)) file(path, text);
      file('old.ts', OLD_ERROR);
      git('init', '-q');
      git('add', '.');
      git('commit', '-qm', 'one');
      await shell.says(['follow', 'lsp', '--to', 'coder', '--keep', '--', ...command]);
      await until(seen, (says) => says === '0 changed files, no errors');
      file('price.ts', "export const price: number = 'three';\n");
      file('cart.ts', "import { price } from './price';\nexport const sum: string = price + 1;\n");
      file('old.ts', `${OLD_ERROR}export const none = nothing;\n`);
      expect(await until(open, (all) => all.length >= 3)).toEqual([
        "TS2304: Cannot find name 'nothing'. (src/old.ts:2:21)",
        "TS2322: Type 'number' is not assignable to type 'string'. (src/cart.ts:2:14)",
        "TS2322: Type 'string' is not assignable to type 'number'. (src/price.ts:1:14)",
      ]);
      for (const [path, text] of Object.entries(CODE)) file(path, text);
      expect(await until(open, (all) => all.length < 2)).toEqual(["TS2304: Cannot find name 'nothing'. (src/old.ts:2:21)"]);
      const says = await until(seen, (now) => String(now).startsWith('3 changed files, 1'));
      expect(readFileSync(join(import.meta.dirname, '../../docs/guides/follow.md'), 'utf8')).toContain(says);
    },
    120_000,
  );

it('after kill -9 the next process checks the same files: no error is reported twice, and fixed errors are withdrawn', async () => {
  proves('follow:lsp', 'follow:told-once');
  const follow = (): Promise<string> =>
    shell.says(['follow', 'lsp', '--to', 'coder', '--keep', '--', join(BIN, 'tsc'), '--lsp', '--stdio']);
  await follow();
  await until(seen, (says) => says === '0 changed files, no errors');
  file('a.ts', 'export const a: number = "one";\n');
  file('b.ts', 'export const b: number = "two";\n');
  await until(open, (all) => all.length === 2);
  const owner = await looker(ear.store, 'shop', ear.isAlive);
  process.kill(owner?.pid ?? 0, 'SIGKILL');
  file('a.ts', 'export const a: number = 1;\n');
  await until(
    () => looker(ear.store, 'shop', ear.isAlive),
    (now) => now === undefined,
  );
  await follow();
  const [left] = await until(open, (all) => all.length < 2);
  expect(left).toContain('(src/b.ts:1:14)');
  await until(seen, (says) => says === '2 changed files, 1 error');
}, 120_000);

it('files that change before the server has started, or while no process runs, are checked', async () => {
  proves('follow:lsp');
  file('old.ts', OLD_ERROR);
  const past = new Date(Date.now() - 3_600_000);
  utimesSync(join(shell.folder, 'src/old.ts'), past, past);
  const follow = (): Promise<string> =>
    shell.says(['follow', 'lsp', '--to', 'coder', '--keep', '--', join(BIN, 'tsc'), '--lsp', '--stdio']);
  await follow();
  file('early.ts', 'export const early: number = "early";\n');
  expect(await until(open, (all) => all.length > 0)).toEqual([expect.stringContaining('(src/early.ts:1:14)')]);
  await until(seen, (says) => says === '1 changed file, 1 error');
  const owner = await looker(ear.store, 'shop', ear.isAlive);
  process.kill(owner?.pid ?? 0, 'SIGKILL');
  await until(
    () => looker(ear.store, 'shop', ear.isAlive),
    (now) => now === undefined,
  );
  file('late.ts', 'export const late: number = "late";\n');
  await follow();
  expect(await until(open, (all) => all.length > 1)).toContainEqual(expect.stringContaining('(src/late.ts:1:14)'));
  await until(seen, (says) => says === '2 changed files, 2 errors');
}, 120_000);

for (const point of ['follow.planned', 'follow.told', 'append.committed'])
  it(`killed at ${point} of the first error: if the error is fixed, nothing is open; otherwise it is reported once`, async () => {
    proves('follow:lsp', 'follow:told-once');
    const what = { kind: 'lsp', folder: shell.folder, command: [join(BIN, 'tsc'), '--lsp', '--stdio'] } as const;
    for (const fixed of [true, false]) {
      const { followed } = await add(ear.store, 'shop', { uid: ear.ids.make('f'), what, to: 'shop/coder', keep: true });
      const name = `${fixed ? 'fixed' : 'wrong'}.ts`;
      const doomed = shell.begin(['follow', '--look', 'shop'], { env: { EARPIECE_FAULT: `${point}:1` } });
      await until(seen, (says) => says === '0 changed files, no errors');
      file(name, 'export const a: number = "one";\n');
      expect((await doomed.ended).signal).toBe('SIGKILL');
      if (fixed) file(name, 'export const a: number = 1;\n');
      const looks = shell.begin(['follow', '--look', 'shop']);
      // The error of another file shows that the check of the first file is complete. The other file is written repeatedly, until
      // the process watches it.
      const others = async (): Promise<readonly string[]> => {
        file('other.ts', `export const other: number = "other"; // ${performance.now()}\n`);
        return open();
      };
      await until(others, (all) => all.some((message) => message.includes('other.ts')));
      expect((await open()).filter((message) => message.includes(name))).toHaveLength(fixed ? 0 : 1);
      const queued = (await shell.json(['log', 'coder'])).filter(
        ({ type, message }) => type === 'system_notification_queued' && String(message).includes(name),
      );
      expect(queued.length).toBeLessThanOrEqual(1);
      rmSync(join(shell.folder, 'src/other.ts'));
      await shell.says(['unfollow', followed.id]);
      expect((await looks.ended).code).toBe(0);
    }
  }, 120_000);

it('earpiece following names a language server that does not exist or has ended', async () => {
  proves('follow:lsp');
  writeFileSync(join(shell.folder, 'no-such-server'), '#!/no/such/program\n', { mode: 0o755 });
  await shell.says(['follow', 'lsp', '--to', 'coder', '--keep', '--', './no-such-server', '--stdio']);
  await until(seen, (says) => String(says).includes('no-such-server: the command does not exist (one failure'));
  await shell.says(['unfollow', 'f1']);
  await shell.says([
    'follow',
    'lsp',
    '--to',
    'coder',
    '--keep',
    '--',
    process.execPath,
    '-e',
    'console.error("no licence");process.exit(3)',
  ]);
  await until(seen, (says) => String(says).includes('ended (code 3): no licence'));
}, 60_000);
