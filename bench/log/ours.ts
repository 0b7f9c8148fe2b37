import path from 'node:path';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { openSqliteStore } from '../../src/stores/sqlite/store.ts';
import { openThreadStore } from '../../src/stores/thread/store.ts';

/**
 * Opens an inbox on a separate file, directly like the CLI, or in a thread like gateway, server and agent. The store itself sets
 * WAL and synchronous=FULL.
 */
export async function openInbox(
  folder: string,
  { file = 'ours.db', policy = {}, thread = false }: { file?: string; policy?: Partial<Policy>; thread?: boolean } = {},
) {
  const store = await (thread ? openThreadStore : openSqliteStore)({ path: path.join(folder, file) });
  const whole: Policy = { ...DEFAULT_POLICY, ...policy };
  return new Inbox({ store, policies: { policy: () => whole } });
}

/** A policy without a limit of open notifications, because the other side has no such limit. */
export const NO_LIMIT: Partial<Policy> = { maxOpen: 1_000_000 };

export const AGENT = 'bench/agent';
/** Returns one of several agents, so that no agent exceeds the limit of open notifications. */
export const agentOf = (i: number): string => `bench/agent-${Math.floor(i / 500)}`;
export const CONVERSATION = 'bench/agent#main';

/** Returns the content of a typical notification: about 90 bytes of text and a few of data. */
export const message = (i: number): string =>
  `Background tests ended after ${i % 900} s: ${i % 400} passed, ${i % 7} failed; the report is in out/tests-${i}.xml`;
export const data = (i: number): { exit: number; run: number } => ({ exit: 1, run: i });
