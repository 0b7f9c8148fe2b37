/** Recognizes agents whose data `earpiece forget` erased. One record of such an agent stays. */
import type { LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import type { AgentOverview, Store } from '../core/ports.ts';

/** Whether the agent was forgotten and has no newer records. */
export async function isForgotten(store: Pick<Store, 'read'>, log: LogKey): Promise<boolean> {
  const records = await store.read({ log, limit: 2 });
  return records.length === 1 && records[0]?.body.type === 'agent_forgotten';
}

/** Returns a page of agents like `Store.agents`, but without forgotten agents. */
export async function rememberedAgents(
  store: Pick<Store, 'read' | 'agents'>,
  query: Parameters<Store['agents']>[0],
): Promise<readonly AgentOverview[]> {
  const { limit = 100 } = query;
  const found: AgentOverview[] = [];
  for (let { after } = query; found.length < limit;) {
    const page = await store.agents({ ...query, ...defined({ after }), limit });
    const gone = await Promise.all(page.map(async (each) => isBare(each) && (await isForgotten(store, each.log))));
    found.push(...page.filter((_, i) => !gone[i]));
    after = page.at(-1)?.log;
    if (page.length < limit) break;
  }
  return found.slice(0, limit);
}

/** Whether nothing but records shows the agent. Only the records of such an agent are read. */
const isBare = ({ presence, open, last }: AgentOverview): boolean =>
  presence.length === 0 && last === undefined && Object.values(open).every((count) => count === 0);
