/** Keeps the state of each conversation in this process. All adapters of a conversation share its state. */
import type { Conversation } from '../inbox/index.ts';
import { Carriers } from './carriers.ts';

export type State = {
  readonly carriers: Carriers;
  /** The running turn. */
  run: { readonly stopTools: () => AbortSignal } | undefined;
};

/** The states of each inbox, by address. A state lives as long as one of its adapters, its tools or its turn. */
const STATES = new WeakMap<object, Map<string, WeakRef<State>>>();
const COLLECTED = new FinalizationRegistry<() => void>((forget) => forget());

/** Returns the state of the conversation. `trouble` handles the errors of tools that run outside of a turn. */
export function stateOf(conversation: Conversation, trouble: (error: unknown) => void): State {
  const { inbox, address } = conversation;
  const states = STATES.get(inbox) ?? new Map<string, WeakRef<State>>();
  STATES.set(inbox, states);
  const known = states.get(address)?.deref();
  if (known !== undefined) return known;
  const state: State = { carriers: new Carriers(conversation, trouble), run: undefined };
  const ref = new WeakRef(state);
  states.set(address, ref);
  COLLECTED.register(state, () => {
    if (states.get(address) === ref) states.delete(address);
  });
  return state;
}
