/** Tests the tool `run` in a terminal, with real programs. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { runTool } from '../../src/handles/index.ts';
import { stage, type Stage } from './stage.ts';

type Shown = { state: string; content?: string; question?: string; result?: string };

/** Answers the program. If no output arrives within one second, as on a busy machine, fetches the output again. */
async function answered(ask: Stage['ask'], id: string, input: string): Promise<Shown> {
  const first = (await ask('run', { action: 'apply', id, input })) as unknown as Shown;
  if (first.state !== 'running') return first;
  await ask('await', { all: [id] });
  return (await ask('run', { action: 'fetch', id })) as unknown as Shown;
}

/**
 * Waits until the output contains a text. An answer waits only one second for the first output, and a busy machine needs longer.
 */
async function shows(ask: Stage['ask'], id: string, what: string): Promise<Shown> {
  for (;;) {
    const shown = (await ask('run', { action: 'fetch', id })) as unknown as Shown;
    if (shown.state !== 'running' || shown.content?.includes(what)) return shown;
  }
}

describe('a terminal', () => {
  it('gives the command a terminal with 24 rows, 80 columns and the type xterm-256color', async () => {
    const { call } = stage([runTool()]);
    expect((await call('run', { command: 'stty size; echo $TERM; [ -t 0 ] && [ -t 1 ] && echo tty', pty: true })).content).toBe(
      '24 80\nxterm-256color\ntty\n[exit code 0]',
    );
    expect(await call('run', { command: 'echo no; exit 4', pty: true })).toEqual({ content: 'no\n[exit code 4]', isError: true });
    expect((await call('run', { command: 'kill -TERM $$', pty: true })).content).toBe('(no output)\n[ended by SIGTERM]');
  });

  it('lets the agent drive git add --patch to its end', async () => {
    const repo = mkdtempSync(join(tmpdir(), 'earpiece-repo-'));
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { cwd: repo, encoding: 'utf8' });
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
    git('init', '-q');
    writeFileSync(join(repo, 'poem.txt'), `${lines.join('\n')}\n`);
    git('add', '.');
    git('commit', '-qm', 'one');
    writeFileSync(join(repo, 'poem.txt'), `${['FIRST', ...lines.slice(1, 39), 'LAST'].join('\n')}\n`);

    const { ask, open } = stage([runTool({ cwd: repo })]);
    // A call in the foreground returns when the program asks something.
    const first = (await ask('run', { command: 'git add --patch', pty: true, id: 'staging' })) as unknown as Shown;
    expect(first.state).toBe('waiting');
    expect(first.content).toContain('+FIRST');
    expect(first.question).toMatch(/^\(1\/2\) Stage this hunk \[.*\]\?$/u);
    const second = await answered(ask, 'staging', 'n');
    expect(second).toMatchObject({ state: 'waiting', question: expect.stringMatching(/^\(2\/2\) Stage/u) as string });
    expect(second.content).toContain('+LAST');
    await ask('run', { action: 'apply', id: 'staging', input: 'y' });
    expect(await ask('await', { all: ['staging'] })).toMatchObject({
      completed: [{ id: 'staging', state: 'stopped', result: expect.stringMatching(/\[exit code 0\]$/u) as string }],
      pending: [],
    });
    expect(git('diff', '--cached')).toContain('+LAST');
    expect(git('diff', '--cached')).not.toContain('+FIRST');
    // The answers showed everything, so no notification is left.
    expect(await open()).toEqual([]);
    rmSync(repo, { recursive: true });
  });

  it('lets the agent answer python and a hidden prompt', async () => {
    const { ask } = stage([runTool()]);
    const python = `python3 -c 'n = input("Name: "); print("hello", n); import getpass; print(len(getpass.getpass()))'`;
    expect(await ask('run', { command: python, pty: true, id: 'py' })).toMatchObject({ state: 'waiting', question: 'Name:' });
    expect(await answered(ask, 'py', 'Grüße')).toMatchObject({
      state: 'waiting',
      question: 'Password:',
      content: 'Name: Grüße\nhello Grüße\nPassword:',
    });
    await ask('run', { action: 'apply', id: 'py', input: 'secret' });
    expect(await ask('await', { all: ['py'] })).toMatchObject({
      completed: [{ result: 'Name: Grüße\nhello Grüße\nPassword:\n6\n[exit code 0]' }],
    });
  });

  it('reports a wait for input once, and withdraws the report when the wait ends', async () => {
    const { ask, open, until, handles, folder } = stage([runTool()]);
    const command = `until [ -e ${join(folder, 'go')} ]; do sleep 0.05; done; read -p "Go on? [y/N] " x; echo $x; sleep 60`;
    expect(await ask('run', { command, pty: true, background: true, id: 'ask' })).toEqual({ id: 'ask', state: 'running' });
    writeFileSync(join(folder, 'go'), '');
    await until('ask', ({ state }) => state === 'waiting');
    expect(await open()).toEqual(['tool.waiting warning Background run "ask" is waiting for input: Go on? [y/N]']);
    expect(await ask('run', { action: 'apply', id: 'ask', input: 'y' })).toMatchObject({ state: 'running' });
    await handles.idle();
    expect(await open()).toEqual([]);
  });

  it('a progress line that pauses is not a prompt', async () => {
    const { ask, folder, until } = stage([runTool()]);
    const go = join(folder, 'go');
    const command = `printf 'fetching 45%% [====>    ]'; until [ -e ${go} ]; do sleep 0.05; done; printf '\\rfetching done            \\n'`;
    await ask('run', { command, pty: true, background: true, id: 'bar' });
    expect(await shows(ask, 'bar', '>')).toMatchObject({ state: 'running', content: 'fetching 45% [====>    ]' });
    // When this prompt is recognized, the progress line has been unchanged for longer than the prompt.
    await ask('run', { command: 'read -p "Go on? [y/N] " x', pty: true, background: true, id: 'prompt' });
    await until('prompt', ({ state }) => state === 'waiting');
    expect(await shows(ask, 'bar', '>')).toMatchObject({ state: 'running' });
    writeFileSync(go, '');
    expect(await ask('await', { all: ['bar'] })).toMatchObject({ completed: [{ result: 'fetching done\n[exit code 0]' }] });
  });

  it('presses keys by name', async () => {
    const { ask, call } = stage([runTool()]);
    await ask('run', { command: 'cat', pty: true, background: true, id: 'cat' });
    await ask('run', { action: 'apply', id: 'cat', input: 'abX', keys: ['backspace', 'c', 'enter'] });
    expect(await shows(ask, 'cat', 'abc\nabc')).toMatchObject({ content: 'abc\nabc' });
    expect(await call('run', { action: 'apply', id: 'cat', keys: ['entr'] })).toMatchObject({
      isError: true,
      content: expect.stringContaining('did you mean enter?') as string,
    });
    await ask('run', { action: 'apply', id: 'cat', keys: ['ctrl-c'] });
    expect(await ask('await', { all: ['cat'] })).toMatchObject({
      completed: [{ id: 'cat', result: { error: { message: 'was ended by SIGINT' } } }],
    });
  });

  it('shows the screen of a full-screen program, and answers its terminal queries', async () => {
    const { ask } = stage([runTool()]);
    const command =
      String.raw`stty -echo -icanon; printf '\033[?1049h\033[2J\033[5;10Hhere\033[6n'; IFS= read -rd R answer; printf '\033[6;10H%s' "\${answer#*[}"; read x`.replace(
        '\\$',
        '$',
      );
    await ask('run', { command, pty: true, background: true, id: 'full' });
    const shown = await shows(ask, 'full', '5;14');
    expect(shown.content).toBe('\n\n\n\n         here\n         5;14');
    expect(await ask('run', { action: 'abort', id: 'full' })).toMatchObject({ state: 'stopped' });
  });

  it('ends its whole session', async () => {
    const { ask, handles } = stage([runTool({ graceMs: 200 })]);
    await ask('run', {
      command: "trap '' HUP TERM; (trap '' HUP TERM; sleep 60) & sleep 60",
      pty: true,
      background: true,
      id: 'deep',
    });
    expect(await ask('run', { action: 'abort', id: 'deep' })).toMatchObject({ state: 'stopped' });
    expect(handles.active).toBe(0);
  });

  it('processes 2 MB of output with bounded memory', async () => {
    const { call } = stage([runTool()]);
    const before = process.memoryUsage().rss;
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 20);
    const { content } = await call('run', { command: 'seq 1 300000', pty: true });
    clearInterval(sampling);
    expect(content).toMatch(/299999\n300000\n\[exit code 0\]$/u);
    expect(peak - before).toBeLessThan(150_000_000);
  });

  it('is optional: without its packages the error names the package to install, and everything else works', () => {
    const printed = execFileSync(process.execPath, [join(import.meta.dirname, 'without-terminal.ts')], { encoding: 'utf8' });
    expect(
      printed
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { content: 'fine\n[exit code 0]' },
      {
        content:
          'a terminal needs the package @lydell/node-pty, which could not be loaded: npm install @lydell/node-pty @xterm/headless, or run the command without "pty"',
        isError: true,
      },
    ]);
  });
});
