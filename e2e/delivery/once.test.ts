import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { isType } from '../../src/core/records.ts';
import { logKey } from '../../src/core/address.ts';
import { Stage, textOf, type GatewayClient } from './stage.ts';
import { proves } from '../verifies.ts';

const LOG = logKey('shop', 'coder');
/** Returns the machine's monotonic clock in ms. Unlike `performance.now()`, this clock is the same in all processes. */
const now = (): number => Number(process.hrtime.bigint()) / 1e6;

describe('once', () => {
  it(
    '1,000 calls through two gateways get each notification of another process exactly once',
    { timeout: 120_000 },
    async ({ signal }) => {
      proves('delivery:thousand-calls', 'delivery:other-process', 'delivery:everything-due');
      await using stage = new Stage();
      const ear = await stage.open();
      const gateways = [await stage.gateway(), await stage.gateway()];
      const producer = spawn(process.execPath, [join(import.meta.dirname, 'producer.ts'), 'shop/coder#main', '400', '4'], {
        env: stage.env(),
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const queued: { id: string; at: number }[] = [];
      const lines = createInterface({ input: producer.stdout });
      lines.on('line', (line) => queued.push(JSON.parse(line) as { id: string; at: number }));
      const produced = new Promise((resolve) => producer.once('close', resolve));

      // On a busy machine, all calls could end before the producer has begun.
      await once(lines, 'line');

      type Call = { start: number; end: number; ids: string[] };
      const calls: Call[] = [];
      let left = 1_000;
      const worker = async (gateway: GatewayClient): Promise<void> => {
        while (left-- > 0) {
          const start = now();
          const text = textOf(await gateway.call('echo', { text: `call ${left}` }));
          calls.push({ start, end: now(), ids: [...text.matchAll(/<(p\d+-\d+)>/g)].map((m) => m[1] ?? '') });
        }
      };
      await Promise.all(Array.from({ length: 8 }, (_, i) => worker(gateways[i % 2] as GatewayClient)));
      await produced;
      // On a busy machine, a call may carry no notification although some notifications are open. So the calls continue until
      // no notification is open.
      const last = gateways[0] as GatewayClient;
      const isOpen = async (): Promise<boolean> => (await ear.open('shop/coder')).length > 0;
      for (let more = await isOpen(); more && !signal.aborted; more = await isOpen()) {
        const text = textOf(await last.call('echo', { text: 'last' }));
        calls.push({ start: now(), end: now(), ids: [...text.matchAll(/<(p\d+-\d+)>/g)].map((m) => m[1] ?? '') });
      }

      const arrived = calls.flatMap((call) => call.ids);
      expect(queued).toHaveLength(400);
      expect(arrived.toSorted()).toEqual(queued.map((q) => q.id).toSorted());
      // A notification that was queued before a call began arrives in that call's result, or in a result that was already in
      // flight.
      const byId = new Map(calls.flatMap((call) => call.ids.map((id) => [id, call] as const)));
      const budget = ear.policies.policy('shop').maxItems;
      const late = calls.flatMap((call) =>
        call.ids.length >= budget ? [] : queued.filter((q) => q.at < call.start && (byId.get(q.id)?.start ?? 0) > call.end),
      );
      // A call passes without notifications if the store keeps a gateway waiting for 250 ms. That case has a different promise,
      // and the gateway reports the delay.
      if (gateways.every(({ stderr }) => stderr === '')) expect(late).toEqual([]);
      // Both gateways have carried notifications, and the index of the store agrees with its log.
      const offers = await ear.store.read({ log: LOG, types: ['carrier_offered'], limit: 2_000 });
      expect(new Set(offers.map(({ body }) => isType(body, 'carrier_offered') && body.owner.pid)).size).toBe(2);
      expect(await ear.store.verify()).toEqual([]);
    },
  );

  it.each(['offer.appended', 'carrier.before_bytes', 'carrier.after_bytes', 'confirm.before'])(
    'if a gateway is killed at %s, the notification is offered again, flagged, with the same id and text',
    async (point) => {
      proves('lease:repeated', 'log:queued-first');
      await using stage = new Stage();
      const ear = await stage.open();
      const doomed = await stage.gateway({ env: { EARPIECE_FAULT: `${point}:1` } });
      await ear.queue('shop/coder#main', { id: 'n1', message: 'the build has ended' });
      // If the gateway sends the bytes before it dies, the client gets the notification twice, the second time marked as
      // repeated.
      await doomed.call('echo', { text: 'x' }).catch(() => undefined);
      doomed.send({ method: 'notifications/initialized' });
      expect(await doomed.exited).toBe('SIGKILL');

      const next = await stage.gateway();
      const again = textOf(await next.call('echo', { text: 'y' }));
      expect(again).toContain('the build has ended');
      expect(again).toContain('repeated');
      await next.call('echo', { text: 'z' });
      const offers = (await ear.store.read({ log: LOG, types: ['carrier_offered'] })).flatMap(({ body }) =>
        isType(body, 'carrier_offered') ? [body] : [],
      );
      expect(offers.map((o) => o.ids)).toEqual([['n1'], ['n1']]);
      expect(offers[1]?.view.items).toEqual(offers[0]?.view.items.map((item) => ({ ...item, repeated: true })));
      expect(offers.map((o) => o.view.repeated ?? false)).toEqual([false, true]);
      expect((await ear.why('n1'))?.items[0]?.receipt).toBe('delivered');
    },
  );

  it('if a gateway is killed at confirm.after, the notification was delivered and does not arrive again', async () => {
    await using stage = new Stage();
    const ear = await stage.open();
    const doomed = await stage.gateway({ env: { EARPIECE_FAULT: 'confirm.after:1' } });
    await ear.queue('shop/coder#main', { id: 'n1', message: 'the build has ended' });
    await doomed.call('echo', { text: 'x' });
    doomed.send({ method: 'notifications/initialized' });
    expect(await doomed.exited).toBe('SIGKILL');
    const next = await stage.gateway();
    expect(textOf(await next.call('echo', { text: 'y' }))).toBe('y');
    expect((await ear.why('n1'))?.items[0]?.receipt).toBe('delivered');
  });

  it('if a client cancels right after the answer, the notification is released and arrives with the next answer', async () => {
    proves('lease:released');
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway();
    await ear.queue('shop/coder#main', { id: 'n1', message: 'the build has ended' });
    const { id, answer } = gateway.begin('tools/call', { name: 'echo', arguments: { text: 'x' } });
    expect(textOf((await answer) as never)).toContain('the build has ended');
    gateway.cancel(id);
    const second = textOf(await gateway.call('echo', { text: 'y' }));
    expect(second).toContain('the build has ended');
    expect(second).toContain('repeated');
    const types = (await ear.store.read({ log: LOG, types: ['carrier_released'] })).map(
      ({ body }) => 'reason' in body && body.reason,
    );
    expect(types).toEqual(['cancelled']);
  });

  it('if opencode cancels each answer at once, no notification is repeated, and get_notifications lowers the gate', async () => {
    proves('lease:answered');
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway({ client: 'opencode' });
    const call = async (name: string, args: object): Promise<string> => {
      const { id, answer } = gateway.begin('tools/call', { name, arguments: args });
      const text = textOf((await answer) as never);
      gateway.cancel(id);
      return text;
    };
    await ear.queue('shop/coder#main', { id: 'n1', message: 'the build has ended' });
    const heard = [await call('echo', { text: 'a' }), await call('echo', { text: 'b' }), await call('echo', { text: 'c' })];
    expect(heard.map((text) => text.includes('the build has ended'))).toEqual([true, false, false]);
    await ear.queue('shop/coder#main', { id: 'stop', message: 'stop it', level: 'critical' });
    expect(await call('echo', { text: 'd' })).toContain('stop it');
    expect(await call('get_notifications', {})).toContain('stop it');
    expect(await call('echo', { text: 'e' })).toBe('e');
    expect(stage.calls().map(({ text }) => text)).toEqual(['a', 'b', 'c', 'e']);
    expect(await ear.store.read({ log: LOG, types: ['carrier_released'] })).toEqual([]);
  });

  it('a late cancel of any client releases nothing, because the client has the answer', async () => {
    proves('lease:answered');
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway();
    await ear.queue('shop/coder#main', { id: 'n1', message: 'the build has ended' });
    const { id, answer } = gateway.begin('tools/call', { name: 'echo', arguments: { text: 'a' } });
    expect(textOf((await answer) as never)).toContain('the build has ended');
    // A cancel within 250 ms may have crossed the answer. After 250 ms, the gateway counts the answer as read.
    await expect.poll(() => ear.store.read({ log: LOG, types: ['carrier_confirmed'] })).toHaveLength(1);
    gateway.cancel(id);
    expect(textOf(await gateway.call('echo', { text: 'b' }))).toBe('b');
  });

  it('a call that was cancelled before its answer carries nothing', async () => {
    await using stage = new Stage();
    const ear = await stage.open();
    const gateway = await stage.gateway();
    const slow = gateway.begin('tools/call', { name: 'echo', arguments: { text: 'slow', held: true } });
    slow.answer.catch(() => undefined);
    await ear.queue('shop/coder#main', { id: 'n1', message: 'the build has ended' });
    gateway.cancel(slow.id);
    await gateway.request('release', {});
    const next = textOf(await gateway.call('echo', { text: 'y' }));
    expect(next).toContain('the build has ended');
    expect(next).not.toContain('repeated');
    expect(await ear.store.read({ log: LOG, types: ['carrier_offered'] })).toHaveLength(1);
  });

  it("a failing result also carries notifications, and a database that is created after the gateway's start works", async () => {
    proves('delivery:carriers');
    await using stage = new Stage();
    const gateway = await stage.gateway();
    const ear = await stage.open();
    await ear.queue('shop/coder#main', { message: 'the build has ended' });
    const failed = await gateway.call('fail', { text: 'no' });
    expect(failed.isError).toBe(true);
    expect(textOf(failed)).toContain('the build has ended');
  });
});
