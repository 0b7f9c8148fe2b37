import { spawn } from 'node:child_process';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { PLAIN_GATEWAY } from './raw-client.ts';
import { HttpProcess } from './servers.ts';
import { proves } from '../verifies.ts';

const FIXTURE = join(import.meta.dirname, 'fixture-server.ts');
const SUITE = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js');

/** Returns the verdict of each server scenario of the MCP conformance suite: `name: passed, failed`. */
async function verdicts(url: string): Promise<Record<string, { passed: number; failed: number }>> {
  const child = spawn(process.execPath, [SUITE, 'server', '--url', url, '--suite', 'all'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise((resolve) => child.once('close', resolve));
  const rows = [...output.matchAll(/^[✓✗] ([\w-]+): (\d+) passed, (\d+) failed/gm)];
  return Object.fromEntries(rows.map(([, name, passed, failed]) => [name, { passed: Number(passed), failed: Number(failed) }]));
}

test(
  'the MCP conformance suite gives the same verdicts directly and through the gateway, to HTTP and stdio',
  { timeout: 180_000 },
  async () => {
    proves('gateway:conformance');
    await using fixture = await HttpProcess.start([FIXTURE, 'http']);
    await using toHttp = await HttpProcess.start([PLAIN_GATEWAY, '--http', '0', '--url', fixture.url]);
    await using toStdio = await HttpProcess.start([PLAIN_GATEWAY, '--http', '0', '--', process.execPath, FIXTURE, 'stdio']);
    const [direct, overHttp, overStdio] = await Promise.all([fixture, toHttp, toStdio].map(({ url }) => verdicts(url)));
    if (direct === undefined) throw new Error('no verdicts');
    expect(Object.keys(direct)).toHaveLength(32);
    expect(Object.values(direct).every(({ failed }) => failed === 0)).toBe(true);

    expect(overHttp).toEqual(direct);

    // Before a stdio server, the gateway answers each request in JSON and not as an event stream. So the check of event streams
    // in this scenario has no input, and does not count as passed.
    const streams = 'server-sse-multiple-streams';
    expect(overStdio).toEqual({ ...direct, [streams]: { ...direct[streams]!, passed: 1 } });
  },
);
