import { createRequire } from 'node:module';
import path from 'node:path';
import { perSecondOf, versus } from '../rounds.ts';
import type { Measured, RunOptions } from '../row.ts';
import { freePort, httpClient, server } from './client.ts';
import { env, gateway } from './ours.ts';

/** Tool calls over HTTP to the stdio server, through our gateway and through `mcp-proxy`, both on 127.0.0.1. */
export async function httpVersusMcpProxy({ quick, folder }: RunOptions, inFlight: number): Promise<Measured> {
  const [ourPort, theirPort] = [await freePort(), await freePort()];
  const front = ['--http', '--host', '127.0.0.1', '--port', String(ourPort), '--as', 'bench/agent#main'];
  const ours = await httpClient(gateway(...front), ourPort, { cwd: folder, env: env(folder), inFlight });
  // Without --host it listens on every interface.
  const theirs = await httpClient(
    [process.execPath, mcpProxy(), '--host', '127.0.0.1', '--port', String(theirPort), '--server', 'stream', '--', ...server],
    theirPort,
    { inFlight },
  );
  const forMs = quick ? 100 : 700;
  try {
    return await versus({
      ours: () => perSecondOf(forMs, (times) => ours.calls(times, inFlight)),
      theirs: () => perSecondOf(forMs, (times) => theirs.calls(times, inFlight)),
      unit: '/s',
      rounds: quick ? 3 : 15,
    });
  } finally {
    await Promise.all([ours.close(), theirs.close()]);
  }
}

const mcpProxy = (): string => {
  const require = createRequire(import.meta.url);
  // Its package.json is not exported; its main file lies beside its binary.
  return path.join(path.dirname(require.resolve('mcp-proxy')), 'bin', 'mcp-proxy.mjs');
};
