/**
 * What a person does: shown as pending until the log has it. The id is made here, so trying again queues it once; what is
 * typed survives a reload.
 */
import { Cell } from './cell.ts';
import { messageOf } from './loaded.ts';
import { ApiError } from '../../../src/client/index.ts';

export type Said = {
  readonly id: string;
  /** `project/agent#conversation`. */
  readonly address: string;
  readonly what: string;
  readonly says: string;
  readonly at: number;
  readonly state: 'sending' | 'accepted' | 'failed';
  readonly problem: string | null;
  /** The server was not reached, or not now: the same may work later. */
  readonly retryable: boolean;
};

export const said = new Cell<readonly Said[]>([]);
const again = new Map<string, () => Promise<unknown>>();

/** `did` tells of an answer; `id` may be another one when the log counted it into an open one. */
export async function doOnce<T extends { readonly id: string; readonly into?: string | null }>(
  { address, what, says }: Pick<Said, 'address' | 'what' | 'says'>,
  work: (id: string) => Promise<T>,
): Promise<T | undefined> {
  const id = `c_${unique()}`;
  const entry: Said = { id, address, what, says, at: Date.now(), state: 'sending', problem: null, retryable: false };
  said.set([...said.value, entry]);
  const run = async (): Promise<T | undefined> => {
    change(id, { state: 'sending', problem: null });
    try {
      const done = await work(id);
      // Counted into another one: that one is shown, with its count.
      if (done.into) forget(id);
      else change(id, { state: 'accepted' });
      return done;
    } catch (error) {
      change(id, {
        state: 'failed',
        problem: messageOf(error),
        retryable: error instanceof ApiError && (error.retryable || error.status === 0),
      });
      return undefined;
    }
  };
  again.set(id, run);
  return run();
}

export const tryAgain = (id: string): void => void again.get(id)?.();

export function forget(id: string): void {
  again.delete(id);
  if (said.value.some((each) => each.id === id)) said.set(said.value.filter((each) => each.id !== id));
}

/** The log has these. */
export function arrived(has: (id: string) => boolean): void {
  const gone = said.value.filter(({ id }) => has(id));
  for (const { id } of gone) again.delete(id);
  if (gone.length > 0) said.set(said.value.filter(({ id }) => !has(id)));
}

const change = (id: string, to: Partial<Said>): void =>
  said.set(said.value.map((each) => (each.id === id ? { ...each, ...to } : each)));

/** Also where a page that is not served by https has no `randomUUID`. */
function unique(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const DRAFT = 'draft ';
export const draftOf = (address: string): string => sessionStorage.getItem(DRAFT + address) ?? '';
export const keepDraft = (address: string, text: string): void =>
  text === '' ? sessionStorage.removeItem(DRAFT + address) : sessionStorage.setItem(DRAFT + address, text);
