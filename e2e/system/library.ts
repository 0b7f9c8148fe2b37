/**
 * Runs a library user: a loop that opens Earpiece, notifies other agents, and takes its own notifications. With `carry`, the
 * library writes the transcript into the log (`toolResult`). With `offer`, this program writes its own transcript before it
 * confirms. The process runs until it is killed, or with `drain` until no notification is left.
 */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientLine, ProducerLine } from './history.ts';
import { Journal, now, readJournal } from './journal.ts';
import { Chance } from './chance.ts';

export type LibraryOptions = {
  /** The module that has `openEarpiece`. */
  readonly library: string;
  /** The module that has `armFaultsFromEnv`, if the build contains it. */
  readonly faults?: string;
  readonly tap: string;
  readonly said: string;
  readonly window: string;
  readonly agent: string;
  readonly way: 'carry' | 'offer';
  /** Addresses to which this program sends. */
  readonly to: readonly string[];
  readonly seed: string;
  readonly drain?: true;
};

/** The part of the library that this program uses. */
type Ear = {
  queue(to: string, input: object): Promise<{ kind: string }>;
  conversation(address: string): Conversation;
  close(): Promise<void>;
};
type Stored = {
  readonly seq: number;
  readonly at: number;
  /** The time of the writer's clock, if this time is earlier than `at`. */
  readonly clock?: number;
  readonly body: { readonly type: string; readonly content?: unknown; readonly view?: { readonly text: string } };
};
type Conversation = {
  transcript(): AsyncIterable<Stored>;
  toolResult(result: object): Promise<{ readonly seq: number; readonly view: string | undefined; readonly text: string }>;
  offer(options: object): Promise<{ readonly id: string; readonly text: string; confirm(): Promise<unknown> } | undefined>;
};

const options = JSON.parse(process.argv[2] ?? '{}') as LibraryOptions;
const { window, agent, way } = options;
const folder = dirname(options.tap);
const before = readdirSync(folder).filter((file) => file.startsWith(`client-${window}-`));
const keys = new Set(
  before.flatMap((file) =>
    readJournal<ClientLine>(join(folder, file)).flatMap((line) => (line.kind === 'message' ? [line.key] : [])),
  ),
);
const tap = new Journal<ClientLine>(options.tap);
const said = new Journal<ProducerLine>(options.said);
const chance = new Chance(options.seed);

tap.write({ t: now(), kind: 'session', form: 'library', window, agent, client: way, conversation: 'main', pid: process.pid });
const { openEarpiece } = (await import(options.library)) as { readonly openEarpiece: () => Promise<Ear> };
if (options.faults !== undefined)
  ((await import(options.faults)) as { readonly armFaultsFromEnv: () => void }).armFaultsFromEnv();
const ear = await openEarpiece();
const conversation = ear.conversation(agent);

if (way === 'carry') {
  // An earlier process may have been killed after it had written a record and before it had reported the message. The log is the
  // transcript, so the message is reported now.
  const epoch = Date.now() - now();
  for await (const { seq, at, clock = at, body } of conversation.transcript())
    if (body.type === 'tool_call_response' && body.view !== undefined && !keys.has(String(seq)))
      message(clock - epoch, String(seq), `${String(body.content)}\n\n${body.view.text}`);
}

for (let step = 0; ; step++) {
  const carried = way === 'carry' ? await carry(step) : await offer();
  if (options.drain === true) {
    if (!carried) break;
    continue;
  }
  if (chance.of(0.4)) await queue();
  await sleep(chance.between(20, 160));
}
await ear.close();
tap.write({ t: now(), kind: 'over' });

async function carry(step: number): Promise<boolean> {
  const result = { id: `${process.pid}-${step}`, content: `step ${step}` };
  const askedAt = now();
  const { seq, view, text } = await conversation.toolResult(result);
  if (view !== undefined) message(askedAt, String(seq), text);
  return view !== undefined;
}

async function offer(): Promise<boolean> {
  const askedAt = now();
  const offered = await conversation.offer({ on: 'step' });
  if (offered === undefined) return false;
  message(askedAt, offered.id, offered.text);
  await offered.confirm();
  return true;
}

async function queue(): Promise<void> {
  const nonce = `nonce-${chance.hex()}`;
  const to = chance.pick(options.to);
  said.write({ t: now(), kind: 'asking', nonce, to, level: 'error' });
  await ear.queue(to, { id: nonce, level: 'error', kind: 'library.step', message: `a step of ${window} has ended, ${nonce}` });
  said.write({ t: now(), kind: 'acknowledged', nonce });
}

/**
 * Writes to the journal that the model gets this message. `askedAt` is the time of the request to the library. On a busy machine,
 * the line may be written much later.
 */
function message(askedAt: number, key: string, text: string): void {
  tap.write({ t: now(), kind: 'message', way, askedAt, key, text });
  tap.sync();
}
