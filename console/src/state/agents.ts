/** Loads the agents of the first pages. The list is loaded again when records arrive, and every 10 s. */
import type { AgentSummary } from '../../../src/wire/client/index.ts';
import { Cell, useCell } from './cell.ts';
import { generation, listen } from './live.ts';
import { back, messageOf } from './loaded.ts';
import { client } from './server.ts';
import { soon } from './soon.ts';

export type Agents = {
  readonly items: readonly AgentSummary[];
  readonly loading: boolean;
  readonly problem: string | null;
  /** Whether the server has more agents. */
  readonly more: boolean;
};

const PAGE = 100;
/** How often the list is loaded without new records: the log has no records of last contacts. */
const ASK_EVERY_MS = 10_000;
const AFTER_RECORDS_MS = 150;

const cell = new Cell<Agents>({ items: [], loading: true, problem: null, more: false });
let pages = 1;

/** The numbers of the last request, and of the request whose answer is shown. The answer of an older request is dropped. */
let asked = 0;
let answered = 0;

const load = async (): Promise<void> => {
  const mine = ++asked;
  const tell = (agents: Agents): void => {
    if (mine < answered) return;
    answered = mine;
    cell.set(agents);
  };
  try {
    const items: AgentSummary[] = [];
    let next: string | null = null;
    for (let page = 0; page < pages; page++) {
      const reply: Awaited<ReturnType<typeof client.agents>> = await client.agents({
        limit: PAGE,
        ...(next === null ? {} : { after: next }),
      });
      items.push(...reply.items);
      next = reply.next;
      if (next === null) break;
    }
    tell({ items, loading: false, problem: null, more: next !== null });
  } catch (error) {
    tell({ ...cell.value, loading: false, problem: messageOf(error) });
  }
};

/** Loads the list soon after new records. With many pages, the list is loaded less often. */
const loading = soon(load, () => AFTER_RECORDS_MS * pages);
let begun = false;

export function beginAgents(): void {
  if (begun) return;
  begun = true;
  void load();
  listen(() => loading.ask());
  generation.watch(() => loading.ask());
  back(() => loading.ask());
  setInterval(() => {
    if (document.visibilityState === 'visible') loading.ask();
  }, ASK_EVERY_MS);
}

/** Forgets the agents of an earlier login, and drops late answers to the requests of that login. */
export function forgetAgents(): void {
  answered = ++asked;
  pages = 1;
  cell.set({ items: [], loading: true, problem: null, more: false });
  if (begun) void load();
}

export const useAgents = (): Agents => useCell(cell);
export const moreAgents = (): void => {
  pages++;
  loading.ask();
};
export type AgentState = 'busy' | 'ready' | 'held' | 'paused' | 'away';
export function stateOf({ paused, active, held, doing }: AgentSummary): AgentState {
  if (paused) return 'paused';
  if (!active) return 'away';
  if (held !== null) return 'held';
  return doing.kind === 'nothing' ? 'ready' : 'busy';
}
