/**
 * Sends the actions of a person. Each action is shown as pending until the log contains it. The page makes the id of each action,
 * so retrying is safe. Typed text and unsent actions survive a reload.
 */
import { ApiError, type InterruptReply, type QueuedReply, type ResumeReply } from '../../../src/wire/client/index.ts';
import type { Deliver, Level } from '../types.ts';
import { Cell } from './cell.ts';
import { messageOf } from './loaded.ts';
import { client } from './server.ts';

type How = { readonly level?: Level; readonly deliver?: Deliver };
export type Deed =
  | ({ readonly kind: 'say'; readonly content: string } & How)
  | ({ readonly kind: 'notify'; readonly as: string; readonly content: string } & How)
  /** `reason` is the person's reason, which the agent reads. */
  | { readonly kind: 'interrupt'; readonly action: 'pause' | 'cancel'; readonly reason?: string }
  | { readonly kind: 'resume' }
  | { readonly kind: 'dismiss'; readonly id: string; readonly log: string; readonly about: string };

type Done = InterruptReply | QueuedReply | ResumeReply;

export type Said = {
  readonly id: string;
  /** `project/agent#conversation`. */
  readonly address: string;
  readonly deed: Deed;
  readonly state: 'sending' | 'accepted' | 'failed';
  readonly problem: string | null;
  /** Whether the same request may work later, because the server did not answer or refused temporarily. */
  readonly retryable: boolean;
};

const KEPT = 'said';
const NOT_KNOWN = 'The page was closed before the server answered. You can safely try again: the action happens only once.';

export const said = new Cell<readonly Said[]>(kept());
said.watch(() => {
  if (said.value.length === 0) sessionStorage.removeItem(KEPT);
  else sessionStorage.setItem(KEPT, JSON.stringify(said.value));
});

function kept(): readonly Said[] {
  try {
    const before = JSON.parse(sessionStorage.getItem(KEPT) ?? '[]') as readonly Said[];
    return before.map((each) =>
      each.state === 'sending' ? { ...each, state: 'failed', problem: NOT_KNOWN, retryable: true } : each,
    );
  } catch {
    return [];
  }
}

/**
 * Performs an action once. Resolves to undefined after a dismissal, or if the server refused or did not answer. After a failure,
 * the page shows the action as not sent.
 */
export async function doOnce(address: string, deed: Deed): Promise<Done | undefined> {
  const entry: Said = { id: `c_${unique()}`, address, deed, state: 'sending', problem: null, retryable: false };
  said.set([...said.value, entry]);
  return run(entry);
}

export function tryAgain(id: string): void {
  const entry = said.value.find((each) => each.id === id);
  if (entry === undefined) return;
  change(id, { state: 'sending', problem: null });
  void run(entry);
}

async function run({ id, address, deed }: Said): Promise<Done | undefined> {
  try {
    const done = await send(id, address, deed);
    // No record will have this id if another notification counts the message. The page shows the message in the count of that notification.
    if (done === undefined || !('into' in done) || done.into !== null) forget(id);
    else change(id, { state: 'accepted' });
    return done;
  } catch (error) {
    const retryable = error instanceof ApiError && (error.retryable || error.status === 0);
    change(id, { state: 'failed', problem: messageOf(error), retryable });
    return undefined;
  }
}

async function send(id: string, address: string, deed: Deed): Promise<Done | undefined> {
  const once = { idempotencyKey: id };
  switch (deed.kind) {
    case 'say': {
      const { kind: _, ...message } = deed;
      return client.say(address, message, once);
    }
    case 'notify': {
      const { kind: _, as, content, ...how } = deed;
      return client.queue({ to: address, kind: as, message: content, ...how }, once);
    }
    case 'interrupt':
      return client.interrupt(
        address,
        { action: deed.action, ...(deed.reason === undefined ? {} : { instruction: deed.reason }) },
        once,
      );
    case 'resume':
      return client.resume(address);
    case 'dismiss':
      await client.withdraw(deed.id, { log: deed.log, reason: 'dismissed in the console' });
      return undefined;
    default:
      return deed satisfies never;
  }
}

export function forget(id: string): void {
  if (said.value.some((each) => each.id === id)) said.set(said.value.filter((each) => each.id !== id));
}

/** Removes the actions that the log contains. */
export function arrived(has: (id: string) => boolean): void {
  if (said.value.some(({ id }) => has(id))) said.set(said.value.filter(({ id }) => !has(id)));
}

const STOPS = { pause: 'Pause: finish this step and wait.', cancel: 'Stop what you are doing.' } as const;

export function deedSays(deed: Deed): { readonly what: string; readonly text: string } {
  switch (deed.kind) {
    case 'say':
      return { what: 'message', text: deed.content };
    case 'notify':
      return { what: deed.as, text: deed.content };
    case 'interrupt':
      return {
        what: deed.action === 'cancel' ? 'stop' : deed.action,
        text: deed.reason === undefined ? STOPS[deed.action] : `${STOPS[deed.action]} “${deed.reason}”`,
      };
    case 'resume':
      return { what: 'resume', text: 'Go on.' };
    case 'dismiss':
      return { what: 'dismiss', text: deed.about };
    default:
      return deed satisfies never;
  }
}

const change = (id: string, to: Partial<Said>): void =>
  said.set(said.value.map((each) => (each.id === id ? { ...each, ...to } : each)));

/** Makes a unique id, even on a page without https, which has no `randomUUID`. */
function unique(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const DRAFT = 'draft ';
export const draftOf = (address: string): string => sessionStorage.getItem(DRAFT + address) ?? '';
export const keepDraft = (address: string, text: string): void =>
  text === '' ? sessionStorage.removeItem(DRAFT + address) : sessionStorage.setItem(DRAFT + address, text);
