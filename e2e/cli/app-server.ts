/**
 * Replaces Codex in tests: starts hooks and MCP servers for several sessions. The test sends `{ key, words }` to start a
 * command of Earpiece, and `{ key, line }` to write a line to the command. Each line of the command's output goes to the test.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { CLI } from '../built.ts';

export type Order = { readonly key: string; readonly words?: readonly string[]; readonly line?: string; readonly end?: true };
export type Said = { readonly key: string; readonly line?: string; readonly ended?: true };

const running = new Map<string, ChildProcess>();

process.on('message', ({ key, words, line, end }: Order) => {
  if (words !== undefined) {
    const child = spawn(process.execPath, [CLI, ...words], { stdio: ['pipe', 'pipe', 'inherit'] });
    running.set(key, child);
    createInterface({ input: child.stdout }).on(
      'line',
      (text) => process.connected && process.send?.({ key, line: text } satisfies Said),
    );
    child.once('close', () => process.connected && process.send?.({ key, ended: true } satisfies Said));
  }
  const child = running.get(key);
  if (line !== undefined) child?.stdin?.write(`${line}\n`);
  if (end) child?.stdin?.end();
});
// Without the channel, this process ends when its last command has ended.
process.on('disconnect', () => {
  for (const child of running.values()) child.kill();
});
