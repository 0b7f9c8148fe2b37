import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** Starts one side in a separate process. */
export async function startSide(side: 'ours' | 'bare', folder: string) {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'serve.ts'), side, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  return {
    url,
    token,
    pid: child.pid ?? 0,
    async stop(): Promise<void> {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), 1_000);
      await closed;
      clearTimeout(late);
    },
  };
}

/**
 * Makes a client that does little work compared with a server: the client keeps its connections open, and checks only the
 * status of each answer.
 */
export function poster({ url, token }: { url: string; token: string }, inFlight: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const { hostname, port } = new URL(url);
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const post = (body: string): Promise<void> =>
    new Promise((resolve, reject) => {
      request({ agent, hostname, port, method: 'POST', path: '/api/notifications', headers }, (response) => {
        response.resume();
        response.once('end', () =>
          response.statusCode === 201 ? resolve() : reject(new Error(`the answer was ${response.statusCode}`)),
        );
      })
        .once('error', reject)
        .end(body);
    });
  return { post, close: () => agent.destroy() };
}
