/** Loads the host, the contacts and the activity of one conversation. */
import { useEffect, useRef } from 'react';
import { ApiError } from '../../../src/wire/client/index.ts';
import type { ConversationSummary } from '../types.ts';
import type { Agents } from './agents.ts';
import { useLoaded } from './loaded.ts';
import { client } from './server.ts';

/**
 * Returns the summary of a conversation; null if the conversation has not made contact yet, and undefined until the server has
 * answered. The list of agents has only the newest conversations of the agents on the loaded pages. For any other conversation,
 * the server is asked again whenever that list has changed.
 */
export function useSummary(log: string, conversation: string, agents: Agents): ConversationSummary | null | undefined {
  const { items, loading, problem, more } = agents;
  const agent = items.find((each) => each.log === log);
  const listed = agent?.conversations.find((each) => each.conversation === conversation);
  const isWhole = !loading && !more && problem === null;
  const asks = !loading && listed === undefined && (agent !== undefined || !isWhole);
  const { value, again } = useLoaded(asks ? `${log}#${conversation}` : '', (signal) =>
    asks ? summaryOf(log, conversation, signal) : Promise.resolve(undefined),
  );
  const before = useRef(items);
  useEffect(() => {
    if (before.current !== items && asks) again();
    before.current = items;
  }, [items, asks, again]);
  if (listed !== undefined) return listed;
  if (asks) return value;
  return isWhole ? null : undefined;
}

async function summaryOf(log: string, conversation: string, signal: AbortSignal): Promise<ConversationSummary | null> {
  try {
    const { items } = await client.conversations(log, { conversation, limit: 1, signal });
    return items[0] ?? null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
