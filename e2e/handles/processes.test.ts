/** Tests the tool `run` with real processes. */
import { mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { systemProcesses } from '../../src/inbox/index.ts';
import { runTool } from '../../src/handles/index.ts';
import { membersOf } from '../../src/handles/sessions.ts';
import { stage } from './stage.ts';

describe('run to the end', () => {
  it('answers with output and exit code, both streams in order', async () => {
    const { call } = stage([runTool()]);
    expect(await call('run', { command: 'echo one; echo two >&2; echo three' })).toEqual({
      content: 'one\ntwo\nthree\n[exit code 0]',
    });
    expect(await call('run', { command: 'true' })).toEqual({ content: '(no output)\n[exit code 0]' });
    expect(await call('run', { command: 'echo bad; exit 3' })).toEqual({ content: 'bad\n[exit code 3]', isError: true });
    expect(await call('run', { command: 'kill -KILL $$' })).toEqual({
      content: '(no output)\n[ended by SIGKILL]',
      isError: true,
    });
  });

  it('gives the command an empty stdin, the requested folder and the requested environment', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-cwd-')));
    const { call } = stage([runTool({ cwd: folder, env: { COLOUR: 'red' } })]);
    expect((await call('run', { command: 'cat; pwd; echo $COLOUR' })).content).toBe(`${folder}\nred\n[exit code 0]`);
    expect((await call('run', { command: 'pwd', cwd: '..' })).content).toContain(realpathSync(tmpdir()));
    expect(await call('run', { command: 'pwd', cwd: 'nowhere' })).toEqual({
      content: `the folder "${folder}/nowhere" does not exist; name an existing folder in cwd`,
      isError: true,
    });
    expect(await call('run', { command: 'pwd', cwd: '/dev/null' })).toEqual({
      content: '"/dev/null" is not a folder; name a folder in cwd',
      isError: true,
    });
    rmSync(folder, { recursive: true });
  });

  it.each([
    [{}, 'run: needs command'],
    [{ command: ' ' }, 'run: command must be a command line, got " "'],
    [{ command: 'ls', pty: 'yes' }, 'run: pty must be true or false, got "yes"'],
    [{ command: 'ls', timeout_secs: -1 }, 'run: timeout_secs must be a number of seconds above 0, at most 1,000,000, got -1'],
    [{ command: 'ls\0' }, 'the command contains a NUL character; remove it'],
    ['ls', 'run: the arguments must be an object, got "ls"'],
  ])('refuses %j', async (args, message) => {
    const { call } = stage([runTool()]);
    expect(await call('run', args)).toEqual({ content: message, isError: true });
  });

  it('shows its output to the person while it runs', async () => {
    const { call, shown } = stage([runTool()]);
    await call('run', { command: 'echo größer' });
    expect(shown.join('')).toBe('größer\n');
  });

  it('kills the whole process group after the timeout', async () => {
    const { call } = stage([runTool({ graceMs: 200 })]);
    const { content, isError } = await call('run', { command: 'echo started; sleep 60 & sleep 60', timeout_secs: 1.5 });
    expect(content).toBe('started\n[ended after 1.5 s, the time limit]');
    expect(isError).toBe(true);
  });

  it('kills processes that the command left in the background, and reports that', async () => {
    const { call } = stage([runTool()]);
    const { content } = await call('run', { command: 'sleep 60 & echo done' });
    expect(content).toBe('done\n[exit code 0; ended 1 process that the command left running]');
  });

  it('ends when its call is interrupted', async () => {
    const { call, handles, until } = stage([runTool()]);
    const stop = new AbortController();
    const answer = call('run', { command: 'sleep 60' }, { signal: stop.signal });
    await until('run-1', ({ state }) => state === 'running');
    stop.abort();
    expect(await answer).toEqual({ content: 'interrupted', isError: true });
    await until('run-1', ({ state }) => state === 'stopped');
    expect(handles.active).toBe(0);
  });
});

describe('run in the background', () => {
  it('returns at once and notifies of the end without a call in between', async () => {
    const { ask, open, until, folder } = stage([runTool()]);
    const command = `until [ -e ${join(folder, 'go')} ]; do sleep 0.05; done; echo Built`;
    expect(await ask('run', { command, background: true, id: 'build' })).toEqual({ id: 'build', state: 'running' });
    expect(await open()).toEqual([]);
    writeFileSync(join(folder, 'go'), '');
    await until('build', ({ state }) => state === 'stopped');
    expect(await open()).toEqual(['tool.stopped info Background run "build" has stopped with exit code 0: Built']);
    expect(await ask('run', { action: 'fetch', id: 'build' })).toEqual({
      id: 'build',
      state: 'stopped',
      result: 'Built\n[exit code 0]',
    });
  });

  it('notifies of a failure with its exit code and last line', async () => {
    const { ask, open, until } = stage([runTool()]);
    await ask('run', { action: 'spawn', id: 'tests', command: 'echo 3 failed; exit 1' });
    await until('tests', ({ state }) => state === 'stopped');
    // The handle may have stopped before the answer to the spawn. Then that answer reported the stop.
    if ((await open()).length > 0)
      expect(await open()).toEqual(['tool.failed error Background run "tests" failed with exit code 1: 3 failed']);
    expect(await ask('run', { action: 'fetch', id: 'tests' })).toEqual({
      id: 'tests',
      state: 'stopped',
      result: { error: { message: 'exited with code 1' } },
      content: '3 failed\n[exit code 1]',
    });
  });

  it('accepts input if its stdin is open', async () => {
    const { ask, call } = stage([runTool()]);
    await ask('run', { command: 'while read l; do echo "<$l>"; done; echo end', background: true, stdin: true, id: 'loop' });
    await ask('run', { action: 'apply', id: 'loop', input: 'a\nb\n' });
    await ask('run', { action: 'apply', id: 'loop', keys: ['ctrl-d'] });
    expect(await ask('await', { all: ['loop'] })).toMatchObject({
      completed: [{ id: 'loop', result: '<a>\n<b>\nend\n[exit code 0]' }],
    });
    await ask('run', { command: 'sleep 60', background: true, id: 'deaf' });
    expect(await call('run', { action: 'apply', id: 'deaf', input: 'x' })).toEqual({
      content: 'the process has no open stdin: start it with "stdin": true, or with "pty": true',
      isError: true,
    });
    expect((await call('run', { action: 'apply', id: 'deaf', keys: ['up'] })).isError).toBe(true);
  });

  it('ends the whole process group on an abort: with SIGTERM, or with SIGKILL if the group ignores SIGTERM', async () => {
    const { ask, handles, folder } = stage([runTool({ graceMs: 300 })]);
    const ready = join(folder, 'ready');
    const command = `mkfifo ${ready}; (trap '' TERM; echo > ${ready}; while :; do sleep 1; done) & trap '' TERM; cat ${ready}; echo up; while :; do sleep 1; done`;
    await ask('run', { command, background: true, id: 'stubborn' });
    // When the output contains `up`, both shells ignore SIGTERM.
    for (let answer: { content?: string } = {}; !answer.content?.includes('up');)
      answer = await ask('run', { action: 'fetch', id: 'stubborn' });
    const started = performance.now();
    const answer = await ask('run', { action: 'abort', id: 'stubborn' });
    const took = performance.now() - started;
    expect(answer).toMatchObject({ state: 'stopped', result: { error: { message: 'aborted' } } });
    expect(took).toBeGreaterThan(280);
    expect(handles.active).toBe(0);
  });

  it('on an abort, does not wait for the grace period if the process obeys SIGTERM', async () => {
    // If the abort waited for this grace period, the test would time out.
    const { ask, open } = stage([runTool({ graceMs: 600_000 })]);
    await ask('run', { command: 'sleep 60 & sleep 60', background: true, id: 'calm' });
    expect(await ask('run', { action: 'abort', id: 'calm' })).toMatchObject({
      state: 'stopped',
      result: { error: { message: 'aborted' } },
    });
    expect(await open()).toEqual([]);
  });

  it('on an abort, also ends jobs that a shell put into other process groups', async () => {
    const { ask, folder, handles } = stage([runTool()]);
    const pids = join(folder, 'pids');
    await ask('run', { command: `set -m; sleep 60 & echo $! > ${pids}; echo up; wait`, background: true, id: 'jobs' });
    for (let answer: { content?: string } = {}; !answer.content?.includes('up');)
      answer = await ask('run', { action: 'fetch', id: 'jobs' });
    const job = Number(readFileSync(pids, 'utf8'));
    expect(membersOf(job)).toEqual([]); // The job does not lead a session.
    await ask('run', { action: 'abort', id: 'jobs' });
    expect(systemProcesses.get(job)).toBeUndefined(); // The job has ended, too.
    expect(handles.active).toBe(0);
  });

  it('ends with close(), which notifies the conversation', async () => {
    const { ask, handles, open } = stage([runTool()]);
    await ask('run', { command: 'sleep 60', background: true, id: 'server' });
    await Promise.all([handles.close(), handles.close()]);
    expect(await open()).toEqual(['tool.failed error Background run "server" was lost when its agent ended']);
    expect((await stageless(handles)).isError).toBe(true);
  });
});

describe('output', () => {
  it('100 MB of output stay bounded in memory and on disk, and are read by range', async () => {
    const { ask, call, folder, handles } = stage([runTool({ maxOutputBytes: 8_000_000 })]);
    const before = process.memoryUsage().rss;
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
    await ask('run', { command: 'seq 1 13000000 | head -c 100000000; echo; echo last', background: true, id: 'big' });
    const { completed } = (await ask('await', { all: ['big'] })) as unknown as { completed: { result: string }[] };
    clearInterval(sampling);
    // If the process kept the whole output, its memory would grow by 100 MB or more, because garbage is collected late.
    expect(peak - before).toBeLessThan(90_000_000);
    const result = completed[0]?.result ?? '';
    expect(result.length).toBeLessThan(20_000);
    expect(result).toMatch(/^1\n2\n3\n/u);
    expect(result).toMatch(/last\n\[exit code 0\]$/u);
    expect(result).toContain('bytes are left out; read them with {"action":"fetch","id":"big","from":');
    const [uid] = handles.list().map((view) => view.uid);
    const file = statSync(join(folder, uid ?? '', 'output'));
    expect(file.size).toBe(8_000_000);
    expect(file.mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, uid ?? '')).mode & 0o777).toBe(0o700);
    expect(await ask('run', { action: 'fetch', id: 'big', from: 500_000, lines: 3 })).toMatchObject({
      content: '500000\n500001\n500002\n',
    });
    expect(await ask('run', { action: 'fetch', id: 'big', from: -1 })).toMatchObject({ content: 'last\n' });
    expect(await ask('run', { action: 'fetch', id: 'big', from_byte: 2, bytes: 3 })).toMatchObject({ content: '2\n3' });
    expect(await ask('run', { action: 'fetch', id: 'big', from: 5_000_000, lines: 1 })).toMatchObject({
      content: '',
      range: expect.stringContaining('only the first 8,000,000 and the last') as string,
    });
    expect(await call('run', { action: 'fetch', id: 'big', from: 1, bytes: 1 })).toMatchObject({ isError: true });
  });

  it('a one-shot call with cut output can be read further', async () => {
    const { call, ask, handles } = stage([runTool({ maxChars: 400 })]);
    const { content } = await call('run', { command: 'seq 1 1000' });
    const hint = /\{"action":"fetch".*?\}/u.exec(content)?.[0] ?? '{}';
    const rest = await ask('run', JSON.parse(hint) as Record<string, never>);
    expect(rest).toMatchObject({ id: 'run-1', state: 'stopped' });
    expect(String(rest['content'])).toMatch(/^37\n38\n/u);
    await call('run', { command: 'echo short' });
    expect(handles.list().map(({ id }) => id)).toEqual(['run-1']);
  });

  it('output is readable in any encoding', async () => {
    const { call, folder } = stage([runTool()]);
    const file = join(folder, 'bytes');
    writeFileSync(file, Buffer.from([0xf0, 0x9f, 0x91, 0x82, 0x0a, 0xff, 0x41, 0x0a]));
    expect((await call('run', { command: `cat ${file}` })).content).toBe('👂\n\ufffdA\n[exit code 0]');
    expect((await call('run', { command: 'head -c 5000 /dev/zero' })).content).toBe('[binary, 5,000 bytes]\n[exit code 0]');
    expect((await call('run', { command: String.raw`printf '\033[31mred\033[0m 10%%\r\033[K 99%%\n'` })).content).toBe(
      ' 99%\n[exit code 0]',
    );
  });
});

/** Returns the answer to a call that comes after the handles were closed. */
async function stageless(handles: ReturnType<typeof stage>['handles']): Promise<{ isError?: boolean; content: string }> {
  const [tool] = handles.tools;
  if (tool === undefined) throw new Error('no tool');
  return tool.execute({ command: 'true' }, { id: 'late', signal: new AbortController().signal, batch: [], progress: () => {} });
}
