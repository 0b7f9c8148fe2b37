/** Tests `earpiece run-and-tell` with real commands and a real log. */
import { spawn as spawnChild } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { spawn as spawnPty } from '@lydell/node-pty';
import { describe, expect, it } from 'vitest';
import type { EventInput } from '../../src/core/event.ts';
import { EarpieceError } from '../../src/index.ts';
import { membersOf } from '../../src/handles/sessions.ts';
import { runAndTell } from '../../src/sources/processes/index.ts';
import { Running, Shell } from '../cli/shell.ts';
import { CLI } from '../built.ts';
import { proves, verifies } from '../verifies.ts';

type Told = {
  readonly kind: string;
  readonly level: string;
  readonly message: string;
  readonly data: {
    readonly exit_code: number | null;
    readonly signal?: string;
    readonly last_lines: readonly string[];
    readonly timed_out?: boolean;
  };
};

/** Returns the agent's waiting notifications, oldest first. */
async function told(shell: Shell, agent = 'shop/coder'): Promise<readonly Told[]> {
  const ear = await shell.open();
  return (await ear.open(agent)).map(({ notification: { kind, level, message, data } }) => ({
    kind: `${kind.source}.${kind.name}`,
    level,
    message,
    data: data as Told['data'],
  }));
}

const tell = (...command: readonly string[]): readonly string[] => ['run-and-tell', '--to', 'coder', '--', ...command];
const node = (script: string): readonly string[] => tell(process.execPath, '-e', script);

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const standStill = (ms: number): unknown => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

describe('run-and-tell', () => {
  proves('sources:processes', 'cli:commands');

  verifies(
    'sources:processes',
    'a failing test suite keeps its whole output and exit code, and the agent gets the failing line',
    async () => {
      await using shell = new Shell();
      writeFileSync(
        join(shell.folder, 'till.test.mjs'),
        `import { test } from 'node:test';
import assert from 'node:assert/strict';
test('adds', () => assert.equal(1 + 1, 2));
test('gives change', () => assert.equal(0.1 + 0.2, 0.3, 'the change is wrong'));
`,
      );
      const alone = ['--test', '--test-reporter=spec', 'till.test.mjs'];
      const { code, stdout, stderr } = await shell.run([
        'run-and-tell',
        '--to',
        'coder',
        '--name',
        'the tests',
        '--',
        process.execPath,
        ...alone,
      ]);
      expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
      expect(stdout).toContain('✔ adds');
      expect(stdout).toContain('the change is wrong');
      const [failed] = await told(shell);
      expect(failed).toMatchObject({ kind: 'process.failed', level: 'error', data: { exit_code: 1, name: 'the tests' } });
      expect(failed?.message).toMatch(
        /^the tests failed with exit code 1 after \d+ (?:ms|s): .*(?:change is wrong|✖|fail|AssertionError)/u,
      );
      expect(failed?.data.last_lines).toHaveLength(20);

      // The test is now fixed, and the newest outcome counts.
      writeFileSync(join(shell.folder, 'till.test.mjs'), `import { test } from 'node:test';\ntest('adds', () => {});\n`);
      expect(
        (await shell.run(['run-and-tell', '--to', 'coder', '--name', 'the tests', '--', process.execPath, ...alone])).code,
      ).toBe(0);
      const ear = await shell.open();
      const carried = await ear
        .conversation('shop/coder#main')
        .carry({ type: 'chat_request', content: 'hi' }, { at: 'turn_start' });
      const text = JSON.stringify(carried);
      expect(text).toContain('the tests succeeded');
      expect(text).not.toContain('the tests failed');
    },
  );

  it('the message names a problem that the command printed long before its end, and a test below printed text with empty lines', async () => {
    await using shell = new Shell();
    const quiet = 'Array.from({ length: 600 }, (_, i) => "line " + i + " quiet").join("\\n")';
    await shell.run(node(`console.log("a.ts(1,2): error TS2322: no cart\\n" + ${quiet}); process.exit(1)`));
    const jest =
      '  ● Console\n\n    console.log\n      hello\n\n      at log (a.test.js:1:9)\n\n  ● adds\n\n    TypeError: no sum\n';
    await shell.run(node(`console.error(${JSON.stringify(jest)}); process.exit(1)`));
    const [first, second] = await told(shell);
    expect(first?.message).toMatch(/: TS2322: no cart \(a\.ts:1:2\)$/u);
    expect(second?.message).toMatch(/: adds: TypeError: no sum$/u);
  });

  it('stdin, stdout and stderr pass unchanged, and Earpiece adds nothing', async () => {
    await using shell = new Shell();
    const script = `process.stdin.on('data', (d) => process.stdout.write('\\x1b[32m' + d + '\\x1b[0m')).on('end', () => process.stderr.write('done\\n'))`;
    expect(await shell.run(node(script), { input: 'größe 🦊\n' })).toEqual({
      code: 0,
      stdout: '\u001b[32mgröße 🦊\n\u001b[0m',
      stderr: 'done\n',
    });
    expect((await told(shell))[0]?.data.last_lines.toSorted()).toEqual(['done', 'größe 🦊']);
  });

  it('characters that are split between two writes stay whole', async () => {
    await using shell = new Shell();
    const script = `const b = Buffer.from('a 🦊 漢\\n'); let i = 0; const t = setInterval(() => { if (i === b.length) return clearInterval(t); process.stdout.write(b.subarray(i, ++i)); }, 3)`;
    expect((await shell.run(node(script))).stdout).toBe('a 🦊 漢\n');
    expect((await told(shell))[0]?.data.last_lines).toEqual(['a 🦊 漢']);
  });

  it('outside of a terminal, the command gets pipes that scripts can open', async () => {
    await using shell = new Shell();
    const { code, stdout, stderr } = await shell.run(
      tell('sh', '-c', 'echo out > /dev/stdout; echo err > /dev/stderr; [ -p /dev/stdout ]'),
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'out\n', stderr: 'err\n' });
  });

  it('100 MB of output pass, and the memory stays flat', async () => {
    await using shell = new Shell();
    const script = `const line = 'x'.repeat(999) + '\\n'; let n = 0; const go = () => { while (n++ < 100_000) if (!process.stdout.write(line)) return process.stdout.once('drain', go); }; go()`;
    const child = spawnChild(process.execPath, [CLI, ...node(script)], {
      cwd: shell.folder,
      env: shell.env(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const peak = (): number =>
      Number(/VmHWM:\s+(\d+)/u.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
    let bytes = 0;
    let early = 0;
    let late = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (process.platform !== 'linux') return;
      if (early === 0 && bytes > 20_000_000) early = peak();
      if (late === 0 && bytes > 99_000_000) late = peak();
    });
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect({ code, bytes }).toEqual({ code: 0, bytes: 100_000_000 });
    expect(late - early).toBeLessThan(48);
    const [ended] = await told(shell);
    expect(ended?.data.last_lines).toHaveLength(20);
    expect(ended?.data.last_lines[0]).toHaveLength(400);
  });

  it.each<[string, readonly string[], number, RegExp, string]>([
    [
      'not there',
      ['no-such-command', 'x'],
      127,
      /^`no-such-command x` could not be started: the command does not exist$/u,
      'earpiece: no-such-command: the command does not exist\n',
    ],
    [
      'no program',
      ['./earpiece.toml'],
      126,
      /could not be started: the file cannot be executed$/u,
      'earpiece: ./earpiece.toml: the file cannot be executed\n',
    ],
    ['ended by a signal', ['sh', '-c', 'kill -9 $$'], 137, /was ended by SIGKILL after/u, ''],
    [
      'ended by itself',
      ['sh', '-c', 'echo "disk full" >&2; exit 42'],
      42,
      /failed with exit code 42 after .*: disk full$/u,
      'disk full\n',
    ],
  ])('the exit code is kept: %s', async (_what, command, code, message, stderr) => {
    await using shell = new Shell();
    expect(await shell.run(tell(...command))).toEqual({ code, stdout: '', stderr });
    const [failed] = await told(shell);
    expect(failed?.kind).toBe('process.failed');
    expect(failed?.message).toMatch(message);
  });

  it('signals reach the command, which may handle them freely', async () => {
    await using shell = new Shell();
    for (const [signal, number] of [
      ['SIGTERM', 15],
      ['SIGINT', 2],
    ] as const) {
      const polite = shell.begin(
        node(
          `process.on('${signal}', () => { console.log('tidying up'); process.exit(7) }); setTimeout(() => {}, 20_000); console.log('ready')`,
        ),
      );
      await polite.shows('ready');
      polite.process.kill(signal);
      expect(await polite.ended).toMatchObject({ code: 7, signal: null, stdout: 'ready\ntidying up\n' });
      const plain = shell.begin(tell('sh', '-c', 'echo ready; exec sleep 60'));
      await plain.shows('ready');
      plain.process.kill(signal);
      expect((await plain.ended).code).toBe(128 + number);
    }
    expect((await told(shell)).map((each) => [each.data.exit_code, each.data.signal])).toEqual([
      [7, undefined],
      [null, 'SIGTERM'],
      [7, undefined],
      [null, 'SIGINT'],
    ]);
  });

  it('--timeout ends the command and every process that it started, and gives exit code 124', async () => {
    await using shell = new Shell();
    const { code, stdout } = await shell.run([
      'run-and-tell',
      '--to',
      'coder',
      '--timeout',
      '300ms',
      '--',
      'sh',
      '-c',
      'sleep 60 & echo $$; wait',
    ]);
    expect(code).toBe(124);
    // On a slow machine, the time limit may end the process before it prints its id.
    if (stdout !== '') expect(membersOf(Number(stdout))).toEqual([]);
    expect((await told(shell))[0]).toMatchObject({
      data: { timed_out: true },
      message: expect.stringMatching(/was ended after \d+ m?s, its time limit/u) as string,
    });
  });

  it('processes that the command leaves running are not awaited', async () => {
    await using shell = new Shell();
    const { code, stdout } = await shell.run(tell('sh', '-c', 'sleep 60 & echo $!'));
    process.kill(Number(stdout));
    expect(code).toBe(0);
  });

  it("output that comes soon after the command's end is passed on, even if Earpiece was blocked at that time", async () => {
    await using shell = new Shell();
    const [go, gone] = [join(shell.folder, 'go'), join(shell.folder, 'gone')];
    // The command ends and leaves a process running, which keeps the pipe open and writes one more line.
    const script = `(until [ -e "$0" ]; do sleep 0.01; done; echo late; : > "$1"; exec sleep 60) & echo $$ $!`;
    const out = new PassThrough().setEncoding('utf8');
    let text = '';
    const first = new Promise((resolve) => out.on('data', (more: string) => resolve((text += more))));
    const run = runAndTell({
      command: 'sh',
      args: ['-c', script, go, gone],
      subject: 'shop/coder',
      stdout: out,
      emitter: { emit: () => Promise.reject(new EarpieceError('store_refused', 'no')) },
    });
    await first;
    const [itself, left] = text.split(' ').map(Number) as [number, number];
    while (isThere(itself)) await new Promise(setImmediate);
    writeFileSync(go, '');
    // This process blocks until the line is written, and then longer than the silence that run-and-tell waits for. So the timers
    // run before the waiting data is read.
    while (!existsSync(gone)) standStill(10);
    standStill(300);
    await run;
    process.kill(left);
    expect(text).toBe(`${itself} ${left}\nlate\n`);
  });

  it('if the reader closes the pipe, the command ends as it would without run-and-tell', async () => {
    await using shell = new Shell();
    const child = spawnChild(
      'bash',
      ['-c', `"$0" "$1" run-and-tell --to coder -- yes | head -n 1; echo "\${PIPESTATUS[0]}"`, process.execPath, CLI],
      { cwd: shell.folder, env: shell.env(), stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    await new Promise((resolve) => child.once('close', resolve));
    expect(out).toBe('y\n141\n');
    expect((await told(shell))[0]).toMatchObject({
      kind: 'process.ended',
      level: 'info',
      message: expect.stringMatching(/^`yes` ended after .*, because the reader of its output closed: y$/u) as string,
      data: { signal: 'SIGPIPE' },
    });
  });

  it('in a terminal the command gets a terminal with its size, its colours and its keys', async () => {
    await using shell = new Shell();
    // A second key ends the program after the test has read all output, because a terminal may drop output after the end.
    const script = `process.stdin.setRawMode(true).once('data', (d) => { console.log(JSON.stringify([String(d), process.stdout.columns, process.stdout.rows, process.stdout.hasColors()])); process.stdin.once('data', () => process.exit(5)) }); process.stdout.write('\\x1b[31mready\\x1b[0m\\n')`;
    const pty = spawnPty(process.execPath, [CLI, ...node(script)], {
      cwd: shell.folder,
      env: shell.env({ TERM: 'xterm-256color' }),
      cols: 77,
      rows: 11,
    });
    let out = '';
    let look = (): void => {};
    pty.onData((text) => {
      out += text;
      look();
    });
    const ended = new Promise<{ exitCode: number }>((resolve) => pty.onExit(resolve));
    const shows = (text: string): Promise<unknown> =>
      Promise.race([
        ended,
        new Promise<void>((resolve) => {
          look = () => (out.includes(text) ? resolve() : undefined);
          look();
        }),
      ]);
    await shows('\u001b[31mready\u001b[0m');
    pty.write('\u0003');
    await shows(JSON.stringify(['\u0003', 77, 11, true]));
    pty.write('x');
    expect((await ended).exitCode).toBe(5);
    expect(out).toContain('\u001b[31mready\u001b[0m');
    expect(out).toContain(JSON.stringify(['\u0003', 77, 11, true]));
    expect((await told(shell))[0]?.data.last_lines).toEqual(['ready', JSON.stringify(['\u0003', 77, 11, true])]);
  });

  it('in a terminal without the optional package, the command gets pipes, and the output names the package to install', async () => {
    await using shell = new Shell();
    const hook = `import { registerHooks } from 'node:module';
registerHooks({ resolve(specifier, context, next) { if (specifier === '@lydell/node-pty') throw new Error('not installed'); return next(specifier, context); } });`;
    const without = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
    const script = 'console.log(`on a terminal: ${process.stdout.isTTY === true}`)';
    const pty = spawnPty(process.execPath, [...without, CLI, ...node(script)], {
      cwd: shell.folder,
      env: shell.env(),
      cols: 200,
    });
    let out = '';
    pty.onData((text) => (out += text));
    const { exitCode } = await new Promise<{ exitCode: number }>((resolve) => pty.onExit(resolve));
    expect(exitCode).toBe(0);
    expect(out).toContain('on a terminal: false');
    expect(out).toContain('For a terminal, run: npm install @lydell/node-pty');
  });
});

describe('a failing store', () => {
  proves('sources:processes', 'cli:emit');

  it('changes neither output nor exit code, and prints a command that reports the result later', async () => {
    await using shell = new Shell();
    mkdirSync(join(shell.folder, 'tmp'));
    const closed = join(shell.folder, 'no-database.db');
    writeFileSync(
      closed,
      'this is no database, but a text that is long enough to look like one to whom only counts bytes'.repeat(20),
    );
    const env = { EARPIECE_DB: closed, TMPDIR: join(shell.folder, 'tmp') };
    const { code, stdout, stderr } = await shell.run(tell('sh', '-c', 'echo fine; exit 9'), { env });
    expect({ code, stdout }).toEqual({ code: 9, stdout: 'fine\n' });
    const [, file] =
      /^earpiece: shop\/coder was not notified of the result: [^\n]*; to send the notification later: earpiece emit (\S+)\n$/u.exec(
        stderr,
      ) ?? [];
    expect(file).toBeDefined();
    expect(await shell.says(['emit', file as string])).toMatch(/^process_ended: queued \S+ for shop\/coder\n$/u);
    // A second `emit` of the same event queues no second notification.
    expect(await shell.says(['emit', file as string])).toMatch(/was already queued for shop\/coder; nothing changed\n$/u);
    expect((await told(shell)).map((each) => each.data.exit_code)).toEqual([9]);
  });

  it('is retried with the same id until it works', async () => {
    const seen: (string | undefined)[] = [];
    const emit = async (event: EventInput): Promise<never> => {
      seen.push(event.id);
      if (seen.length < 3) throw new EarpieceError('store_unavailable', 'busy', { retryable: true });
      throw new EarpieceError('store_refused', 'no');
    };
    const { exitCode, telling } = await runAndTell({ command: 'true', subject: 'shop/coder', emitter: { emit } });
    expect(exitCode).toBe(0);
    expect(telling).toMatchObject({ kind: 'untold', error: { code: 'store_refused' } });
    expect(new Set(seen).size).toBe(1);
    expect(seen).toHaveLength(3);
    let tries = 0;
    const never = async (): Promise<never> => {
      tries++;
      throw new EarpieceError('store_unavailable', 'busy', { retryable: true });
    };
    expect(
      (await runAndTell({ command: 'true', subject: 'shop/coder', emitter: { emit: never }, tellWithinMs: 200 })).telling.kind,
    ).toBe('untold');
    expect(tries).toBeGreaterThan(1);
  });

  it('a missing recipient is reported, and does not change the command', async () => {
    await using shell = new Shell();
    const { code, stdout, stderr } = await shell.run(['run-and-tell', '--', 'echo', 'hi']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' });
    expect(stderr).toMatch(/^earpiece: shop\/\* was not notified of the result: no conversation is active in project "shop"/u);
    expect((await told(shell)).length).toBe(0);
  });

  it('in the shell of an agent, notifies this agent', async () => {
    await using shell = new Shell();
    const claude = join(shell.folder, 'claude.cjs');
    writeFileSync(
      claude,
      `require('node:child_process').spawnSync(process.execPath, process.argv.slice(2), { stdio: 'inherit' });`,
    );
    const ear = await shell.open();
    for (const agent of ['shop/claude-code', 'shop/codex']) await ear.conversation(`${agent}#s-1`).seen();
    const child = spawnChild(process.execPath, [claude, CLI, 'run-and-tell', '--', 'false'], {
      cwd: shell.folder,
      env: shell.env(),
      stdio: 'pipe',
    });
    expect(await new Running(child).ended).toMatchObject({ stderr: '' });
    expect(await told(shell, 'shop/claude-code')).toMatchObject([{ kind: 'process.failed' }]);
    expect(await told(shell, 'shop/codex')).toEqual([]);
  });

  it('a wrong address or configuration is reported before the command runs', async () => {
    await using shell = new Shell();
    const file = join(shell.folder, 'ran');
    const bad = await shell.run(['run-and-tell', '--to', 'a/b/c', '--', 'touch', file]);
    expect(bad.code).toBe(2);
    expect(() => readFileSync(file)).toThrow(/ENOENT/u);
  });
});
