import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LanguageServer } from './server.ts';

it('a language server that ignores SIGTERM, and its children, have ended when the follower has ended', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-lsp-'));
  try {
    const stop = new AbortController();
    const script = `trap '' TERM; echo $$ > pid; sleep 60 & sleep 60`;
    const started = LanguageServer.start(['sh', '-c', script], folder, stop.signal);
    started.catch(() => {});
    const pid = (): number => {
      try {
        return Number(readFileSync(join(folder, 'pid'), 'utf8'));
      } catch {
        return 0;
      }
    };
    while (pid() === 0) await pause(10);
    stop.abort();
    await expect(started).rejects.toThrow('this process ends');
    // The processes end soon after the signal.
    const runs = (): boolean => {
      try {
        return process.kill(-pid(), 0);
      } catch {
        return false;
      }
    };
    for (let tries = 0; tries < 100 && runs(); tries++) await pause(20);
    expect(runs()).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

it('an incomplete message of a language server does not keep the process of the follower alive', () => {
  const server = JSON.stringify(['sh', '-c', "printf 'Content-Length: 999\\r\\n\\r\\nx'; sleep 60"]);
  const code = `import { LanguageServer } from ${JSON.stringify(join(import.meta.dirname, 'server.ts'))};
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 500);
    await LanguageServer.start(${server}, '/tmp', stop.signal).catch((error) => console.log(error.message));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8', timeout: 20_000 });
  expect(said).toBe('this process ends\n');
}, 30_000);
