import { spawn as spawnPty } from '@lydell/node-pty';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { verifies } from '../../e2e/verifies.ts';
import { tellChatStory } from './chat/story.ts';
import { Unfulfilled } from './checks.ts';
import { tellStory } from './demo.ts';
import { Page, wrap } from './page.ts';
import { Stage } from './stage.ts';

const START = join(import.meta.dirname, '../../scripts/start.ts');

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'demo-test-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('npm start', () => {
  verifies(
    'package:start',
    async () => {
      const { code, stdout, stderr } = await ended(start([], { COLUMNS: '140' }));
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).not.toContain('\u001b');
      expect(stdout.replaceAll(/\s+/gu, ' ')).toContain('Its model is a mock: a script that ships with this demo');
      expect(stdout).toContain('compatible:a-script-and-no-model');
      expect(stdout).toMatch(/⚙ run {2}node check\.js \(in the background as tests\) · running\n/u);
      expect(stdout).toMatch(
        /⚙ run {2}[^\n]+\n┃ ▲ error tool\.failed │ Background run "tests" failed with exit code 1: 1 of 2 failed/u,
      );
      expect(count(stdout, '┃ ○ info files.changed, 3 times, unnamed │ `src/prices.json` changed')).toBe(1);
      expect(stdout).toMatch(
        /Now the entry for [^\n]* \n[^]*┃ ■ critical user\.message, asks to pause, person Maria │ Stop, please\.\n/u,
      );
      expect(stdout).toMatch(/critical user\.message for shop\/coder#story: delivered/u);
      const [, seconds] =
        /4 sends became 3 notifications, each delivered once; the first ([\d.]+) s after the start/u.exec(stdout) ?? [];
      expect(Number(seconds)).toBeLessThan(20 * othersHere());
      expect(stdout).toMatch(
        /The text that the model got [^\n]+\n┃ \[ep \w{4}\] 1 notification, [^\n]+\n┃ tool error: Background run "tests" failed with exit code 1[^\n]+\n┃ \[\/ep \w{4}\]\n/u,
      );
      expect(stdout).toMatch(/console {2}http:\/\/127\.0\.0\.1:\d+\/#code=\S+/u);
      expect(count(stdout, '✔')).toBe(5);
      await expectNothingLeft();
    },
    120_000,
  );

  test(
    'in a terminal the story runs in the chat; Ctrl+C ends first the chat and then the console',
    { timeout: 120_000 },
    async () => {
      const pty = spawnPty(process.execPath, [START], {
        name: 'xterm-256color',
        cols: 80,
        rows: 40,
        cwd: folder,
        env: inherited(),
      });
      let seen = '';
      const over = Promise.withResolvers<void>();
      const goesOn = Promise.withResolvers<void>();
      pty.onData((text) => {
        seen += text;
        if (seen.includes('The end: Ctrl+D shows the receipts.')) over.resolve();
        if (seen.includes('Ctrl+C ends')) goesOn.resolve();
      });
      const exit = new Promise<number>((resolve) => pty.onExit(({ exitCode }) => resolve(exitCode)));
      await Promise.race([over.promise, exit]);
      pty.write('\u0004');
      await Promise.race([goesOn.promise, exit]);
      pty.write('\u0003');
      expect(await exit, seen).toBe(0);
      expect(count(seen, '✔')).toBe(4);
      await expectNothingLeft();
    },
  );

  test('ends cleanly when it is stopped in the middle', { timeout: 60_000 }, async () => {
    await expectCleanStop([], 'in the background as tests');
  });

  test.each([
    ['gatway', '; did you mean gateway?'],
    ['--help', ''],
  ])('an unknown story is refused with the names of the stories: %s', async (name, near) => {
    expect(await ended(start([name], {}))).toEqual({
      code: 2,
      stdout: '',
      stderr: `earpiece: there is no story "${name}"${near} (there are two: npm start, and npm start -- gateway)\n`,
    });
  });
});

describe('npm start -- gateway', () => {
  test('shows the first delivery in under 20 seconds', async () => {
    const { code, stdout, stderr } = await ended(start(['gateway'], { COLUMNS: '140' }));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).not.toContain('\u001b');
    const model = columnOf(stdout, 'model');
    expect(count(model, '500 == 501')).toBe(1);
    expect(count(model, '`src/prices.json` changed 3 times')).toBe(1);
    expect(count(model, 'Maria asks to cancel: “Stop, please.”')).toBe(1);
    expect(count(model, 'the same text, byte for byte')).toBe(1);
    expect(count(model, '"type":"interrupt"')).toBe(1);
    expect(columnOf(stdout, 'world')).toContain('Neither call reached the server');

    const log = stdout.slice(stdout.indexOf('$ earpiece log shop/coder'), stdout.indexOf('$ earpiece why'));
    expect(wordsOf(log)).toEqual({ queued: 3, counted: 2, offered: 4, delivered: 3, refused: 2, read: 1 });
    const why = stdout.slice(stdout.indexOf('$ earpiece why'));
    expect(why).toMatch(/critical user\.message for shop\/coder#main: read/);
    const [, seconds] =
      /5 sends became 3 notifications, each delivered once; the first ([\d.]+) s after the start/.exec(why) ?? [];
    expect(Number(seconds)).toBeLessThan(20 * othersHere());
    expect(stdout.trimEnd().split('\n').slice(-3)[0]).toContain('gateway --print claude -- ');
    await expectNothingLeft();
  }, 120_000);

  test('fits into 60 columns, as a single column', { timeout: 120_000 }, async () => {
    const { code, stdout } = await ended(start(['gateway'], { COLUMNS: '60' }));
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => [...line].length > 60)).toEqual([]);
    expect(stdout).toContain('s · what happens\n');
    await expectNothingLeft();
  });

  test('ends cleanly when it is stopped in the middle', { timeout: 60_000 }, async () => {
    await expectCleanStop(['gateway'], 'waits for');
  });

  test('reports a failure in one line', async () => {
    const { code, stderr } = await ended(start(['gateway'], { TMPDIR: join(folder, 'missing') }));
    expect(code).toBe(1);
    expect(stderr.trim()).toMatch(/^earpiece: the story failed: ENOENT: .*$/);
  });
});

test("the chat's story fails if a notification was not delivered", { timeout: 60_000 }, async () => {
  const stage = new Stage();
  try {
    filter(stage, 'files.changed');
    const story = tellChatStory({ stage, page: new Page(100, () => {}), terminal: false, write: () => {} });
    await expect(story).rejects.toThrow('files.changed should have been delivered once');
  } finally {
    await stage.end();
  }
  expect(existsSync(stage.folder)).toBe(false);
});

test('the story fails if a notification was not delivered', { timeout: 60_000 }, async () => {
  const stage = new Stage();
  try {
    filter(stage, 'tool.failed');
    const story = tellStory({ stage, page: new Page(100, () => {}), paceMs: 0 });
    await expect(story).rejects.toEqual(new Unfulfilled('the failed test run was not delivered with the next result'));
  } finally {
    await stage.end();
  }
  expect(existsSync(stage.folder)).toBe(false);
});

test.each([
  ['at a space', 'one two three', 8, ['one two', 'three']],
  ['behind a comma', '{"a":1,"b":22}', 8, ['{"a":1,', '"b":22}']],
  ['inside a long word', 'abcdefgh', 3, ['abc', 'def', 'gh']],
  ['with the indent of its line', '  a b c', 5, ['  a b', '  c']],
  ['with less indent, when nothing fits beside it', '        abc', 4, ['  ab', '  c']],
  ['not, when it fits', 'a\n\nb', 10, ['a', '', 'b']],
])('the screen wraps lines %s', (_how, text, width, lines) => {
  expect(wrap(text, width)).toEqual(lines);
});

function filter(stage: Stage, kind: string): void {
  const config = join(stage.env['XDG_CONFIG_HOME'] ?? '', 'earpiece/earpiece.toml');
  mkdirSync(dirname(config), { recursive: true });
  writeFileSync(config, `[conversation.notifications.kinds]\n"${kind}" = false\n`);
}

async function expectCleanStop(args: readonly string[], when: string): Promise<void> {
  const child = start(args, {});
  const end = ended(child);
  let seen = '';
  const waiting = Promise.withResolvers<void>();
  child.stdout?.on('data', (text: string) => (seen += text).includes(when) && waiting.resolve());
  await Promise.race([waiting.promise, end]);
  child.kill('SIGINT');
  const { code, stdout, stderr } = await end;
  expect({ code, stderr }).toEqual({ code: 130, stderr: '' });
  expect(stdout.trimEnd()).toMatch(/\nStopped: its processes end, and its folder is removed\.$/);
  await expectNothingLeft();
}

/** Starts the story as `npm start` does, with a separate folder for temporary files. */
function start(args: readonly string[], env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [START, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...inherited(), ...env } });
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  return child;
}

function inherited(): NodeJS.ProcessEnv {
  const plain = Object.entries(process.env).filter(([name]) => !/COLOR$|_KEY$|_TOKEN$|^EARPIECE_|^OLLAMA_/.test(name));
  return { ...Object.fromEntries(plain), HOME: folder, TMPDIR: folder, OLLAMA_HOST: '127.0.0.1:9' };
}

async function ended(child: ChildProcess): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const out = { stdout: '', stderr: '' };
  child.stdout?.on('data', (text: string) => (out.stdout += text));
  child.stderr?.on('data', (text: string) => (out.stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...out };
}

/** The story must take at most 20 seconds on an idle machine. Returns the factor by which the current machine is slower. */
const othersHere = (): number => Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());

/** Expects that no file of the story is left in the temporary folder, and (if there is a /proc) no process of the story. */
async function expectNothingLeft(): Promise<void> {
  expect(readdirSync(folder).filter((name) => name.startsWith('earpiece-'))).toEqual([]);
  // A killed process exists until it gets the processor again.
  await expect.poll(() => processesUnder(folder), { timeout: 20_000 }).toEqual([]);
}

function processesUnder(home: string): string[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${home}`)) return [];
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return []; // The process has already ended, or belongs to another user.
      }
    });
}

function columnOf(output: string, column: 'world' | 'model'): string {
  return output
    .split('\n')
    .filter((line) => line.includes(' │'))
    .map((line) => (column === 'world' ? line.split(' │')[0] : line.split('│ ').slice(1).join('│ '))?.trim())
    .join(' ');
}

/** Returns how many lines of the log have each of these words. */
function wordsOf(log: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [, word = ''] of log.matchAll(
    / \d\d:\d\d:\d\d .*?\b(queued|counted|offered|delivered|released|closed|refused|read|observed)\b/gu,
  ))
    counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

const count = (text: string, part: string): number => text.split(part).length - 1;
