/**
 * Tests one process whose clock is a year off: the producer, a gateway, the server, the sweeper. No other process is affected.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parsed, Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { textOf, type GatewayClient } from './stage.ts';

const YEAR_MS = 365 * 86_400_000;
const PRELOAD = join(import.meta.dirname, 'clock-shift.ts');

const offBy = (ms: number): Record<string, string> => ({ NODE_OPTIONS: `--import ${PRELOAD}`, CLOCK_OFF_BY_MS: String(ms) });
const AS_MAIN = { EARPIECE_ADDRESS: 'shop/coder#main' };
const BY_WRONG = { ...AS_MAIN, EARPIECE_ADDRESS: 'shop/other#main' };

const CLOCKS: readonly (readonly [string, number])[] = [
  ['a year behind', -YEAR_MS],
  ['a year ahead', YEAR_MS],
];

const resultOf = async (client: GatewayClient): Promise<string> => textOf(await client.call('echo', { text: 'x' }));
/** Returns the result of a call, or of the next call. On a busy machine, notifications may be too late for the first result. */
const said = async (client: GatewayClient): Promise<string> => {
  const first = await resultOf(client);
  return first === 'x' ? await resultOf(client) : first;
};
const stateOf = async (shell: Shell, id: string): Promise<unknown> => {
  const [story] = await shell.json(['why', id]);
  return (story?.['items'] as { receipt: string }[] | undefined)?.[0]?.receipt;
};

describe.each(CLOCKS)('the clock of the producer is %s', (_name, ms) => {
  proves('time:sender');

  it('its notifications arrive also in a new database', async () => {
    await using shell = new Shell();
    for (const level of ['info', 'warning', 'error'])
      await shell.says(['send', '--to', 'coder', '--level', level, `${level} of the wrong clock`], { env: offBy(ms) });
    await using client = await shell.gateway({ env: AS_MAIN });
    const text = await said(client);
    for (const level of ['info', 'warning', 'error']) expect(text).toContain(`${level} of the wrong clock`);
  });

  it('its delayed notifications arrive soon after their time, and not at once', async () => {
    await using shell = new Shell();
    await using client = await shell.gateway({ env: AS_MAIN });
    await shell.says(['send', '--to', 'coder', 'first']);
    expect(await said(client)).toContain('first');
    await shell.says(['send', '--to', 'coder', '--deliver', 'in:2h', 'in two hours'], { env: offBy(ms) });
    await shell.says(['send', '--to', 'coder', '--deliver', 'in:1ms', 'at once'], { env: offBy(ms) });
    await shell.says(['send', '--to', 'coder', 'of a right clock']);
    const text = await said(client);
    expect(text).toContain('of a right clock');
    expect(text).not.toContain('in two hours');
    expect(text).toContain('at once');
  });

  it('the notifications and records of other processes do not change', async () => {
    proves('time:own-clock');
    await using shell = new Shell();
    for (const level of ['info', 'warning', 'error'])
      await shell.says(['send', '--to', 'coder', '--level', level, `${level} of a right clock`]);
    await shell.says(['remind', '--to', 'coder', 'in 2h', 'look at the deploy']);
    const [token] = await shell.json(['token', 'create', '--kind', 'admin', '--name', 'ops', '--expires', '90d']);
    await shell.says(['send', '--to', 'coder', 'of the wrong clock'], { env: offBy(ms) });
    await shell.json(['token', 'create', '--kind', 'admin', '--name', 'new'], { env: offBy(ms) });
    await shell.says(['send', '--to', 'coder', 'queued last']);
    await using client = await shell.gateway({ env: AS_MAIN });
    const text = await said(client);
    for (const level of ['info', 'warning', 'error']) expect(text).toContain(`${level} of a right clock`);
    expect(text).toContain('queued last');
    expect(text).not.toContain('look at the deploy');
    expect((await shell.json(['token', 'list'])).map(({ id }) => id)).toContain(token?.['id']);
  });

  it('a mute of an hour does not last for a year', async () => {
    await using shell = new Shell();
    await shell.says(['send', '--to', 'coder', '--id', 'n1', 'before']);
    await shell.says(['mute', 'ci', 'coder', '--for', '1h'], { env: offBy(ms) });
    await shell.says(['send', '--to', 'coder', '--kind', 'ci.failed', 'CI failed']);
    await using client = await shell.gateway({ env: AS_MAIN });
    expect(await said(client)).toContain('CI failed');
  });
});

describe('one producer’s clock is a year ahead, another producer’s clock a year behind', () => {
  proves('time:sender');

  it.each([
    ['that runs already', true],
    ['that starts later', false],
  ])('a gateway %s carries the notifications of both producers', async (_when, runs) => {
    await using shell = new Shell();
    const early = runs ? await shell.gateway({ env: AS_MAIN }) : undefined;
    await shell.says(['send', '--to', 'coder', 'of the clock ahead'], { env: offBy(YEAR_MS) });
    await shell.says(['send', '--to', 'coder', 'of the clock behind'], { env: offBy(-YEAR_MS) });
    await shell.says(['send', '--to', 'coder', 'of a right clock']);
    await using client = early ?? (await shell.gateway({ env: AS_MAIN }));
    const text = await said(client);
    for (const clock of ['the clock ahead', 'the clock behind', 'a right clock']) expect(text).toContain(`of ${clock}`);
  });
});

describe.each(CLOCKS)('the clock of a gateway is %s', (_name, ms) => {
  proves('time:own-clock', 'time:witness');

  it('the gateway delivers to its own agent, and does not expire the notifications of other agents', async () => {
    await using shell = new Shell();
    await using wrong = await shell.gateway({ env: { ...BY_WRONG, ...offBy(ms) } });
    await using right = await shell.gateway({ env: AS_MAIN });
    await shell.says(['send', '--to', 'coder', '--ttl', '1h', 'for the right one']);
    await shell.says(['send', '--to', 'other', '--id', 'o1', '--ttl', '1h', 'for the wrong one']);
    await shell.says(['send', '--to', 'other', '--id', 'o2', '--level', 'critical', 'stop']);
    const refused = await wrong.call('echo', { text: 'x' });
    expect(textOf(refused)).toContain('stop');
    expect(await said(right)).toContain('for the right one');
    expect(await stateOf(shell, 'o1')).not.toBe('expired');
    await shell.says(['send', '--to', 'coder', '--ttl', '1h', 'after that']);
    expect(await said(right)).toContain('after that');
  });

  it('the gateway reports its wrong clock once, doctor names the process and the held notifications, and why explains the delay', async () => {
    await using shell = new Shell();
    await using wrong = await shell.gateway({ env: { ...BY_WRONG, ...offBy(ms) } });
    await shell.says(['send', '--to', 'other', '--id', 'o1', '--ttl', '1h', 'for the wrong one']);
    const [first, second] = [await said(wrong), await said(wrong)];
    const off = ms < 0 ? '365 days behind' : '365 days ahead';
    const pid = String(wrong.process.pid);
    const lines = wrong.stderr.split('\n').filter((line) => line.includes('the clock of this process is'));
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain(off);

    const { stdout, code } = await shell.run(['--json', 'doctor']);
    expect(code).toBe(8);
    const clocks = parsed(stdout).filter(({ what }) => what === 'clock');
    expect(clocks).toHaveLength(1);
    expect(clocks[0]?.['value']).toContain(`the clock of process ${pid}`);
    expect(clocks[0]?.['value']).toContain(off);
    const [byWrong] = parsed((await shell.run(['--json', 'doctor'], { env: offBy(ms) })).stdout).filter(
      ({ what }) => what === 'clock',
    );
    expect(byWrong?.['value']).toContain(`the clock of this process is ${off}`);

    const why = await shell.says(['why', 'o1']);
    if (ms < 0) return expect(`${first}${second}`).toContain('for the wrong one');
    expect(`${first}${second}`).not.toContain('for the wrong one');
    expect(clocks[0]?.['value']).toContain('this clock hides 1 open notification as expired: o1 (shop/other)');
    expect(why).toContain(`process ${pid} on`);
    expect(why).toContain(`The clock of that process is ${off}`);
    expect((await shell.run(['why', 'o1'], { env: offBy(ms) })).stdout).toContain(
      `Hidden: the notification has expired by the clock of this process, which is ${off}`,
    );
  });

  it.each([
    ['a database with an earlier record', true],
    ['a new database', false],
  ])('a reminder does not arrive before its time, in %s', async (_where, recordBefore) => {
    await using shell = new Shell();
    if (recordBefore) await shell.says(['send', '--to', 'third', 'a record before']);
    await shell.says(['remind', '--to', 'other', 'in 2h', 'look at the deploy']);
    await shell.says(['send', '--to', 'other', '--ttl', '800d', '--deliver', 'in:2h', 'in two hours']);
    await shell.says(['send', '--to', 'other', '--ttl', '800d', '--deliver', 'in:1ms', 'in a moment']);
    await using wrong = await shell.gateway({ env: { ...BY_WRONG, ...offBy(ms) } });
    const texts = [await said(wrong), await said(wrong), await said(wrong)].join('\n');
    expect(texts).not.toContain('look at the deploy');
    expect(texts).not.toContain('in two hours');
    expect(texts).toContain('in a moment');
  });

  it('a gateway with a wrong clock does not take over the offers of another gateway of its conversation', async () => {
    await using shell = new Shell();
    await using right = await shell.gateway({ env: AS_MAIN });
    await using wrong = await shell.gateway({ env: { ...AS_MAIN, ...offBy(ms) } });
    await shell.says(['send', '--to', 'coder', '--id', 'n1', 'only once']);
    const texts = await Promise.all([said(right), said(wrong), said(wrong)]);
    texts.push(await said(wrong), await said(right));
    expect(texts.filter((text) => text.includes('only once'))).toHaveLength(1);
    await shell.says(['send', '--to', 'coder', '--ttl', '1h', 'for both']);
    expect(await said(right)).toContain('for both');
  });
});

describe.each(CLOCKS)('the clock of the server is %s', (_name, ms) => {
  proves('time:own-clock', 'time:witness');

  it('its housekeeping closes no notifications, and posted notifications arrive', async () => {
    await using shell = new Shell();
    await using client = await shell.gateway({ env: AS_MAIN });
    await shell.says(['send', '--to', 'coder', '--ttl', '1h', '--id', 'n1', 'waits for a carrier']);
    const [token] = await shell.json(['token', 'create', '--kind', 'send', '--name', 'ci']);
    const server = shell.begin(['serve', '--port', '0', '--json'], { env: offBy(ms) });
    await server.shows('"url"');
    const url = String(server.value('url'));
    await shell.says(['send', '--server', url, '--to', 'shop/coder', '--deliver', 'in:1ms', '--ttl', '1h', 'posted'], {
      env: { EARPIECE_TOKEN: String(token?.['token']) },
    });
    server.process.kill('SIGTERM');
    expect((await server.ended).code).toBe(0);
    expect(await stateOf(shell, 'n1')).toBe('queued');
    // A busy gateway may see the posted notification only at the first call, and the delay counts from that moment.
    const text = `${await said(client)}${await said(client)}`;
    expect(text).toContain('waits for a carrier');
    expect(text).toContain('posted');
  });
});

describe.each(CLOCKS)('the clock of the sweeper is %s', (_name, ms) => {
  proves('time:witness');

  it('the sweeper closes nothing and removes nothing', async () => {
    await using shell = new Shell();
    await using client = await shell.gateway({ env: AS_MAIN });
    await shell.says(['send', '--to', 'coder', '--id', 'd1', 'delivered']);
    expect(await said(client)).toContain('delivered');
    await said(client);
    await shell.says(['send', '--to', 'coder', '--id', 'n1', '--ttl', '1h', 'waits']);
    const { code, stderr } = await shell.run(['db', 'prune', '--older', '7d'], { env: offBy(ms) });
    expect(code).not.toBe(0);
    expect(stderr).toContain('nothing was pruned: the clock of this process shows');
    expect(await stateOf(shell, 'd1')).toBe('delivered');
    expect(await said(client)).toContain('waits');
  });

  it('a sweeper that is alone on its machine removes nothing either', async () => {
    await using shell = new Shell();
    {
      await using client = await shell.gateway({ env: AS_MAIN });
      await shell.says(['send', '--to', 'coder', '--id', 'd1', 'delivered']);
      expect(await said(client)).toContain('delivered');
      await said(client);
    }
    await shell.says(['send', '--to', 'coder', '--id', 'n1', '--ttl', '1h', 'waits']);
    await shell.run(['db', 'prune', '--older', '7d'], { env: offBy(ms) });
    expect(await stateOf(shell, 'd1')).toBe('delivered');
    expect(await stateOf(shell, 'n1')).toBe('queued');
  });
});

describe('the clocks are right', () => {
  it('no output mentions a clock', async () => {
    await using shell = new Shell();
    await using client = await shell.gateway({ env: AS_MAIN });
    await shell.says(['send', '--to', 'coder', '--id', 'n1', '--ttl', '1h', 'waits']);
    expect((await shell.json(['doctor'])).filter(({ what }) => what === 'clock')).toEqual([]);
    expect(await said(client)).toContain('waits');
    expect(client.stderr).not.toContain('clock');
  });

  it('expired notifications are closed, once another live process agrees', async () => {
    proves('time:witness');
    await using shell = new Shell();
    // `why` and the lists show an expired notification before the log contains the record of its end.
    const isClosed = async (): Promise<boolean> =>
      (await shell.json(['log'])).some(({ type, outcome }) => type === 'notification_closed' && outcome === 'expired');
    await shell.says(['send', '--to', 'coder', '--id', 'n1', '--ttl', '1ms', 'over']);
    await shell.says(['db', 'prune']);
    expect(await isClosed()).toBe(false);
    await using client = await shell.gateway({ env: AS_MAIN });
    expect(await said(client)).not.toContain('over');
    expect(await isClosed()).toBe(false);
    await shell.says(['db', 'prune']);
    expect(await isClosed()).toBe(true);
  });
});
