/** Tests the process that waits to wake an idle Claude Code. A shell of the same name replaces Claude Code. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as poll } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { SourceShell } from './shell.ts';

/** A session of Claude Code, which runs hooks as its children. */
class Session implements AsyncDisposable {
  readonly #shell = new SourceShell();
  readonly #transcript = join(this.#shell.folder, 'session.jsonl');
  readonly #host: ChildProcessByStdio<Writable, Readable, null>;
  #said = '';

  constructor() {
    writeFileSync(this.#transcript, '');
    this.#host = spawn('bash', ['-c', 'exec -a claude bash'], {
      cwd: this.#shell.folder,
      env: {
        PATH: process.env['PATH'],
        HOME: this.#shell.folder,
        XDG_STATE_HOME: join(this.#shell.folder, 'state'),
        EARPIECE_DB: this.#shell.db,
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#host.stdout.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
  }

  /** Adds a message to the transcript. */
  writes(type: 'user' | 'assistant', ...content: readonly object[]): void {
    this.notes({ type, message: { role: type, content } });
  }

  /** Adds an entry to the transcript. */
  notes(entry: object): void {
    appendFileSync(this.#transcript, `${JSON.stringify({ ...entry, timestamp: new Date().toISOString() })}\n`);
  }

  /** Runs a hook in a command of another agent. The command falsely names this session's process as its host. */
  async foreignHook(event: string, more: object): Promise<void> {
    const input = JSON.stringify({ hook_event_name: event, cwd: this.#shell.folder, ...more });
    const env = { EARPIECE_HANDLE: 'h_1', CLAUDE_PID: String(this.#host.pid), XDG_STATE_HOME: join(this.#shell.folder, 'state') };
    expect(await this.#shell.run(['hook', 'claude'], { env, input })).toMatchObject({ code: 0, stderr: '' });
  }

  /** Runs the hook of an event, and returns its output. */
  async hook(event: string, more: object = {}): Promise<string> {
    const hook = `bash -c '"$@" <<< "$EVENT"; echo; echo END-OF-HOOK' bash ${this.#words()}`;
    return this.#outputOf(`${this.#variables(event, more)} ${hook}`, 'END-OF-HOOK');
  }

  /** Starts the process that waits, and resolves when it waits. */
  async waits(event: string, more: object = {}): Promise<void> {
    const before = this.#waiter();
    const line = `bash -c '"$@" <<< "$EVENT" 2>&1; echo ENDED-WITH $?' bash ${this.#words('--wait')} &`;
    this.#host.stdin.write(`${this.#variables(event, more)} ${line}\n`);
    while (this.#waiter() === before) await poll(20);
  }

  /** Whether the process that waits has ended to wake the agent. */
  get ended(): boolean {
    return this.#said.includes('ENDED-WITH 2');
  }

  /** Resolves with the output of the process that waits, when it has ended. */
  async woken(): Promise<string> {
    while (!this.ended) await once(this.#host.stdout, 'data');
    return this.#said;
  }

  async says(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.#shell.run([...words]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The waiting process ends with its host.
    this.#host.kill('SIGKILL');
    await this.#shell[Symbol.asyncDispose]();
  }

  #variables(event: string, more: object): string {
    const [session_id, cwd, transcript_path] = ['s-1', this.#shell.folder, this.#transcript];
    return `EVENT='${JSON.stringify({ hook_event_name: event, session_id, cwd, transcript_path, ...more })}' CLAUDE_PID=$$`;
  }

  #words(...options: readonly string[]): string {
    return [process.execPath, CLI, 'hook', 'claude', ...options].map((word) => `'${word}'`).join(' ');
  }

  /** Returns the content of the file that names the process that waits. */
  #waiter(): string | undefined {
    const folder = join(this.#shell.folder, 'state/earpiece/waiters');
    const file = existsSync(folder) ? readdirSync(folder).find((name) => /^\d+-\d+$/.test(name)) : undefined;
    return file === undefined ? undefined : readFileSync(join(folder, file), 'utf8');
  }

  async #outputOf(line: string, end: string): Promise<string> {
    const from = this.#said.length;
    this.#host.stdin.write(`${line}\n`);
    while (!this.#said.slice(from).includes(end)) await once(this.#host.stdout, 'data');
    return this.#said.slice(from);
  }
}

const BASH = { tool_name: 'Bash', tool_input: { command: 'true' }, tool_use_id: 'c-1' };

describe.runIf(process.platform === 'linux')('the process that waits beside Claude Code', () => {
  proves('hosts:wake-claude');

  it('does not wake a working agent, whose next call is refused', async () => {
    await using session = await begun();
    await session.hook('UserPromptSubmit', { prompt: 'go on' });
    await session.says('send', '--to', 'claude-code', '--level', 'critical', 'MARK');
    // While these commands run, a process that waits for an idle agent would wake the agent.
    for (let n = 0; n < 4; n++) await session.says('inbox');
    expect(session.ended).toBe(false);
    expect(await session.hook('PreToolUse', BASH)).toContain('MARK');
  });

  it('does not wake an agent whose turn Earpiece holds', async () => {
    await using session = await begun();
    await session.hook('UserPromptSubmit', { prompt: 'go on' });
    await session.says('send', '--to', 'claude-code', '--deliver', 'turn_end', 'WORD-HOLD');
    await session.waits('Stop');
    expect(await session.hook('Stop')).toContain('WORD-HOLD');
    await session.says('send', '--to', 'claude-code', '--level', 'critical', 'MARK');
    for (let n = 0; n < 4; n++) await session.says('inbox');
    expect(session.ended).toBe(false);
    expect(await session.hook('PreToolUse', BASH)).toContain('MARK');
  });

  it('wakes an agent whose turn a person has stopped', async () => {
    await using session = await begun();
    await session.hook('UserPromptSubmit', { prompt: 'go on' });
    await session.says('send', '--to', 'claude-code', '--level', 'critical', 'MARK');
    session.writes('user', { type: 'text', text: '[Request interrupted by user]' });
    expect(await session.woken()).toMatch(/MARK[^]*ENDED-WITH 2/);
  });

  it("wakes an agent whose prompt another program's hook has blocked", async () => {
    await using session = await begun();
    await session.hook('UserPromptSubmit', { prompt: 'go on' });
    session.notes({ type: 'system', subtype: 'informational', content: 'UserPromptSubmit operation blocked by hook:\n[x]: no' });
    await session.says('send', '--to', 'claude-code', '--level', 'critical', 'MARK');
    expect(await session.woken()).toMatch(/MARK[^]*ENDED-WITH 2/);
  });

  it('wakes an idle agent although a command of another agent reports that the agent works', async () => {
    await using session = await begun();
    await session.foreignHook('UserPromptSubmit', { prompt: 'go on', session_id: 'evil' });
    await session.says('send', '--to', 'claude-code', '--level', 'critical', 'MARK');
    expect(await session.woken()).toMatch(/MARK[^]*ENDED-WITH 2/);
  });

  it("does not wake an agent while another program's hook continues the turn, but wakes the agent at the end of the turn", async () => {
    await using session = await begun();
    await session.hook('UserPromptSubmit', { prompt: 'go on' });
    await session.hook('Stop');
    await session.waits('Stop');
    session.writes('assistant', { type: 'tool_use', name: 'Bash', input: {} });
    await session.says('send', '--to', 'claude-code', '--kind', 'user.message', '--as', 'Anna', 'MARK');
    for (let n = 0; n < 4; n++) await session.says('inbox');
    expect(session.ended).toBe(false);
    session.writes('assistant', { type: 'text', text: 'done' });
    expect(await session.woken()).toMatch(/MARK[^]*ENDED-WITH 2/);
  });
});

/** Returns a session that has begun, with its waiting process. */
async function begun(): Promise<Session> {
  const session = new Session();
  await session.hook('SessionStart', { source: 'startup' });
  await session.waits('SessionStart', { source: 'startup' });
  return session;
}
