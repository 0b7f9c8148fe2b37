import { createRequire } from 'node:module';
import path from 'node:path';
import type { Measured, RunOptions } from '../row.ts';
import { freePort, httpClient } from './client.ts';
import { gateway, where } from './ours.ts';
import { side, withBare } from './sides.ts';

/** Measures tool calls over HTTP to the stdio server, through Earpiece's gateway and through `mcp-proxy`, both on 127.0.0.1. */
export function httpVersusMcpProxy(options: RunOptions, inFlight: number): Promise<Measured> {
  return withBare(options, async (target) => {
    const [ourPort, theirPort] = [await freePort(), await freePort()];
    const ours = gateway(target, '--http', '--host', '127.0.0.1', '--port', String(ourPort));
    // Without --host, `mcp-proxy` listens on every interface.
    const listen = ['--host', '127.0.0.1', '--port', String(theirPort), '--server', 'stream'];
    const theirs = [process.execPath, mcpProxy(), ...listen, '--', ...target.server];
    return {
      ours: side(await httpClient(ours, target, ourPort, { ...where(options.folder), inFlight }), inFlight),
      theirs: side(await httpClient(theirs, target, theirPort, { inFlight }), inFlight),
    };
  });
}

const mcpProxy = (): string => {
  const require = createRequire(import.meta.url);
  // The package does not export its package.json, so the main file leads to the binary, in the folder `bin` beside that file.
  return path.join(path.dirname(require.resolve('mcp-proxy')), 'bin', 'mcp-proxy.mjs');
};
