/**
 * Shows the lineage of a conversation: the conversation from which it was forked, its forks, and its number of turns up to a
 * record.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Fork, ForksReply } from '../../wire/api.ts';
import type { Inbox } from '../../inbox/index.ts';
import { mayRead, mustRead } from '../authority.ts';
import { answers, createRoute, inPath, reply, seqQuery, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { forks } from '../../wire/schemas.ts';
import { agentIn } from '../shown.ts';
import { agentParams } from './agents.ts';

/** The maximum number of the agent's conversations that are read, the most recently active first. */
const MAX_LOOKED_AT = 500;

export function forkRoutes(api: Api, { inbox }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/projects/{project}/agents/{agent}/conversations/{conversation}/forks',
      operationId: 'listForks',
      tags: ['conversations'],
      summary: "Show a conversation's origin, its forks, and its number of turns up to a record",
      request: {
        params: agentParams.extend({ conversation: inPath(128) }),
        query: z.strictObject({ at: seqQuery.optional().openapi({ description: 'turns are counted up to this record' }) }),
      },
      responses: answers(forks, "the conversation's origin and forks, newest contact first"),
    }),
    async (c) => {
      const { project, agent, conversation } = c.req.valid('param');
      const { at } = c.req.valid('query');
      const log = agentIn(project, agent);
      const who = principalOf(c);
      mustRead(who, { log, conversation });
      const id = conversation as ConversationId;
      const all = (await inbox.store.presence({ log }))
        .filter((known) => known.conversation !== id && mayRead(who, { log, conversation: known.conversation }))
        .toSorted((a, b) => b.seenAt - a.seenAt);
      const found: Fork[] = [];
      for (const { conversation: other, startedAt } of all.slice(0, MAX_LOOKED_AT)) {
        const origin = await originOf(inbox, log, other);
        if (origin?.conversation === id) found.push({ conversation: other, upTo: origin.upTo, at: startedAt });
      }
      return reply<ForksReply>(c, {
        origin: await originOf(inbox, log, id),
        forks: found,
        more: all.length > MAX_LOOKED_AT,
        turns: at === undefined ? null : await turnsUpTo(inbox, log, id, at),
      });
    },
  );
}

async function originOf(inbox: Inbox, log: LogKey, id: ConversationId): Promise<ForksReply['origin']> {
  const { conversation, upTo } = (await inbox.lineage({ log, id })).at(-2) ?? {};
  return conversation === undefined || upTo === undefined ? null : { conversation, upTo };
}

async function turnsUpTo(inbox: Inbox, log: LogKey, id: ConversationId, at: number): Promise<number> {
  let turns = 0;
  for await (const { seq } of inbox.transcript({ log, id }, { types: ['turn_start'] })) {
    if (seq > at) break;
    turns++;
  }
  return turns;
}
