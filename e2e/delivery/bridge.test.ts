/** Tests that the agent continues if the bridge process of its plugin dies, hangs, is missing or loses its agent. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BridgeClient, type Handed } from '../../src/hosts/bridge/client.ts';
import type { Whose } from '../../src/hosts/bridge/protocol.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { CLI as entry } from '../built.ts';
import { end, processesOf } from '../hosts/processes.ts';
import { proves } from '../verifies.ts';

/** Lets the event loop run. Without a bridge, the plugin answers at once, and a loop over its answers would never end. */
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function answered(ask: () => Promise<Handed | undefined>): Promise<Handed> {
  for (;;) {
    const handed = await ask();
    if (handed !== undefined) return handed;
    await tick();
  }
}

describe('a plugin and its bridge', () => {
  proves('hosts:bridge');
  let home: string;
  let ear: LoadedInbox;
  let said: string[];
  let began: number;
  let look: (() => void)[];
  const clients: BridgeClient[] = [];

  const open = (node = process.execPath, args: readonly string[] = []): BridgeClient => {
    const client = new BridgeClient({
      command: { node, entry, args },
      host: 'pi',
      folder: home,
      say: (line) => {
        said.push(line);
        for (const each of look.splice(0)) each();
      },
      wake: (push) => push.release(),
      force: (push) => push.release(),
      show: () => {},
      began: () => {
        began++;
        for (const each of look.splice(0)) each();
      },
    });
    clients.push(client);
    return client;
  };
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) await new Promise<void>((resolve) => look.push(resolve));
  };
  const whose = (): Whose => ({ session: 's1', folder: home });
  const prompt = (client: BridgeClient): Promise<Handed | undefined> => client.ask(whose(), { kind: 'prompt' });
  /** Asks until the plugin has an answer. On a busy machine, the plugin may continue without an answer. */
  const heard = (client: BridgeClient): Promise<Handed> => answered(() => prompt(client));
  const bridges = () => processesOf(home).filter(({ command }) => command.includes(' bridge '));
  const one = (): number => {
    const [found] = bridges();
    if (found === undefined) throw new Error('no bridge runs');
    return found.pid;
  };
  const offered = async (): Promise<void> => {
    while (!(await ear.open('shop/pi')).some(({ state }) => state === 'offered')) await tick();
  };
  /** Queues LATE, and asks for it while the bridge is suspended. Then continues the bridge, and returns its process id. */
  const givenUp = async (client: BridgeClient): Promise<number> => {
    await ear.queue('shop/pi', { message: 'WORD' });
    (await heard(client)).confirm();
    // The bridge must read the confirmation before it is stopped.
    while ((await ear.open('shop/pi')).length > 0) await tick();
    await ear.queue('shop/pi', { message: 'LATE' });
    const slow = one();
    end(slow, 'SIGSTOP');
    expect(await prompt(client)).toBeUndefined();
    end(slow, 'SIGCONT');
    return slow;
  };
  const gone = async (): Promise<void> => {
    // No event reports the end of another program's process, so this function reads the process table.
    while (bridges().length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  };

  beforeEach(async () => {
    home = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-bridge-')));
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_STATE_HOME', path.join(home, 'state'));
    vi.stubEnv('XDG_CONFIG_HOME', path.join(home, 'config'));
    vi.stubEnv('EARPIECE_DB', path.join(home, 'earpiece.db'));
    vi.stubEnv('EARPIECE_ADDRESS', 'shop/pi');
    [said, began, look] = [[], 0, []];
    ear = await openLoadedInbox({ cwd: home });
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    for (const { pid } of bridges()) end(pid, 'SIGCONT');
    await ear.close();
    await gone();
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
    fs.rmSync(home, { recursive: true, force: true });
  });

  it('a killed bridge is reported once and restarts; its last delivery comes again, flagged, with the same id', async () => {
    const client = open();
    await ear.queue('shop/pi', { message: 'WORD' });
    const first = await heard(client);
    expect(first.text).toContain('WORD');
    end(one(), 'SIGKILL');
    await until(() => said.length > 0);
    expect(await prompt(client)).toBeUndefined();
    await until(() => began === 2);
    // The host did not get the notification, and the plugin could not report this failure.
    const second = await heard(client);
    expect(second.text).toContain('repeated');
    expect(second.text).toContain('WORD');
    second.confirm('pi session entry 2');
    expect(said.filter((line) => line.includes('the bridge'))).toEqual([expect.stringContaining('SIGKILL') as string]);
  });

  it('a delivery that the host has when its bridge dies is confirmed by the next bridge, and does not come again', async () => {
    const client = open();
    await ear.queue('shop/pi', { message: 'WORD' });
    const first = await heard(client);
    end(one(), 'SIGKILL');
    await until(() => said.length > 0);
    await until(() => began === 2);
    first.confirm('pi session entry 1');
    await ear.queue('shop/pi', { message: 'NEXT' });
    const second = await heard(client);
    expect(second.text).toContain('NEXT');
    expect(second.text).not.toContain('WORD');
    second.confirm();
  });

  it('a text that arrives after the plugin has continued goes to the next request, once', async () => {
    const client = open();
    const slow = await givenUp(client);
    const handed = await heard(client);
    expect(handed.text).toContain('LATE');
    expect(handed.text).not.toContain('repeated');
    handed.confirm();
    await ear.queue('shop/pi', { message: 'NEXT' });
    const next = await heard(client);
    expect(next.text).toContain('NEXT');
    expect(next.text).not.toContain('LATE');
    next.confirm();
    expect(one()).toBe(slow);
  });

  it('a late text whose lease has ended is dropped, and its notification is offered again', async () => {
    const client = open();
    await givenUp(client);
    await offered();
    // The clock of this process passes the end of the lease, for the plugin and for `ear`. The next plan of `ear` releases the lease.
    const now = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => now() + DEFAULT_POLICY.leaseMs);
    await ear.conversation('shop/pi').decisions({ at: 'tool_result' });
    const again = await answered(() => client.ask(whose(), { kind: 'batch_end', tools: [] }));
    expect(again.text).toContain('LATE');
    expect(again.text).toContain('repeated');
    again.confirm();
    await ear.queue('shop/pi', { message: 'NEXT' });
    const next = await heard(client);
    expect(next.text).toContain('NEXT');
    expect(next.text).not.toContain('LATE');
    next.confirm();
  });

  it('after five seconds of unanswered requests the plugin ends a hanging bridge and starts another bridge', async () => {
    const client = open();
    await ear.queue('shop/pi', { message: 'WORD' });
    (await heard(client)).confirm();
    const hanging = one();
    end(hanging, 'SIGSTOP');
    for (; bridges().some(({ pid }) => pid === hanging); await tick()) expect(await prompt(client)).toBeUndefined();
    await until(() => began === 2);
    expect(one()).not.toBe(hanging);
    expect(said.join('\n')).toContain('did not answer within 250 ms');
  });

  it("while the bridge hangs, a call is denied if the bridge's last answer reported an interrupt", async () => {
    const client = open();
    await ear.queue('shop/pi', { message: 'WORD', action: 'pause', origin: { person: 'Ann' } });
    await heard(client);
    const denied = (): Promise<Handed | undefined> => client.ask(whose(), { kind: 'before_tool', tool: 'bash' });
    expect(await answered(denied)).toMatchObject({ kind: 'deny', text: expect.stringContaining('WORD') as string });
    end(one(), 'SIGSTOP');
    expect(await denied()).toMatchObject({ kind: 'deny', text: expect.stringContaining('an interrupt waits') as string });
    expect(await prompt(client)).toBeUndefined();
  });

  it('without a bridge the plugin answers at once, and reports the reason', async () => {
    const client = open('/nowhere/node');
    expect(await prompt(client)).toBeUndefined();
    expect(said).toEqual([expect.stringMatching(/cannot be started .*ENOENT.*continues without notifications/u) as string]);
  });

  it('if the bridge refuses its command line, its own message is reported', async () => {
    const client = open(process.execPath, ['--as', 'shop/']);
    client.start();
    await until(() => said.length > 1);
    expect(said.join('\n')).toContain('"shop/"');
  });

  it('the bridge ends with its agent, also after kill -9', async () => {
    const agent = spawn(
      process.execPath,
      [
        '-e',
        `const c = require('child_process').spawn(process.execPath, ${JSON.stringify([entry, 'bridge', 'pi'])}); c.stdout.pipe(process.stdout); setInterval(() => {}, 1e9)`,
      ],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const [ready] = (await once(agent.stdout, 'data')) as [Buffer];
    expect(JSON.parse(ready.toString())).toEqual({ ready: true });
    expect(bridges()).toHaveLength(1);
    agent.kill('SIGKILL');
    await gone();
  });
});
