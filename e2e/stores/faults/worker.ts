/**
 * Runs one of the processes that use a store until they are killed. A producer queues and withdraws. A carrier delivers into
 * Earpiece's own transcript (`shop/coder#own`) and as leases (`shop/coder#host`, `shop/tester#main`). A server follows every
 * record and sweeps. `drain` delivers the notifications that are still open.
 *
 * Run: node worker.ts <Orders, JSON>
 */
import { hash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationId, LogKey } from '../../../src/core/address.ts';
import { EarpieceError } from '../../../src/core/errors.ts';
import type { Level } from '../../../src/core/notification.ts';
import { DEFAULT_POLICY } from '../../../src/core/policy.ts';
import type { Store } from '../../../src/core/ports.ts';
import type { ToolCallResponseRecord } from '../../../src/core/records.ts';
import { frameOf } from '../../../src/mcp/frames/frame.ts';
import { Settling } from '../../../src/gateway/riding/settling.ts';
import { Inbox, type Conversation, type Offer } from '../../../src/inbox/index.ts';
import { armFaultsFromEnv } from '../../../src/stores/fault-env.ts';
import { openStore } from '../../../src/stores/index.ts';
import { Chance } from '../../system/chance.ts';
import { withoutCondition } from './bugs.ts';
import { AT_POINT, type Deed, HOST, LOGS, type Ordered, type Orders, OWN, type Point, type Said } from './roles.ts';

const DAY = 86_400_000;
/** The maximum time for which a worker repeats a call that the store refuses for a temporary reason. */
const PATIENCE_MS = 60_000;
const SWEEP_EVERY_MS = 400;

const orders = JSON.parse(process.argv[2] ?? '{}') as Orders;
const { role, name, bug } = orders;
const chance = new Chance(`${orders.seed} ${name}`);
const fault = process.env['EARPIECE_FAULT']?.split(':')[0] as Point | undefined;
/** The operation that this worker runs most often. For a death at a point, this operation leads to the point. */
const preferred: Deed | undefined = bug === 'close_without_condition' ? 'carry' : fault && AT_POINT[fault][1];

/**
 * The clock jumps only between two operations, because both times of a notification, expiry and stamp, must come from one clock.
 */
let wrongBy = 0;
let jumpsTo = 0;
createInterface({ input: process.stdin }).on('line', (line) => (jumpsTo = (JSON.parse(line) as Ordered).clock));
const clock = { now: () => Date.now() + wrongBy };

armFaultsFromEnv();
const opened = await insist(() => openStore(orders.url, { clock, thread: orders.thread, busyMs: 5_000 }));
const store: Store = bug === 'close_without_condition' ? withoutCondition(opened) : opened;
const inbox = new Inbox({
  store,
  policies: { policy: () => DEFAULT_POLICY },
  ...(bug === 'forget_release' ? { isAlive: () => true } : {}),
});
tell({ kind: 'ready' });
const conversations = {
  own: inbox.conversation({ log: LOGS.coder as LogKey, conversation: OWN as ConversationId }, { carrier: name }),
  host: inbox.conversation({ log: LOGS.coder as LogKey, conversation: HOST as ConversationId }, { carrier: name, pulls: true }),
  tester: inbox.conversation({ log: LOGS.tester as LogKey, conversation: 'main' as ConversationId }, { carrier: name }),
};

switch (role) {
  case 'producer':
    await produce();
    break;
  case 'carrier':
    await carry();
    break;
  case 'server':
    await Promise.all([follow(), keepHouse()]);
    break;
  case 'drain':
    await drain();
    break;
  case 'opener':
    await inbox.close();
    break;
}
process.exit(0);

async function produce(): Promise<never> {
  const { unanswered } = orders;
  // A call of `queue` that got no answer is repeated with the same id.
  if (unanswered !== undefined) await queue(unanswered.id, unanswered.to);
  for (let n = 0; ; n++) {
    const deed = fault !== undefined && chance.of(0.5) ? preferred : chance.of(0.05) ? 'fan_out' : 'queue';
    const to = chance.pick([LOGS.coder, LOGS.coder, `${LOGS.coder}#${OWN}`, `${LOGS.coder}#${HOST}`]);
    await queue(`${name}-${n}`, deed === 'fan_out' ? 'shop/*' : to);
    if (deed !== 'fan_out' && chance.of(0.05)) await withdraw(`${name}-${n}`);
    await sleep(chance.next() * 4);
    // A producer waits while more than 60 notifications are open, because a growing list would slow the check.
    while (n % 20 === 19 && (await insist(() => store.countOpen(LOGS.coder as LogKey))) > 60) await sleep(5);
  }
}

async function queue(id: string, to: string): Promise<void> {
  wrongBy = jumpsTo;
  tell({ kind: 'queueing', id, to });
  if (bug === 'ack_before_commit' && to !== 'shop/*') tell({ kind: 'queued', id, to: [to] });
  // A producer that starts again repeats its last id, and Earpiece refuses a repetition with a higher level.
  const level: Level = levelOf(id);
  const key = chance.of(0.2) ? { key: chance.pick(['k1', 'k2', 'k3']) } : {};
  const input = { id, level, message: `something happened: ${id}`, kind: 'tool.finished', ...key };
  try {
    const queued = await insist(() => inbox.queue(to, input));
    if (bug !== 'ack_before_commit' || to === 'shop/*') tell({ kind: 'queued', id, to: queued.to });
  } catch (error) {
    if (error instanceof EarpieceError && error.code === 'nobody_there') return;
    throw error;
  }
}

/** Returns the same level for the same id: `critical` for one of fifty ids. */
function levelOf(id: string): Level {
  const number = hash('sha256', id, 'buffer').readUInt32BE();
  return number % 50 === 0 ? 'critical' : ((['info', 'warning', 'error'] as const)[number % 3] ?? 'info');
}

async function withdraw(id: string): Promise<void> {
  tell({ kind: 'withdrawing', id });
  const [withdrawn] = await insist(() => inbox.withdraw(LOGS.coder as LogKey, { id }, { by: name, reason: 'the state is gone' }));
  tell({ kind: 'withdrawn', id, result: withdrawn?.result ?? 'unknown' });
}

async function carry(): Promise<never> {
  for (;;) {
    const deed =
      preferred !== undefined && chance.of(0.5)
        ? preferred
        : chance.pick([
            'carry',
            'carry',
            'offer',
            'offer',
            'offer',
            'release',
            'gate',
            'pull',
            'withhold',
            'touch',
            'prune',
          ] as const);
    await attempt(() => perform(deed));
    await sleep(chance.next() * 3);
  }
}

async function perform(deed: Deed | 'gate' | 'pull'): Promise<void> {
  switch (deed) {
    case 'carry':
      return carryOwn();
    case 'offer':
      return offer(chance.pick([conversations.host, conversations.tester]), 'confirm');
    case 'release':
      return offer(conversations.host, 'release');
    case 'gate':
      return passGate(chance.pick([conversations.own, conversations.host]));
    case 'pull':
      return pull(conversations.host);
    case 'withhold':
      await conversations.host.withhold('write_file', '{"content":[]}');
      return;
    case 'touch':
      await conversations.own.seen({ pulls: true });
      return;
    case 'prune':
      // This call prunes only the old records of the set-up. The checker needs the new records.
      await store.prune(Date.now() - DAY);
      return;
    case 'queue':
    case 'fan_out':
    case 'open':
      throw new TypeError(`a carrier does not ${deed}`);
  }
}

async function carryOwn(): Promise<void> {
  const result: ToolCallResponseRecord = { type: 'tool_call_response', id: `call-${name}`, content: 'done', is_error: false };
  const { records } = await conversations.own.carry(result, { at: 'tool_result' });
  const carrier = records.at(-1)?.body as ToolCallResponseRecord | undefined;
  tell({ kind: 'carried', ids: (carrier?.notifications ?? []).map((notification) => notification.id) });
}

async function offer(conversation: Conversation, how: 'confirm' | 'release'): Promise<void> {
  await ride(conversation, await conversation.offer({ at: 'tool_result', on: 'read_file' }), how);
}

async function pull(conversation: Conversation): Promise<void> {
  await ride(conversation, (await conversation.pull({ mark: true })).offer, 'confirm', 'pulled');
}

/** Does the steps of a gateway's answer: begin, write, and settle at the client's next frame. */
async function ride(
  { log, id }: Conversation,
  offer: Offer | undefined,
  how: 'confirm' | 'release',
  pulled?: 'pulled',
): Promise<void> {
  if (offer === undefined) return;
  // An answer that only repeats summarized or refused items leases nothing, so it is confirmed at once.
  if (offer.ids.length === 0) return void (await offer.confirm());
  const settling = new Settling();
  let settled: Promise<unknown> = Promise.resolve();
  const delivery = {
    confirm: () => void (settled = offer.confirm()),
    release: () => void (settled = offer.release('cancelled')),
  };
  settling.begin('1', delivery);
  const marked = offer.view.items.filter(({ repeated }) => repeated === true || offer.view.repeated === true);
  tell({
    kind: 'bytes',
    to: `${log}#${id}`,
    carrier: offer.carrier,
    ids: offer.ids,
    marked: bug === 'unmarked_repeat' ? [] : marked.flatMap(({ ids }) => ids),
    ...(pulled ? { pulled: true } : {}),
  });
  settling.written('1', delivery);
  const next =
    how === 'release'
      ? { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
      : { jsonrpc: '2.0', method: 'notifications/progress' };
  settling.clientSent(frameOf(Buffer.from(JSON.stringify(next))));
  await settled;
}

async function passGate(conversation: Conversation): Promise<void> {
  const refusal = await conversation.refuse({ on: 'write_file' });
  if (refusal === undefined) return;
  await ride(conversation, refusal.offer, 'confirm', 'pulled');
  await pull(conversation);
}

/** Reads every record after its position once and in order, as a server does for its clients. */
async function follow(): Promise<never> {
  let after = orders.after ?? 0;
  for (;;)
    await attempt(async () => {
      if (bug === 'read_past') {
        for (const { seq } of await store.read({ after, limit: 10_000 })) tell({ kind: 'read', seq });
        after = await store.head();
        await store.changed(after, { withinMs: 1_000 });
        return;
      }
      for await (const { seq } of inbox.watch({ after })) {
        after = seq;
        tell({ kind: 'read', seq });
      }
    });
}

/** Does a server's other work: releases the leases of dead processes, and counts for the console. */
async function keepHouse(): Promise<never> {
  for (;;) {
    await attempt(async () => {
      await inbox.sweep();
      await store.overview();
      await store.agents({});
    });
    await sleep(SWEEP_EVERY_MS);
  }
}

/** Delivers the open notifications, and finishes the work of killed processes. */
async function drain(): Promise<void> {
  await insist(() => inbox.sweep());
  for (let round = 0; round < 200; round++) {
    for (const conversation of Object.values(conversations)) {
      await insist(() => passGate(conversation));
      if (conversation === conversations.own) await insist(carryOwn);
      else await insist(() => offer(conversation, 'confirm'));
    }
    const open = await Promise.all(Object.values(LOGS).map((log) => insist(() => store.items(log as LogKey, { kind: 'open' }))));
    if (open.flat().every((item) => item.state === 'offered')) break;
  }
  tell({ kind: 'drained' });
  await inbox.close();
}

/** Whether the error says that the store refused the call for a temporary reason. */
function isRefusal(error: unknown): error is EarpieceError {
  const codes = ['store_unavailable', 'store_full', 'conflict'];
  return error instanceof EarpieceError && error.retryable && codes.includes(error.code);
}

/** Does the work once. Writes a line if the store refuses it. */
async function attempt(work: () => Promise<void>): Promise<void> {
  wrongBy = jumpsTo;
  try {
    await work();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    tell({ kind: 'refused', code: error.code });
    await sleep(20);
  }
}

/** Repeats the work until the store accepts it, for at most `PATIENCE_MS`. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isRefusal(error) || performance.now() > until) throw error;
      tell({ kind: 'refused', code: error.code });
      await sleep(50);
    }
  }
}

function tell(said: Said): void {
  let rest = Buffer.from(`${JSON.stringify({ t: Number(process.hrtime.bigint() / 1_000n) / 1_000, ...said })}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      // The pipe is full until its reader continues.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
