/**
 * Sends damaged frames to the gateway's parsers for a given time.
 *
 *   node e2e/gateway/fuzz.ts [SECONDS] [SEED]     60 s by default
 *
 * The program fails if a parser throws, or if a round takes more than a second of processor time. The program also fails if the
 * gateway changes other bytes than the added text.
 */
import type { Outgoing } from '../../src/gateway/riding/carry.ts';
import { frameOf } from '../../src/mcp/frames/frame.ts';
import { LineReader, SseReader } from '../../src/mcp/frames/framing.ts';
import { GuardedRider } from '../../src/gateway/riding/guarded.ts';
import { noDelivery, noRider, type Rider } from '../../src/gateway/index.ts';
import { Relay } from '../../src/gateway/relay.ts';
import { Settling } from '../../src/gateway/riding/settling.ts';
import { Catalog } from '../../src/gateway/riding/tools.ts';
import { elementsOf, isAnswer, isPlainAnswer } from '../../src/gateway/unasked.ts';
import { ODDITIES } from './oddities.ts';

export type Fuzzed = { readonly rounds: number; readonly frames: number; readonly bytes: number; readonly longestMs: number };

const LONGEST_MS = 1_000;

const FRAMES: readonly string[] = [
  ...ODDITIES.map((text) => text.replace('ID', '1')),
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":[1.0,{"y":"\\u0041"}]},"_meta":{"progressToken":1}}}',
  '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"claude-code","version":"1"}}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
  '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":{},"outputSchema":{"type":"object","properties":{"n":{}}}}],"nextCursor":"x"}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
  '[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}},{"jsonrpc":"2.0","method":"x"}]',
  'data: {"jsonrpc":"2.0"}\n\n',
];
const SPICE = [
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '\n',
  '\r',
  '\u0000',
  '\ud800',
  'é',
  '1e400',
  '"id":1',
  '"method":"tools/call"',
  '"result":',
  '"content":[',
  '\\u0069d',
  '[[[[[[[[',
];

/** A number of rounds, or a time in milliseconds. */
export type Bound = { readonly rounds: number } | { readonly forMs: number };

export function fuzz(bound: Bound, seed: number): Fuzzed {
  const random = randomFrom(seed);
  const upTo = (count: number): number => Math.floor(random() * count);
  const pick = <T>(from: readonly T[]): T => from[upTo(from.length)]!;
  const until = 'forMs' in bound ? performance.now() + bound.forMs : 0;
  const more = (): boolean => ('rounds' in bound ? rounds < bound.rounds : performance.now() < until);
  let [rounds, frames, bytes, longestMs] = [0, 0, 0, 0];
  while (more()) {
    const stream = Buffer.concat(
      Array.from({ length: 1 + upTo(8) }, () => Buffer.concat([damaged(), Buffer.from(pick(['\n', '\n', '\r\n', '']))])),
    );
    const before = process.cpuUsage();
    try {
      frames += relayed(stream, noRider, ({ server, client, sent }) => {
        if (!server.equals(sent.client)) throw new Error('the server got other bytes than the client sent');
        if (!client.equals(sent.server)) throw new Error('the client got other bytes than the server sent');
      });
      relayed(stream, riding, ({ client, sent }) => sameButForTheRide(sent.server, client));
      events(stream);
    } catch (error) {
      throw new Error(`seed ${seed}, round ${rounds}, base64 ${stream.toString('base64')}`, { cause: error });
    }
    const { user, system } = process.cpuUsage(before);
    const took = (user + system) / 1_000;
    longestMs = Math.max(longestMs, took);
    if (took > LONGEST_MS)
      throw new Error(`seed ${seed}, round ${rounds} took ${Math.round(took)} ms: base64 ${stream.toString('base64', 0, 3_000)}`);
    rounds += 1;
    bytes += stream.length;
  }
  return { rounds, frames, bytes, longestMs: Math.round(longestMs) };

  function damaged(): Buffer {
    let frame = Buffer.from(pick(FRAMES));
    if (random() < 0.02) frame = Buffer.from(pick(['[', '{"a":', '"\\']).repeat(upTo(20_000)));
    for (let times = upTo(4); times > 0; times -= 1) {
      const at = upTo(frame.length + 1);
      const cut = random() < 0.5 ? 0 : upTo(12);
      const put = random() < 0.3 ? Buffer.from([upTo(256)]) : Buffer.from(pick(SPICE));
      frame = Buffer.concat([frame.subarray(0, at), random() < 0.3 ? Buffer.alloc(0) : put, frame.subarray(at + cut)]);
    }
    return frame;
  }

  /** Sends the stream from both sides through a relay, cut into random chunks. */
  function relayed(
    stream: Buffer,
    rider: Rider,
    check: (seen: { server: Buffer; client: Buffer; sent: { client: Buffer; server: Buffer } }) => void,
  ): number {
    const server: Buffer[] = [];
    const client: Buffer[] = [];
    const sent = { client: [] as Buffer[], server: [] as Buffer[] };
    let count = 0;
    const relay = new Relay({
      server: 's',
      rider: new GuardedRider(rider, (line) => {
        throw new Error(line);
      }),
      catalog: new Catalog(),
      key: 'k',
      profile: () => ({ kind: 'blocks', maxErrorChars: Infinity, maxResultChars: Infinity }),
      settling: new Settling(),
      report: () => {},
      toClient: ({ bytes: out }: Outgoing) => void client.push(out),
      toServer: ({ bytes: out }) => void server.push(out),
    });
    const reader = (side: 'client' | 'server'): LineReader =>
      new LineReader({
        line(line) {
          count += 1;
          const frame = frameOf(line);
          // A client's batch with calls is split, which changes its bytes, so the client's batches are left out.
          if (side === 'client' && frame.kind === 'batch') return;
          // A call without an id is dropped until the client has introduced itself.
          if (side === 'client' && frame.kind === 'note' && frame.method === 'tools/call') return;
          // A server's batch with answers may be changed, so the batch is left out. A single answer passes only if the client has
          // sent its request.
          if (frame.kind === 'batch' && elementsOf(frame).some(isAnswer)) return;
          if (side === 'server' && isAnswer(frame)) {
            if (!isPlainAnswer(frame)) return;
            const asked = frameOf(Buffer.from(`{"jsonrpc":"2.0","id":${frame.id},"method":"ping"}\n`));
            sent.client.push(asked.bytes);
            relay.fromClient(asked);
          }
          sent[side].push(line);
          if (side === 'client') relay.fromClient(frame);
          else relay.fromServer(frame);
        },
        tooLong: () => {},
      });
    const readers = { client: reader('client'), server: reader('server') };
    for (const side of ['client', 'server'] as const) {
      for (let at = 0; at < stream.length;) {
        const end = at + 1 + upTo(stream.length);
        readers[side].push(stream.subarray(at, end));
        at = end;
      }
      readers[side].end();
    }
    relay.close();
    check({
      server: Buffer.concat(server),
      client: Buffer.concat(client),
      sent: { client: Buffer.concat(sent.client), server: Buffer.concat(sent.server) },
    });
    return count;
  }

  function events(stream: Buffer): void {
    const raw: Buffer[] = [];
    const reader = new SseReader({ event: (event) => raw.push(event.raw), tooLong: () => {} });
    for (let at = 0; at < stream.length;) {
      const end = at + 1 + upTo(stream.length);
      reader.push(stream.subarray(at, end));
      at = end;
    }
    reader.end();
    if (!Buffer.concat(raw).equals(stream)) throw new Error('the events together are other bytes than the stream');
  }
}

const RIDE = { type: 'text', text: 'N"\\\n' };
const riding: Rider = { ...noRider, after: () => ({ kind: 'ride', text: RIDE.text, delivery: noDelivery }) };

/** Checks that each line is unchanged, or the same value with one more block. */
function sameButForTheRide(sent: Buffer, got: Buffer): void {
  const before = sent.toString('latin1').split('\n');
  const after = got.toString('latin1').split('\n');
  if (before.length !== after.length) throw new Error('another number of lines');
  for (const [index, line] of before.entries()) {
    const other = after[index]!;
    if (line === other) continue;
    const value = JSON.parse(other) as { result: { content: unknown[] } };
    const ride = value.result.content.pop();
    if (JSON.stringify(ride) !== JSON.stringify(RIDE)) throw new Error(`the added text is ${JSON.stringify(ride)}`);
    if (JSON.stringify(value) !== JSON.stringify(JSON.parse(line))) throw new Error(`${line} became ${other}`);
  }
}

/** Returns a small random generator (mulberry32): the same seed gives the same run. */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

if (import.meta.main) {
  const [seconds = '60', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
  const { rounds, frames, bytes, longestMs } = fuzz({ forMs: Number(seconds) * 1_000 }, Number(seed));
  console.log(
    `${rounds} rounds, ${frames} frames, ${Math.round(bytes / 1024)} KiB in ${seconds} s, seed ${seed}: no crash, no hang (longest round ${longestMs} ms)`,
  );
}
