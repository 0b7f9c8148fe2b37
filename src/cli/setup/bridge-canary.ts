/**
 * Tests the bridge of a plugin. The test queues a random word in a separate database, and starts the bridge as the plugin does.
 * Then the test asks the bridge for the notifications at a prompt. The bridge's answer must contain the word.
 */
import { spawn } from 'node:child_process';
import { lines, type BridgeCommand, type FromBridge, type FromPlugin } from '../../hosts/bridge/index.ts';
import type { Host } from '../../hosts/index.ts';
import { databaseIn, LIMIT_MS, SESSION, tried, whyDeaf, type Proof } from './canary.ts';

const EVENT = 'the prompt';

export const bridgeCanary = (host: Host, command: BridgeCommand): Promise<Proof> =>
  tried(host, async ({ word, folder, env }) => {
    const args = command.args?.map((arg, i, all) => (all[i - 1] === '--db' ? databaseIn(folder) : arg)) ?? [];
    const ask: FromPlugin = { do: 'ask', id: 1, session: SESSION, folder, moment: { kind: 'prompt' } };
    const started = performance.now();
    const child = spawn(command.node, [command.entry, 'bridge', host.name, ...args], { cwd: folder, env, stdio: 'pipe' });
    const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
    let ms: number | undefined;
    let stderr = '';
    const hear = (line: FromBridge): void => {
      if ('ready' in line) child.stdin.write(`${JSON.stringify(ask)}\n`);
      if (!('re' in line)) return;
      if (line.text?.includes(word) === true) ms = Math.round(performance.now() - started);
      // The bridge ends when its input ends.
      child.stdin.end();
    };
    const each = lines(
      (line) => hear(line as unknown as FromBridge),
      () => {},
    );
    child.stdin.on('error', () => {});
    child.stdout.setEncoding('utf8').on('data', each);
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('error', (error) => (stderr += error.message));
    const code = await new Promise<number | undefined>((resolve) => {
      child.once('close', (status, signal) => resolve(signal === null ? (status ?? -1) : undefined));
    });
    clearTimeout(timer);
    return ms === undefined ? { kind: 'deaf', event: EVENT, why: whyDeaf(code, stderr) } : { kind: 'heard', event: EVENT, ms };
  });
