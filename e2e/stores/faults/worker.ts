/**
 * One of the four processes that use one database until they are killed. A producer queues notifications. A carrier delivers
 * them: into Earpiece's own transcript (`shop/coder#own`), and as leases (`shop/coder#host`, `shop/tester#main`). `drain`
 * delivers the rest.
 *
 * Run: node worker.ts <path> producer|carrier|drain <name> [<unanswered queueing, JSON>]
 */
import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationId, LogKey } from '../../../src/core/address.ts';
import { EarpieceError } from '../../../src/core/errors.ts';
import { DEFAULT_POLICY } from '../../../src/core/policy.ts';
import type { ToolCallResponseRecord } from '../../../src/core/records.ts';
import { frameOf } from '../../../src/mcp/frames/frame.ts';
import { Settling } from '../../../src/gateway/riding/settling.ts';
import { Inbox, type Conversation, type Offer } from '../../../src/inbox/index.ts';
import { armFaultsFromEnv } from '../../../src/stores/fault-env.ts';
import { openSqliteStore } from '../../../src/stores/index.ts';
import { openThreadStore } from '../../../src/stores/thread/store.ts';
import { carryWithoutCondition } from './bugs.ts';
import { AT_POINT, type Bug, type Deed, HOST, LOGS, OWN, type Point, type Role, type Told } from './roles.ts';

const DAY = 86_400_000;
const [path, role, name, unanswered] = process.argv.slice(2) as [string, Role | 'drain', string, string | undefined];
const bug = process.env['EARPIECE_BUG'] as Bug | undefined;
const fault = process.env['EARPIECE_FAULT']?.split(':')[0] as Point | undefined;
/** The operation that leads to this worker's point; it is half of its work. */
const preferred: Deed | undefined = bug === 'close_without_condition' ? 'carry' : fault && AT_POINT[fault][1];

armFaultsFromEnv();
const store = await (process.env['EARPIECE_THREAD'] === '1' ? openThreadStore : openSqliteStore)({ path });
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
  case 'drain':
    await drain();
    break;
}

async function produce(): Promise<never> {
  if (unanswered !== undefined) {
    // A producer without an answer repeats the same id.
    const { id, to } = JSON.parse(unanswered) as { id: string; to: string };
    await queue(id, to);
  }
  for (let n = 0; ; n++) {
    const deed = fault !== undefined && chance(0.5) ? preferred : chance(0.05) ? 'fan_out' : 'queue';
    await queue(
      `${name}-${n}`,
      deed === 'fan_out' ? 'shop/*' : pick([LOGS.coder, LOGS.coder, `${LOGS.coder}#${OWN}`, `${LOGS.coder}#${HOST}`]),
    );
    await sleep(Math.random() * 4);
    // Carriers keep up on average; a log that only grows would slow the check.
    while (n % 20 === 19 && (await store.countOpen(LOGS.coder as LogKey)) > 60) await sleep(5);
  }
}

async function queue(id: string, to: string): Promise<void> {
  tell({ kind: 'queueing', id, to });
  if (bug === 'ack_before_commit' && to !== 'shop/*') tell({ kind: 'queued', id, to: [to] });
  const level = chance(0.02) ? 'critical' : pick(['info', 'warning', 'error'] as const);
  const key = chance(0.2) ? { key: pick(['k1', 'k2', 'k3']) } : {};
  try {
    const queued = await inbox.queue(to, { id, level, message: `something happened: ${id}`, kind: 'tool.finished', ...key });
    if (bug !== 'ack_before_commit' || to === 'shop/*') tell({ kind: 'queued', id, to: queued.to });
  } catch (error) {
    if (error instanceof EarpieceError && error.code === 'nobody_there') return;
    throw error;
  }
}

async function carry(): Promise<never> {
  for (;;) {
    const deed =
      preferred !== undefined && chance(0.5)
        ? preferred
        : pick(['carry', 'carry', 'offer', 'offer', 'offer', 'release', 'gate', 'pull', 'withhold', 'touch', 'prune'] as const);
    await perform(deed);
    await sleep(Math.random() * 3);
  }
}

async function perform(deed: Deed | 'gate' | 'pull'): Promise<void> {
  switch (deed) {
    case 'carry':
      return carryOwn();
    case 'offer':
      return ride(
        await pick([conversations.host, conversations.tester]).offer({ at: 'tool_result', on: 'read_file' }),
        'confirm',
      );
    case 'release':
      return ride(await conversations.host.offer({ at: 'tool_result', on: 'read_file' }), 'release');
    case 'gate':
      return passGate(pick([conversations.own, conversations.host]));
    case 'pull':
      return ride((await conversations.host.pull({ mark: true })).offer, 'confirm');
    case 'withhold':
      await conversations.host.withhold('write_file', '{"content":[]}');
      return;
    case 'touch':
      await conversations.own.seen({ pulls: true });
      return;
    case 'prune':
      // Only the old records of the set-up are pruned; new records stay, for the check.
      await store.prune(store.now() - DAY);
      return;
    case 'queue':
    case 'fan_out':
    case 'open':
      throw new TypeError(`a carrier does not ${deed}`);
  }
}

async function carryOwn(): Promise<void> {
  const result: ToolCallResponseRecord = { type: 'tool_call_response', id: `call-${name}`, content: 'done', is_error: false };
  if (bug === 'close_without_condition') {
    const ids = await carryWithoutCondition(store, result);
    tell({ kind: 'carried', ids });
    return;
  }
  const { records } = await conversations.own.carry(result, { at: 'tool_result' });
  const carrier = records.at(-1)?.body as ToolCallResponseRecord | undefined;
  tell({ kind: 'carried', ids: (carrier?.notifications ?? []).map((notification) => notification.id) });
}

/** Runs the steps of a gateway's answer: the answer begins, is written, and is settled by the client's next frame. */
async function ride(offer: Offer | undefined, how: 'confirm' | 'release'): Promise<void> {
  if (offer === undefined) return;
  // An answer that only repeats summarized or refused items claims nothing.
  if (offer.ids.length === 0) return void (await offer.confirm());
  const settling = new Settling();
  let settled: Promise<unknown> = Promise.resolve();
  const delivery = {
    confirm: () => void (settled = offer.confirm()),
    release: () => void (settled = offer.release('cancelled')),
  };
  settling.begin('1', delivery);
  tell({ kind: 'bytes', carrier: offer.carrier, ids: offer.ids });
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
  await ride(refusal.offer, 'confirm');
  await ride((await conversation.pull({ mark: true })).offer, 'confirm');
}

/** Delivers all remaining notifications, and finishes the half-finished work of killed processes. */
async function drain(): Promise<void> {
  await inbox.sweep();
  for (let round = 0; round < 200; round++) {
    for (const conversation of Object.values(conversations)) {
      await passGate(conversation);
      if (conversation === conversations.own) await carryOwn();
      else await ride(await conversation.offer({ at: 'tool_result' }), 'confirm');
    }
    const open = await Promise.all(Object.values(LOGS).map((log) => store.items(log as LogKey, { kind: 'open' })));
    if (open.flat().every((item) => item.state === 'offered')) break;
  }
  tell({ kind: 'drained' });
  await inbox.close();
}

function tell(told: Told): void {
  writeSync(1, `${JSON.stringify(told)}\n`);
}

function pick<T>(from: readonly T[]): T {
  return from[Math.floor(Math.random() * from.length)] as T;
}

function chance(of: number): boolean {
  return Math.random() < of;
}
