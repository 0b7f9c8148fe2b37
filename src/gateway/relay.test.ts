import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import type { Outgoing } from './riding/carry.ts';
import { frameOf } from '../mcp/frames/frame.ts';
import { GuardedRider } from './riding/guarded.ts';
import { Relay } from './relay.ts';
import { noDelivery, noRider, type Delivery, type Ride, type Rider, type Verdict } from './riding/rider.ts';
import { Settling } from './riding/settling.ts';
import { Catalog } from './riding/tools.ts';
import { proves } from '../../e2e/verifies.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  expect(vi.getTimerCount(), 'timers left behind').toBe(0);
  vi.useRealTimers();
});

/** Builds a relay. The test acts as the client and the server. With `wire: false`, output does not count as written at once. */
function given(rider: Partial<Rider> = {}, { wire = true } = {}) {
  const client: string[] = [];
  const server: string[] = [];
  const reports: string[] = [];
  const outs: Outgoing[] = [];
  const settling = new Settling();
  const written = (out: Outgoing): void => out.delivery && settling.written(out.requestId!, out.delivery);
  const relay = new Relay({
    server: 'files',
    rider: new GuardedRider({ ...noRider, ...rider }, (line) => reports.push(line)),
    catalog: new Catalog(),
    key: 'k',
    settling,
    report: (line) => reports.push(line),
    toClient: (out) => {
      client.push(out.bytes.toString());
      outs.push(out);
      if (out.delivery) settling.begin(out.requestId!, out.delivery);
      if (wire) written(out);
    },
    toServer: ({ bytes }) => server.push(bytes.toString()),
  });
  return {
    relay,
    client,
    server,
    reports,
    outs,
    settling,
    written,
    fromClient: (text: string) => relay.fromClient(frameOf(Buffer.from(`${text}\n`))),
    fromServer: (text: string) => relay.fromServer(frameOf(Buffer.from(`${text}\n`))),
  };
}

const settled = (): Delivery & { readonly said: string[] } => {
  const said: string[] = [];
  return { said, confirm: () => said.push('confirm'), release: (reason) => said.push(reason) };
};
const turn = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);
const call = (id: string, tool = 'read', extra = ''): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${tool}"${extra}}}`;
const result = (id: string, text = 'x'): string =>
  `{"result":{"content":[{"type":"text","text":"${text}"}]},"jsonrpc":"2.0","id":${id}}`;
const cancel = (id: string): string => `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
const initialize = (name: string): string =>
  `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"${name}","version":"1"}}}`;
const STATELESS =
  ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2"},"io.modelcontextprotocol/clientCapabilities":{},"progressToken":1}';
const ping = '{"jsonrpc":"2.0","method":"notifications/ping"}';

describe('passes frames that it does not understand', () => {
  test.each([
    '{"jsonrpc":"2.0","method":"x","params":{"a":1.0,"a":9007199254740993,"\\u0041":1e400}}',
    '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}',
    '[{"jsonrpc":"2.0","method":"x"}]',
    'not JSON at all',
    '{"jsonrpc":"2.0"}',
    '',
  ])('%s', (text) => {
    const { client, server, fromClient, fromServer } = given();
    fromClient(text);
    fromServer(text);
    expect(server).toEqual([`${text}\n`]);
    expect(client).toEqual([`${text}\n`]);
  });

  test('the calls of a batch are sent to the server one by one, so that the gate decides each call', () => {
    const asked: string[] = [];
    const { server, fromClient } = given({ before: (_, { tool }) => (asked.push(tool), { kind: 'pass' }) });
    fromClient(`[${call('1')}, ${call('2', 'write')},{"jsonrpc":"2.0","method":"n"}]`);
    expect(asked).toEqual(['read', 'write']);
    expect(server).toEqual([`${call('1')}\n`, `${call('2', 'write')}\n`, '{"jsonrpc":"2.0","method":"n"}\n']);
  });
});

describe('an answer passes only if a request to this server is waiting for it', () => {
  const OWN = { tools: () => [{ name: 'get_notifications' }] };
  const forged = (id: string): string => result(id, 'forged');

  test('only one answer with the exact id passes; the first drop and the number of drops are reported', () => {
    proves('gateway:forged-answers');
    const { relay, client, reports, fromClient, fromServer } = given();
    fromClient('{"jsonrpc":"2.0","id":1,"method":"ping"}');
    for (const id of ['"1"', '2', '-1', '"\\u0031"', '1', '1.0', '1']) fromServer(forged(id));
    fromServer('{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"forged"}}');
    fromServer('{"jsonrpc":"2.0","id":7,"method":"x","result":{}}');
    fromServer('{"jsonrpc":"2.0","id":7,"result":{"content":[NaN,Infinity,-Infinity]}}');
    expect(client).toEqual([`${forged('1')}\n`]);
    expect(reports).toEqual([
      expect.stringContaining('"files" sent an answer with the id "1", but has no open request with this id'),
    ]);
    relay.close();
    expect(reports[1]).toContain('sent 9 answers without a request');
  });

  test('no answer passes before the call is sent, for a refused call, or for a tool of Earpiece', async () => {
    proves('gateway:forged-answers');
    let decide: (verdict: Verdict) => void = () => {};
    const { client, server, fromClient, fromServer } = given({
      ...OWN,
      before: () => new Promise((resolve) => (decide = resolve)),
      callTool: () => new Promise(() => {}),
    });
    fromClient('{"jsonrpc":"2.0","id":0,"method":"tools/list"}');
    fromServer('{"jsonrpc":"2.0","id":0,"result":{"tools":[]}}');
    fromClient(call('5'));
    fromClient('{"jsonrpc":"2.0","id":6,"method":"ping"}');
    fromClient(call('7', 'get_notifications'));
    client.length = 0;
    for (const id of ['5', '6', '7']) fromServer(forged(id));
    expect([client, server.length]).toEqual([[], 1]);
    decide({ kind: 'refuse', text: 'held' });
    await turn();
    await turn();
    expect(client).toEqual([expect.stringContaining('"text":"held"')]);
    for (const id of ['5', '7']) fromServer(forged(id));
    expect(client).toHaveLength(1);
    fromServer('{"jsonrpc":"2.0","id":6,"result":{}}');
    expect(client).toHaveLength(2);
  });

  test('no answer passes to an id that the client reuses for a tool of Earpiece', async () => {
    proves('gateway:forged-answers');
    const { client, fromClient, fromServer } = given({ ...OWN, callTool: () => new Promise(() => {}) });
    fromClient('{"jsonrpc":"2.0","id":0,"method":"tools/list"}');
    fromServer('{"jsonrpc":"2.0","id":0,"result":{"tools":[]}}');
    fromClient(call('1'));
    fromClient(cancel('1'));
    fromClient(call('1', 'get_notifications'));
    await turn();
    client.length = 0;
    fromServer(forged('1'));
    expect(client).toEqual([]);
  });

  test('a late answer to a cancelled call passes, and so does a batch of answers to a batch', () => {
    const { client, fromClient, fromServer } = given();
    fromClient(call('1'));
    fromClient(cancel('1'));
    fromServer(result('1'));
    fromClient('[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]');
    const answers = `[${result('2')}, ${result('3')}]`;
    fromServer(answers);
    expect(client).toEqual([`${result('1')}\n`, `${answers}\n`]);
  });

  test('unasked answers are removed from a batch', () => {
    proves('gateway:forged-answers');
    const { client, fromClient, fromServer } = given();
    fromClient('{"jsonrpc":"2.0","id":2,"method":"ping"}');
    fromServer(`[${forged('9')},${result('2')},[${forged('9')}],{"jsonrpc":"2.0","method":"n"},${result('2')}]`);
    expect(client).toEqual([`${result('2')}\n`, '{"jsonrpc":"2.0","method":"n"}\n']);
  });
});

describe('a tools/call without an id', () => {
  const note = '{"jsonrpc":"2.0","method":"tools/call","params":{"name":"write"}}';

  test('is dropped before the client identifies itself and while the gate is up, even in a batch, and each is reported once', () => {
    proves('gate:no-id');
    let up = true;
    const delivery = settled();
    const { server, reports, fromClient } = given({
      before: () => (up ? { kind: 'refuse', text: 'held', delivery } : { kind: 'pass' }),
    });
    const dropped = (when: string): string =>
      `the client sent a tools/call of "write" without an id ${when}; the gateway drops such calls`;
    fromClient(note);
    fromClient(note);
    expect(reports).toEqual([dropped('before it identified itself')]);
    fromClient('{"jsonrpc":"2.0","id":0,"method":"ping"}');
    server.length = 0;
    fromClient(note);
    fromClient(`[${note}]`);
    expect(server).toEqual([]);
    expect(delivery.said).toEqual(['late', 'late']);
    expect(reports.slice(1)).toEqual([dropped('while the gate was up')]);
    up = false;
    fromClient(note);
    expect(server).toEqual([`${note}\n`]);
  });
});

describe('notifications on results', () => {
  test('a silent rider is not asked, and the bytes do not change', () => {
    const asked: string[] = [];
    let nothing = true;
    const { client, fromClient, fromServer } = given({
      silent: () => nothing,
      after: (_, { requestId }) => (asked.push(requestId), { kind: 'ride', text: 'N', delivery: settled() }),
    });
    fromClient(initialize('claude-code'));
    fromClient(call('1'));
    fromServer(result('1'));
    expect([asked, client.at(-1)]).toEqual([[], `${result('1')}\n`]);
    nothing = false;
    fromClient(call('2'));
    fromServer(result('2'));
    expect(asked).toEqual(['2']);
    expect(client.at(-1)).toContain('"text":"N"');
    vi.runAllTimers();
  });

  test('during an outage, a silent rider is asked too, so that the outage ends', () => {
    const asked: string[] = [];
    const { reports, fromClient, fromServer } = given({
      before: () => {
        if (asked.length === 0) throw new Error('no log');
        return { kind: 'pass' };
      },
      silent: () => true,
      after: (_, { requestId }) => (asked.push(requestId), { kind: 'none' }),
    });
    fromClient(initialize('claude-code'));
    fromClient(call('1'));
    fromServer(result('1'));
    expect([asked, reports.length]).toEqual([['1'], 1]);
    fromClient(call('2'));
    fromServer(result('2'));
    expect([asked, reports.length]).toEqual([['1'], 2]);
  });

  test('calls with the ids 1 and "1" are different: a notification for one call is not added to the result of the other call', async () => {
    const asked: string[] = [];
    const { client, fromClient, fromServer } = given({
      after: (_, { tool, requestId }) => {
        asked.push(`${tool} ${requestId}`);
        return tool === 'a' ? { kind: 'ride', text: 'N', delivery: settled() } : { kind: 'none' };
      },
    });
    fromClient(call('1', 'a'));
    fromClient(call('"1"', 'b'));
    fromClient('{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{}}');
    fromServer(result('"1"'));
    fromServer('{"jsonrpc":"2.0","id":2,"result":{"content":[]}}');
    fromServer(result('1'));
    expect(asked).toEqual(['b "1"', 'a 1']);
    expect(client).toEqual([
      `${result('"1"')}\n`,
      '{"jsonrpc":"2.0","id":2,"result":{"content":[]}}\n',
      '{"result":{"content":[{"type":"text","text":"x"},{"type":"text","text":"N"}]},"jsonrpc":"2.0","id":1}\n',
    ]);
    await vi.advanceTimersByTimeAsync(2_000);
  });

  test('an id in another spelling is the same id', () => {
    const asked: string[] = [];
    const { fromClient, fromServer } = given({ after: (_, { requestId }) => (asked.push(requestId), { kind: 'none' }) });
    fromClient(call('"\\u0041"'));
    fromClient(call('1.0'));
    fromServer(result('"A"'));
    fromServer(result('1'));
    expect(asked).toEqual(['"A"', '1']);
  });

  test('no notification is added to errors, to results without content, or to cancelled calls', () => {
    const { client, fromClient, fromServer } = given({ after: () => expect.unreachable() });
    const error = '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}';
    fromClient(call('1'));
    fromServer(error);
    fromClient(call('2'));
    fromServer('{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"s"}}');
    fromClient(call('3'));
    fromClient(cancel('3'));
    fromServer(result('3'));
    expect(client).toEqual([
      `${error}\n`,
      '{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","requestState":"s"}}\n',
      `${result('3')}\n`,
    ]);
  });

  test('answers keep their order while one answer waits for the rider', async () => {
    let answer: (value: { kind: 'none' }) => void = () => {};
    const { client, fromClient, fromServer } = given({
      after: (_, { tool }) => (tool === 'a' ? new Promise((resolve) => (answer = resolve)) : { kind: 'none' }),
    });
    fromClient(call('1', 'a'));
    fromClient(call('2', 'b'));
    fromServer(result('1'));
    fromServer(ping);
    fromServer(result('2'));
    expect(client).toEqual([]);
    answer({ kind: 'none' });
    await turn();
    expect(client).toEqual([`${result('1')}\n`, `${ping}\n`, `${result('2')}\n`]);
    fromServer(ping);
    expect(client).toHaveLength(4);
  });

  test('if the result would become too large, no notification is added, and the delivery is released', () => {
    proves('gateway:max-result');
    const delivery = settled();
    const { client, fromClient, fromServer } = given({ after: () => ({ kind: 'ride', text: 'N'.repeat(100), delivery }) });
    fromClient(initialize('claude-code'));
    fromClient(call('1'));
    fromServer(result('1', 'x'.repeat(49_901)));
    expect(client[0]).toBe(`${result('1', 'x'.repeat(49_901))}\n`);
    expect(delivery.said).toEqual(['too_big']);
  });

  test('a replaced result is a failing result only if the client knows a schema', () => {
    const { client, fromClient, fromServer, relay } = given({
      after: () => ({ kind: 'replace', text: 'N', delivery: settled() }),
    });
    fromClient(initialize('opencode'));
    fromClient('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    fromServer(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"plain"},{"name":"typed","outputSchema":{"type":"object"}}]}}',
    );
    fromClient(call('2', 'plain'));
    fromServer(result('2'));
    fromClient(call('3', 'typed'));
    fromServer(result('3'));
    expect(client.slice(1)).toEqual([
      '{"result":{"content":[{"type":"text","text":"N"}]},"jsonrpc":"2.0","id":2}\n',
      '{"result":{"content":[{"type":"text","text":"N"}],"isError":true},"jsonrpc":"2.0","id":3}\n',
    ]);
    relay.close();
  });
});

describe('a stream that stays open', () => {
  test.each<[string, string, string]>([
    ['subscriptions/listen', '{"notifications":{}}', '{"notifications":{}}'],
    ['events/stream', '{"name":"built","cursor":null}', '{"name":"built","cursor":"e1:44"}'],
    ['events/stream', '{"name":"built"}', '{"name":"built","cursor":"e1:44"}'],
  ])('%s %s is requested again from a restarted server, at its last cursor', async (method, before, after) => {
    proves('gateway:streams');
    const { relay, client, server, fromClient, fromServer } = given();
    const stream = (params: string): string => `{"jsonrpc":"2.0","id":5,"method":"${method}","params":${params}}`;
    fromClient(stream(before));
    for (const cursor of ['e1:42', 'e1:44'])
      fromServer(
        `{"jsonrpc":"2.0","method":"notifications/events/event","params":{"cursor":"${cursor}","_meta":{"io.modelcontextprotocol/subscriptionId":5}}}`,
      );
    fromServer(
      '{"jsonrpc":"2.0","method":"notifications/events/event","params":{"cursor":"other","_meta":{"io.modelcontextprotocol/subscriptionId":6}}}',
    );
    relay.serverDown('it stopped');
    expect(client.filter((line) => line.includes('"id":5'))).toEqual([]);
    await relay.serverUp();
    expect(server).toEqual([`${stream(before)}\n`, `${stream(after)}\n`]);
    relay.close();
  });
});

describe('a delivery is settled once', () => {
  const riding = (delivery: Delivery) => given({ after: () => ({ kind: 'ride', text: 'N', delivery }) }, { wire: false });

  test.each<[string, (world: ReturnType<typeof given>) => void, string[]]>([
    ['silence of the client for 250 ms confirms the delivery', () => vi.advanceTimersByTime(250), ['confirm']],
    ['silence of the client for 249 ms does not settle the delivery', () => vi.advanceTimersByTime(249), []],
    ['another frame of the client confirms the delivery', ({ fromClient }) => fromClient(ping), ['confirm']],
    ['a cancel of the call releases the delivery', ({ fromClient }) => fromClient(cancel('1')), ['cancelled']],
    ['the cancel of another call does not settle the delivery', ({ fromClient }) => fromClient(cancel('"1"')), []],
    [
      'a cancel after 250 ms comes too late',
      ({ fromClient }) => (vi.advanceTimersByTime(250), fromClient(cancel('1'))),
      ['confirm'],
    ],
    ['a cancel after another frame comes too late', ({ fromClient }) => (fromClient(ping), fromClient(cancel('1'))), ['confirm']],
    ['the end of the client confirms the delivery', ({ relay }) => relay.close(), ['confirm']],
  ])('after the answer is written, %s', (_, then, expected) => {
    const delivery = settled();
    const world = riding(delivery);
    world.fromClient(call('1'));
    world.fromServer(result('1'));
    world.written(world.outs[0]!);
    then(world);
    expect(delivery.said).toEqual(expected);
    if (expected.length === 0) vi.advanceTimersByTime(250);
    world.relay.close();
    expect(delivery.said).toHaveLength(1);
  });

  test('the end of the client releases an answer that is not written yet, and each later answer', () => {
    proves('lease:client-ended');
    const deliveries = [settled(), settled(), settled()];
    const settling = new Settling();
    const [written, begun, later] = deliveries;
    settling.begin('1', written!);
    settling.written('1', written!);
    settling.begin('2', begun!);
    settling.clientEnded();
    settling.written('2', begun!);
    settling.begin('3', later!);
    settling.end();
    expect(deliveries.map(({ said }) => said)).toEqual([['confirm'], ['client_died'], ['client_died']]);
  });

  test('a client that cancels each answer right away gets at most one repetition', () => {
    const deliveries = Array.from({ length: 4 }, () => settled());
    let next = 0;
    const world = given({ after: () => ({ kind: 'ride', text: 'N', delivery: deliveries[next++]! }) }, { wire: false });
    for (const id of ['1', '2', '3', '4']) {
      world.fromClient(call(id));
      world.fromServer(result(id));
      world.written(world.outs.at(-1)!);
      world.fromClient(cancel(id));
    }
    expect(deliveries.map(({ said }) => said)).toEqual([['cancelled'], ['confirm'], ['confirm'], ['confirm']]);
  });

  test('a cancel from opencode does not release an answer that was written', () => {
    const delivery = settled();
    const world = riding(delivery);
    world.fromClient(initialize('opencode'));
    world.fromClient(call('1'));
    world.fromServer(result('1'));
    world.written(world.outs.at(-1)!);
    world.fromClient(cancel('1'));
    expect(delivery.said).toEqual(['confirm']);
  });

  test('if a client stops and cancels all its calls, the deliveries of the answers that were written just before are released', () => {
    const deliveries = Array.from({ length: 3 }, () => settled());
    let next = 0;
    const world = given({ after: () => ({ kind: 'ride', text: 'N', delivery: deliveries[next++]! }) }, { wire: false });
    for (const id of ['1', '2', '3']) world.fromClient(call(id));
    for (const id of ['1', '2', '3']) world.fromServer(result(id));
    for (const out of world.outs) world.written(out);
    for (const id of ['1', '2', '3']) world.fromClient(cancel(id));
    expect(deliveries.map(({ said }) => said)).toEqual([['cancelled'], ['cancelled'], ['cancelled']]);
  });

  test.each<[string, (world: ReturnType<typeof given>) => void, string[]]>([
    ['a cancel of the call releases the delivery', ({ fromClient }) => fromClient(cancel('1')), ['cancelled']],
    ['another frame of the client does not settle the delivery', ({ fromClient }) => fromClient(ping), []],
    ['a write error releases the delivery', ({ outs, settling }) => settling.failed('1', outs[0]!.delivery!), ['write_error']],
    ['the end of the client releases the delivery', ({ relay }) => relay.close(), ['write_error']],
  ])('while the answer is being written, %s', (_, then, expected) => {
    const delivery = settled();
    const world = riding(delivery);
    world.fromClient(call('1'));
    world.fromServer(result('1'));
    then(world);
    expect(delivery.said).toEqual(expected);
    world.relay.close();
    expect(delivery.said).toHaveLength(1);
  });

  test('a call that is cancelled while the rider is asked gets its result without the notification, which is released', async () => {
    const delivery = settled();
    const { client, fromClient, fromServer } = given({ after: async () => ({ kind: 'ride', text: 'N', delivery }) });
    fromClient(call('1'));
    fromServer(result('1'));
    fromClient(cancel('1'));
    await turn();
    expect(client).toEqual([`${result('1')}\n`]);
    expect(delivery.said).toEqual(['cancelled']);
  });
});

describe('the gate', () => {
  test('a refused call is answered, and the server gets neither the call nor its cancel', async () => {
    const delivery = settled();
    const { client, server, fromClient } = given({
      before: async () => ({ kind: 'refuse', text: 'stop', meta: { id: 'n' }, delivery }),
    });
    fromClient(call('1'));
    await turn();
    expect(client).toEqual([
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"stop"}],"isError":true,"_meta":{"id":"n"}}}\n',
    ]);
    fromClient(ping);
    expect(delivery.said).toEqual(['confirm']);
    fromClient(call('2'));
    fromClient(cancel('2'));
    await turn();
    expect(client).toHaveLength(1);
    expect(server).toEqual([`${ping}\n`]);
  });

  test('a refusal whose call is cancelled before the answer leaves counts as never sent', async () => {
    proves('lease:cancelled-early');
    const delivery = settled();
    const { client, fromClient } = given({ before: async () => ({ kind: 'refuse', text: 'stop', delivery }) });
    fromClient(call('1'));
    fromClient(cancel('1'));
    await turn();
    expect(client).toEqual([]);
    expect(delivery.said).toEqual(['late']);
  });

  test('the refusal for a stateless client has a resultType', () => {
    const { client, fromClient, relay } = given({ before: () => ({ kind: 'refuse', text: 'stop' }) });
    fromClient(call('1', 'read', STATELESS));
    expect(JSON.parse(client[0]!)).toMatchObject({ result: { resultType: 'complete', isError: true } });
    relay.close();
  });

  test('frames after a call that waits for its verdict wait too', async () => {
    const { server, fromClient } = given({ before: async () => ({ kind: 'pass' }) });
    fromClient(call('1'));
    fromClient(ping);
    expect(server).toEqual([]);
    await turn();
    expect(server).toEqual([`${call('1')}\n`, `${ping}\n`]);
  });
});

describe('a failing rider stops no traffic', () => {
  test.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('no store');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no store'))],
  ])('%s: the call passes, and one line is reported', async (_, fail) => {
    const { client, server, reports, fromClient, fromServer } = given({ before: fail, after: fail });
    fromClient(call('1'));
    await turn();
    fromServer(result('1'));
    await turn();
    expect(server).toEqual([`${call('1')}\n`]);
    expect(client).toEqual([`${result('1')}\n`]);
    expect(reports).toEqual([
      'notifications cannot be reached (before: no store); until the store answers, tool calls pass without notifications, except while a known gate is up',
    ]);
  });

  test('if the rider takes longer than 250 ms, the call passes, a text that is late twice comes with the next result, and the recovery is reported', async () => {
    proves('gateway:store-trouble');
    const delivery = settled();
    let answer: (value: Ride) => void = () => {};
    let slow = true;
    const { client, reports, fromClient, fromServer } = given({
      after: () => (slow ? new Promise((resolve) => (answer = resolve)) : { kind: 'none' }),
    });
    fromClient(call('1'));
    fromServer(result('1'));
    await vi.advanceTimersByTimeAsync(249);
    expect(client).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(client).toEqual([`${result('1')}\n`]);
    answer({ kind: 'ride', text: 'N', delivery, leaseMs: 30_000 });
    await turn();
    expect(delivery.said).toEqual(['late']);
    fromClient(call('2'));
    fromServer(result('2'));
    await vi.advanceTimersByTimeAsync(250);
    answer({ kind: 'ride', text: 'N', delivery, leaseMs: 30_000 });
    await turn();
    expect(delivery.said).toEqual(['late']);
    slow = false;
    fromClient(call('3'));
    fromServer(result('3'));
    await turn();
    const passed = ['1', '2'].map((id) => `${result(id)}\n`);
    expect(client).toEqual([...passed, expect.stringContaining('{"type":"text","text":"N"}') as string]);
    const outage = [
      'notifications cannot be reached (after: no answer within 250 ms); until the store answers, tool calls pass without notifications, except while a known gate is up',
      'notifications can be reached again',
    ];
    expect(reports).toEqual([...outage, ...outage]);
    await vi.advanceTimersByTimeAsync(250);
    expect(delivery.said).toEqual(['late', 'confirm']);
  });

  test('an outage costs 250 ms once and is reported once, even while the gate can still be read', async () => {
    proves('gateway:store-trouble');
    const { client, reports, fromClient, fromServer } = given({
      before: () => Promise.resolve({ kind: 'pass' }),
      after: () => new Promise(() => {}),
    });
    const passes = async (id: string, withinMs: number): Promise<void> => {
      fromClient(call(id));
      await turn();
      fromServer(result(id));
      await vi.advanceTimersByTimeAsync(withinMs);
      expect(client.at(-1)).toBe(`${result(id)}\n`);
    };
    await passes('1', 250);
    for (const id of ['2', '3', '4']) await passes(id, 25);
    expect(reports).toEqual([
      'notifications cannot be reached (after: no answer within 250 ms); until the store answers, tool calls pass without notifications, except while a known gate is up',
    ]);
  });
});

describe('own tools', () => {
  const own: Partial<Rider> = {
    tools: () => [{ name: 'get_notifications', inputSchema: { type: 'object' } }],
    callTool: (_, { tool, args }) => ({
      result: { content: [{ type: 'text', text: `${tool} ${JSON.stringify(args)}` }] },
      ...settled(),
    }),
  };
  const tools = (id: string, names: string, rest = ''): string =>
    `{"jsonrpc":"2.0","id":${id},"result":{"tools":[${names}]${rest}}}`;

  test('are listed at the end, and the gateway answers their calls', async () => {
    const { client, server, fromClient, fromServer, relay } = given(own);
    fromClient('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    fromServer(tools('1', '{"name":"a"}'));
    expect(client.pop()).toBe(`${tools('1', '{"name":"a"},{"name":"get_notifications","inputSchema":{"type":"object"}}')}\n`);
    server.length = 0;
    fromClient(call('2', 'get_notifications', ',"arguments":{"n":1}'));
    await turn();
    expect(client).toEqual([
      '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"get_notifications {\\"n\\":1}"}]}}\n',
    ]);
    expect(server).toEqual([]);
    relay.close();
  });

  test("before a client lists tools, the gateway reads all pages of the upstream's tools", async () => {
    const { client, server, fromClient, fromServer, relay } = given(own);
    fromClient(call('2', 'get_notifications', STATELESS));
    fromClient(ping);
    const asked = JSON.parse(server[0]!) as { method: string; params: { _meta: object } };
    expect(asked.method).toBe('tools/list');
    expect(Object.keys(asked.params._meta)).toEqual([
      'io.modelcontextprotocol/protocolVersion',
      'io.modelcontextprotocol/clientInfo',
      'io.modelcontextprotocol/clientCapabilities',
    ]);
    fromServer(tools('"earpiece-1"', '{"name":"a"}', ',"nextCursor":"c"'));
    await turn();
    expect(JSON.parse(server[1]!)).toMatchObject({ id: 'earpiece-2', params: { cursor: 'c' } });
    fromServer(tools('"earpiece-2"', '{"name":"get_notifications"}'));
    await turn();
    expect(server.slice(2)).toEqual([`${call('2', 'get_notifications', STATELESS)}\n`, `${ping}\n`]);
    fromClient(call('3', 'earpiece_get_notifications', STATELESS));
    await turn();
    expect(JSON.parse(client[0]!)).toMatchObject({ id: 3, result: { resultType: 'complete' } });
    expect(server).toHaveLength(4);
    relay.close();
  });

  test('a cancelled call of a tool of Earpiece is not answered, and its delivery is released', async () => {
    const delivery = settled();
    let answer: () => void = () => {};
    const { client, server, fromClient } = given({
      ...own,
      tools: () => [{ name: 'wait' }],
      callTool: () => new Promise((resolve) => (answer = () => resolve({ result: { content: [] }, ...delivery }))),
    });
    fromClient('{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    fromClient(call('2', 'wait'));
    await vi.advanceTimersByTimeAsync(2_000);
    fromClient(cancel('2'));
    answer();
    await turn();
    expect(client).toEqual([]);
    expect(delivery.said).toEqual(['cancelled']);
    expect(server.some((line) => line.includes('cancelled'))).toBe(false);
  });
});

test('the answer of a tool of Earpiece does not wait for the text of an earlier answer', async () => {
  proves('gateway:order');
  let after: (ride: Ride) => void = () => {};
  const { client, fromClient, fromServer, relay } = given({
    tools: () => [{ name: 'get_notifications' }],
    after: () => new Promise((resolve) => (after = resolve)),
    callTool: () => ({ result: { content: [] }, ...noDelivery }),
  });
  fromClient('{"jsonrpc":"2.0","id":0,"method":"tools/list"}');
  fromServer('{"jsonrpc":"2.0","id":0,"result":{"tools":[]}}');
  fromClient(call('1'));
  fromServer(result('1'));
  fromClient(call('2', 'get_notifications'));
  await turn();
  expect(JSON.parse(client[1]!)).toMatchObject({ id: 2 });
  after({ kind: 'none' });
  await turn();
  expect(client).toHaveLength(3);
  relay.close();
});

describe('a server that ends', () => {
  const WHY = 'The MCP server "files" stopped during this call (exit code 3).';

  test('open calls get a failing result, which can carry notifications; other requests get an error', () => {
    const { client, fromClient, relay } = given({
      after: (_, { isError }) => (isError ? { kind: 'ride', text: 'N', delivery: settled() } : { kind: 'none' }),
    });
    fromClient(call('1'));
    fromClient('{"jsonrpc":"2.0","id":"p","method":"ping"}');
    relay.serverDown(WHY);
    expect(client.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        jsonrpc: '2.0',
        id: 1,
        result: {
          content: [
            { type: 'text', text: WHY },
            { type: 'text', text: 'N' },
          ],
          isError: true,
        },
      },
      { jsonrpc: '2.0', id: 'p', error: { code: -32603, message: WHY, data: { server: 'files' } } },
    ]);
    relay.close();
  });

  test('the new process gets the setup of the ended process, and then the held requests', async () => {
    const { client, server, fromClient, fromServer, relay } = given();
    const subscribe = '{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"u"}}';
    const level = '{"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"debug"}}';
    const initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const ok = (id: string): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;
    fromClient(initialize('x'));
    fromServer(ok('0'));
    fromClient(initialized);
    fromClient(subscribe);
    fromServer(ok('5'));
    fromClient(level);
    fromServer(ok('6'));
    const before = client.length;
    server.length = 0;

    relay.serverDown(WHY);
    fromClient(call('7'));
    fromClient(ping);
    expect(server).toEqual([]);
    const up = relay.serverUp();
    expect(server).toEqual([`${initialize('x').replace('"id":0', '"id":"earpiece-1"')}\n`]);
    fromServer(ok('"earpiece-1"'));
    expect(await up).toBe(true);
    expect(server.slice(1)).toEqual([
      `${initialized}\n`,
      `${level.replace('"id":6', '"id":"earpiece-2"')}\n`,
      `${subscribe.replace('"id":5', '"id":"earpiece-3"')}\n`,
      `${call('7')}\n`,
    ]);
    fromServer(ok('"earpiece-2"'));
    fromServer(ok('"earpiece-3"'));
    fromServer(result('7'));
    expect(client.slice(before)).toEqual([`${result('7')}\n`]);
    relay.close();
  });

  test('a request that was held too long is answered with an error', async () => {
    const { client, fromClient, relay } = given();
    relay.serverDown(WHY);
    fromClient(call('1'));
    fromClient(call('2'));
    fromClient(cancel('2'));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(client).toHaveLength(1);
    expect(JSON.parse(client[0]!)).toMatchObject({
      id: 1,
      result: {
        isError: true,
        content: [{ text: 'The MCP server "files" has stopped and did not return within 5 s. Try again later.' }],
      },
    });
    relay.close();
  });

  test('a held request whose id is used again is held for the whole time, and not answered after the restart', async () => {
    const { client, server, fromClient, fromServer, relay } = given();
    relay.serverDown(WHY);
    fromClient(call('1'));
    await vi.advanceTimersByTimeAsync(4_000);
    fromClient(call('1', 'write'));
    await vi.advanceTimersByTimeAsync(4_000);
    expect(client).toEqual([]);
    expect(await relay.serverUp()).toBe(true);
    expect(server).toEqual([`${call('1', 'write')}\n`]);
    await vi.advanceTimersByTimeAsync(5_000);
    fromServer(result('1'));
    expect(client).toEqual([`${result('1')}\n`]);
    relay.close();
  });

  test.each([
    ['refuses it', 'the server runs again, but refused the repeated handshake: no licence'],
    ['does not answer', 'the server runs again, but did not answer the repeated handshake within 30 s'],
    ['answers too long', 'the server runs again, but its answer to the repeated handshake was lost: too long'],
  ])('requests get the reason if the new process gets the handshake and %s, until that process ends', async (how, why) => {
    const { client, server, fromClient, fromServer, relay } = given();
    const failure = `The MCP server \\"files\\" does not work: ${why}.`;
    fromClient(initialize('x'));
    fromServer('{"jsonrpc":"2.0","id":0,"result":{}}');
    client.length = 0;
    relay.serverDown(WHY);
    const up = relay.serverUp();
    if (how === 'does not answer') await vi.advanceTimersByTimeAsync(29_000);
    fromClient(call('1'));
    if (how === 'does not answer') await vi.advanceTimersByTimeAsync(1_000);
    else if (how === 'answers too long') relay.lostAnswer('"earpiece-1"', 'too long');
    else fromServer('{"jsonrpc":"2.0","id":"earpiece-1","error":{"code":1,"message":"no licence"}}');
    expect(await up).toBe(why);
    fromClient(call('2'));
    expect(client).toEqual([expect.stringContaining(failure), expect.stringContaining(failure)]);

    relay.serverDown(WHY);
    const again = relay.serverUp();
    fromServer('{"jsonrpc":"2.0","id":"earpiece-2","result":{}}');
    expect(await again).toBe(true);
    fromClient(call('3'));
    expect(server.at(-1)).toBe(`${call('3')}\n`);
    relay.close();
  });

  test('a relay that closes during the repeated handshake reports nothing', async () => {
    const { fromClient, fromServer, relay } = given();
    fromClient(initialize('x'));
    fromServer('{"jsonrpc":"2.0","id":0,"result":{}}');
    relay.serverDown(WHY);
    const up = relay.serverUp();
    relay.close();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await up).toBeUndefined();
  });

  test('if the server will not return, new requests are answered with the reason', () => {
    const { client, fromClient, relay } = given();
    relay.serverGone('The MCP server "files" does not work: exit code 1.');
    fromClient(call('1'));
    relay.close();
    expect(client).toEqual([expect.stringContaining('does not work: exit code 1')]);
  });
});

describe('connections', () => {
  test('a connection opens when the client identifies itself, changes with its identity, and closes', () => {
    const seen: string[] = [];
    const { fromClient, relay } = given({
      opened: ({ key, client, profile }) => seen.push(`opened ${key} ${client?.name} ${profile.kind}`),
      closed: ({ client }) => seen.push(`closed ${client?.name}`),
    });
    fromClient(initialize('opencode'));
    fromClient(call('1'));
    fromClient(call('2', 'a', STATELESS));
    fromClient(call('3', 'a', STATELESS));
    relay.close();
    relay.close();
    expect(seen).toEqual(['opened k opencode blocks', 'closed opencode', 'opened k claude-code extend', 'closed claude-code']);
  });

  test('a client that never identifies itself also has a connection', () => {
    const seen: (string | undefined)[] = [];
    const { fromClient, relay } = given({ opened: ({ client }) => seen.push(client?.name) });
    fromClient(call('1'));
    relay.close();
    expect(seen).toEqual([undefined]);
  });
});
