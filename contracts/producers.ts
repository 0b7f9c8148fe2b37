import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { LogKey } from '../src/core/address.ts';

/** Starts a process that queues one notification after the other into a log. */
export function startProducer(db: string, log: LogKey, name: string): { stop(): Promise<string[]> } {
  const script = fileURLToPath(new URL('producer.ts', import.meta.url));
  const child: ChildProcess = spawn(process.execPath, [script, db, log, name], { stdio: ['pipe', 'pipe', 'inherit'] });
  const printed = text(child.stdout as NodeJS.ReadableStream);
  const exited = once(child, 'exit');
  return {
    stop: async () => {
      child.stdin?.end();
      const [code] = (await exited) as [number | null];
      if (code !== 0) throw new Error(`producer ${name} ended with ${code}`);
      return (await printed).split('\n').filter(Boolean);
    },
  };
}
