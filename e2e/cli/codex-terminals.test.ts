/** A session of Codex's shared server, if two terminals are open in its folder. The test replaces Codex by programs of its name. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { SourceShell } from './shell.ts';

/** A session that began long before each terminal of the test. */
const SESSION = '01900000-0000-7000-8000-000000000000';

it.runIf(process.platform === 'linux')('a resumed session is active even if its first terminal has closed', async () => {
  await using shell = new SourceShell();
  const work = join(shell.folder, 'work');
  mkdirSync(work);
  const codex = join(shell.folder, 'codex');
  symlinkSync('/bin/sleep', codex);
  const env = { PATH: process.env['PATH'], HOME: shell.folder, EARPIECE_DB: join(shell.folder, 'earpiece.db') };
  const open: ChildProcess[] = [];
  const terminal = async (): Promise<ChildProcess> => {
    const child = spawn(codex, ['60'], { cwd: work, env });
    open.push(child);
    await once(child, 'spawn');
    return child;
  };
  const end = async (child: ChildProcess): Promise<void> => {
    child.kill();
    await once(child, 'exit');
  };
  /** Runs the prompt hook below a shared server, which lives until the end of the test. */
  const prompt = async (): Promise<void> => {
    const event = { hook_event_name: 'UserPromptSubmit', session_id: SESSION, cwd: work, prompt: 'go on' };
    const hook = `exec -a codex bash -c '"$0" "$1" hook codex <<< "$2" > /dev/null; echo done; read' "$@"`;
    const words = [process.execPath, CLI, JSON.stringify(event), 'app-server', '--managed-daemon'];
    const child = spawn('bash', ['-c', hook, 'bash', ...words], { cwd: work, env, stdio: ['pipe', 'pipe', 'inherit'] });
    open.push(child);
    await once(child.stdout, 'data');
  };
  const says = async (command: string): Promise<string> => {
    const child = spawn(process.execPath, [CLI, command], { cwd: work, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await once(child, 'close');
    return said;
  };
  try {
    const first = await terminal();
    await prompt();
    expect(await says('agents')).toContain('● ');
    await end(first);
    expect(await says('agents')).not.toContain('● ');
    await terminal();
    await terminal();
    await prompt();
    expect(await says('agents')).toContain('● ');
    expect(await says('doctor')).toContain('2 Codex terminals are open in this folder');
  } finally {
    for (const child of open) child.kill();
  }
});
