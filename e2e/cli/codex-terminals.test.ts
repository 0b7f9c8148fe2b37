/** Tests sessions of Codex's shared server with two terminals in one folder. Programs of the same name replace Codex. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { SourceShell } from './shell.ts';

/** A session that began long before each terminal of the test. */
const SESSION = '01900000-0000-7000-8000-000000000000';

/** Returns the id of a session that began at this time, epoch ms. */
const sessionOf = (at: number): string => {
  const hex = at.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

/** The programs of a machine on which Codex runs. */
class Machine implements AsyncDisposable {
  readonly #shell = new SourceShell();
  readonly #work = join(this.#shell.folder, 'work');
  readonly #codex = join(this.#shell.folder, 'codex');
  readonly #env = { PATH: process.env['PATH'], HOME: this.#shell.folder, EARPIECE_DB: join(this.#shell.folder, 'earpiece.db') };
  readonly #open: ChildProcess[] = [];

  constructor() {
    mkdirSync(this.#work);
    symlinkSync('/usr/bin/tail', this.#codex);
    writeFileSync(join(this.#work, 'resume'), '');
  }

  /** Opens a terminal. `word`: a word of its command line. */
  async terminal(word = '/dev/null'): Promise<ChildProcess> {
    const child = spawn(this.#codex, ['-f', word], { cwd: this.#work, env: this.#env });
    this.#open.push(child);
    await once(child, 'spawn');
    return child;
  }

  prompt(session: string): Promise<void> {
    return this.hook({ hook_event_name: 'UserPromptSubmit', session_id: session, cwd: this.#work, prompt: 'go on' });
  }

  resume(session: string): Promise<void> {
    return this.hook({ hook_event_name: 'SessionStart', session_id: session, cwd: this.#work, source: 'resume' });
  }

  /** Runs the hook before a tool. */
  call(session: string): Promise<void> {
    const call = { tool_name: 'Bash', tool_input: { command: 'true' }, tool_use_id: 'c-1' };
    return this.hook({ hook_event_name: 'PreToolUse', session_id: session, cwd: this.#work, ...call });
  }

  /** Starts a shared server that runs one hook. The server lives until the end of the test. */
  async hook(event: object): Promise<void> {
    const hook = `exec -a codex bash -c '"$0" "$1" hook codex <<< "$2" > /dev/null; echo done; read' "$@"`;
    const words = [process.execPath, CLI, JSON.stringify(event), 'app-server', '--managed-daemon'];
    const child = spawn('bash', ['-c', hook, 'bash', ...words], {
      cwd: this.#work,
      env: this.#env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#open.push(child);
    await once(child.stdout, 'data');
  }

  async says(...words: readonly string[]): Promise<string> {
    const child = spawn(process.execPath, [CLI, ...words], {
      cwd: this.#work,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await once(child, 'close');
    return said;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#open) child.kill();
    await this.#shell[Symbol.asyncDispose]();
  }
}

describe.runIf(process.platform === 'linux')('with several terminals in one folder', () => {
  it('a resumed session is active even if its first terminal has closed', async () => {
    await using machine = new Machine();
    const first = await machine.terminal();
    await machine.prompt(SESSION);
    expect(await machine.says('agents')).toContain('● ');
    first.kill();
    await once(first, 'exit');
    expect(await machine.says('agents')).not.toContain('● ');
    await machine.terminal();
    await machine.terminal();
    await machine.prompt(SESSION);
    expect(await machine.says('agents')).toContain('● ');
    expect(await machine.says('doctor')).toContain('2 Codex terminals are open in this folder');
  });

  it('why says that no notification wakes a session whose terminal is unknown', async () => {
    await using machine = new Machine();
    await machine.terminal();
    await machine.prompt(SESSION);
    await machine.says('send', '--to', 'codex', '--id', 'n1', '--level', 'error', 'red');
    const says = async (id: string): Promise<string> => (await machine.says('why', id)).replaceAll(/\s+/gu, ' ');
    expect(await says('n1')).toMatch(new RegExp(`^Waiting for the next message to work/codex#${SESSION}\\. ▲ error`, 'u'));
    await machine.terminal();
    const later = sessionOf(Date.now() + 20_000);
    await machine.prompt(later);
    await machine.says('send', '--to', `codex#${later}`, '--id', 'n2', '--level', 'error', 'red');
    expect(await says('n2')).toContain(
      `Waiting for the next message to work/codex#${later}. Earpiece does not know the terminal of this session, so the notification does not wake the session`,
    );
  });

  it('an older session that a second terminal resumes belongs to the second terminal', async () => {
    proves('hosts:codex-sessions');
    await using machine = new Machine();
    await machine.terminal();
    const first = sessionOf(Date.now());
    await machine.prompt(first);
    const second = await machine.terminal('resume');
    await machine.resume(SESSION);
    await machine.prompt(SESSION);
    expect((await machine.says('agents', '--all')).match(/●.*/g)).toHaveLength(2);
    second.kill();
    await once(second, 'exit');
    expect((await machine.says('agents', '--all')).match(/●.*/g)).toEqual([expect.stringContaining(first)]);
  });

  it('a session that another terminal began before its first prompt does not belong to the terminal of codex resume', async () => {
    await using machine = new Machine();
    await machine.terminal();
    const first = sessionOf(Date.now() - 10_000);
    const second = await machine.terminal('resume');
    await machine.prompt(first);
    second.kill();
    await once(second, 'exit');
    expect((await machine.says('agents', '--all')).match(/●.*/g)).toEqual([expect.stringContaining(first)]);
  });

  it('an older session of an unknown terminal does not belong to the terminal of codex resume', async () => {
    await using machine = new Machine();
    await machine.terminal();
    await machine.prompt(sessionOf(Date.now()));
    const second = await machine.terminal('resume');
    await machine.prompt(SESSION);
    second.kill();
    await once(second, 'exit');
    expect((await machine.says('agents', '--all')).match(/●.*/g)).toHaveLength(2);
  });

  it('a session of `/new` in the first terminal does not end the session of the second terminal', async () => {
    proves('hosts:codex-sessions');
    await using machine = new Machine();
    await machine.terminal();
    const first = sessionOf(Date.now());
    await machine.prompt(first);
    await machine.terminal();
    const second = sessionOf(Date.now() + 1_000);
    await machine.prompt(second);
    // The person gives the command 20 s after the start of the second terminal.
    const later = sessionOf(Date.now() + 20_000);
    await machine.prompt(later);
    const agents = await machine.says('agents', '--all');
    expect(agents.match(/●.*/g)).toHaveLength(3);
  });

  it('a turn that outlives its terminal does not end the session of the other terminal', async () => {
    await using machine = new Machine();
    const first = await machine.terminal();
    const closed = sessionOf(Date.now());
    await machine.prompt(closed);
    await machine.terminal();
    first.kill();
    await once(first, 'exit');
    const other = sessionOf(Date.now() + 1);
    await machine.prompt(other);
    await machine.call(closed);
    expect((await machine.says('agents', '--all')).match(/●.*/g)).toEqual([expect.stringContaining(other)]);
  });
});
