import path from 'node:path';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { openSqliteStore } from '../../src/stores/sqlite/store.ts';
import { openThreadStore } from '../../src/stores/thread/store.ts';

/**
 * An inbox on a file of its own, opened directly as the CLI does, or in a thread as gateway, server and agent do. WAL,
 * synchronous=FULL are the store's.
 */
export async function openInbox(
  folder: string,
  { file = 'ours.db', policy = {}, thread = false }: { file?: string; policy?: Partial<Policy>; thread?: boolean } = {},
) {
  const store = await (thread ? openThreadStore : openSqliteStore)({ path: path.join(folder, file) });
  const whole: Policy = { ...DEFAULT_POLICY, ...policy };
  return new Inbox({ store, policies: { policy: () => whole } });
}

/** Nothing is dropped for being too much: the other side has no such limit either. */
export const NO_LIMIT: Partial<Policy> = { maxOpen: 1_000_000 };

export const AGENT = 'bench/agent';
/** Several agents, so that none has more open than an agent may have. */
export const agentOf = (i: number): string => `bench/agent-${Math.floor(i / 500)}`;
export const CONVERSATION = 'bench/agent#main';

/** What most notifications are: about 150 bytes of text and a few of data. */
export const message = (i: number): string =>
  `Background tests ended after ${i % 900} s: ${i % 400} passed, ${i % 7} failed; the report is in out/tests-${i}.xml`;
export const data = (i: number): { exit: number; run: number } => ({ exit: 1, run: i });
