/** Asks the app server of Codex which hooks its user has trusted, because Codex runs no other hook. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** The maximum time until Codex answers, in ms. Codex takes seconds to start on a slow machine. */
const WITHIN_MS = 20_000;

type Listed = { readonly command?: string; readonly trustStatus?: string; readonly enabled?: boolean };

/** Whether Codex runs the hooks. `unknown`: Codex does not report which hooks it trusts. */
export type HookTrust =
  | { readonly kind: 'trusted' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'held'; readonly why: string };

export async function hookTrust(codex: string, lines: readonly string[]): Promise<HookTrust> {
  const listed = await hooksOf(codex);
  if (listed === undefined) return { kind: 'unknown' };
  const why = whyHeld(listed.filter(({ command }) => command !== undefined && lines.includes(command)));
  return why === undefined ? { kind: 'trusted' } : { kind: 'held', why };
}

function whyHeld(own: readonly Listed[]): string | undefined {
  if (own.length === 0) return 'Codex does not see the hooks of Earpiece in this folder';
  const held = own.filter(({ trustStatus }) => trustStatus !== 'trusted' && trustStatus !== 'managed');
  if (held.length > 0) return `${held.length} of ${own.length} hooks are not trusted, so Codex does not run these hooks`;
  const off = own.filter(({ enabled }) => enabled === false);
  return off.length > 0 ? `${off.length} of ${own.length} hooks are switched off in Codex` : undefined;
}

async function hooksOf(codex: string): Promise<readonly Listed[] | undefined> {
  const child = spawn(codex, ['app-server'], { stdio: ['pipe', 'pipe', 'ignore'] });
  const send = (frame: object): void => void child.stdin.write(`${JSON.stringify(frame)}\n`);
  child.stdin.on('error', () => {});
  const timer = setTimeout(() => child.kill('SIGKILL'), WITHIN_MS);
  try {
    send({ id: 0, method: 'initialize', params: { clientInfo: { name: 'earpiece', version: '1' } } });
    send({ method: 'initialized' });
    send({ id: 1, method: 'hooks/list', params: { cwds: [process.cwd()] } });
    for await (const line of createInterface({ input: child.stdout })) {
      const frame = parsed(line);
      if (frame?.id !== 1) continue;
      return frame.result?.data?.flatMap(({ hooks }) => hooks ?? []);
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}

type Frame = { readonly id?: number; readonly result?: { readonly data?: readonly { readonly hooks?: readonly Listed[] }[] } };

function parsed(line: string): Frame | undefined {
  try {
    return JSON.parse(line) as Frame;
  } catch {
    return undefined;
  }
}
