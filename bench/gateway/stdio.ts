import path from 'node:path';
import type { Measured, RunOptions } from '../row.ts';
import { stdioClient } from './client.ts';
import { gateway, where } from './ours.ts';
import { side, withBare } from './sides.ts';

/**
 * Compares tool calls through the gateway with tool calls through the pipe. Both processes keep running, and only one works at a
 * time.
 */
export function stdioVersusPipe(options: RunOptions, inFlight: number): Promise<Measured> {
  return withBare(options, async (target) => {
    const pipe = [process.execPath, path.join(import.meta.dirname, 'pipe.ts'), ...target.server];
    return {
      ours: side(await stdioClient(gateway(target), target, where(options.folder)), inFlight),
      theirs: side(await stdioClient(pipe, target), inFlight),
    };
  });
}
