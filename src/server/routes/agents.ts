/** Lists agents, their conversations and their work. */
import { logOf, parseAddress, type LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { AgentSummary, ConversationSummary, Page } from '../../wire/api.ts';
import { mayRead, mustRead } from '../authority.ts';
import { answers, createRoute, inPath, limitQuery, reply, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { onOnePage } from '../page-bytes.ts';
import { ProblemError } from '../problems.ts';
import { agentsPage, conversationsPage, logParam, nameParam } from '../../wire/schemas.ts';
import { agentIn, agentSummary, conversationSummary } from '../shown.ts';

export const agentParams = z.object({ project: inPath(128), agent: inPath(128) });

export function agentRoutes(api: Api, { inbox }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/agents',
      operationId: 'listAgents',
      tags: ['agents'],
      summary: 'List the agents, each with the counts of its open notifications, its activity and its last contact',
      request: {
        query: z.strictObject({ project: nameParam.optional(), after: logParam.optional(), limit: limitQuery(200, 50) }),
      },
      responses: answers(agentsPage, 'agents by name'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { after, limit, ...asked } = c.req.valid('query');
      // By default, a request lists everything that its token may see.
      const project = asked.project ?? who.project ?? undefined;
      if (who.kind === 'agent') {
        const log = `${who.project}/${who.agent}` as LogKey;
        mustRead(who, { log, ...(who.conversation === null ? {} : { conversation: who.conversation }) });
        if (project !== who.project) mustRead(who, { project });
      } else mustRead(who, { project });
      const own = who.kind === 'agent' ? logOf(parseAddress(`${who.project}/${who.agent}`)) : undefined;
      const found = await inbox.agents({
        ...defined({ project }),
        ...(own === undefined ? (after === undefined ? {} : { after: after as LogKey }) : { after: before(own) }),
        limit: own === undefined ? limit + 1 : 1,
      });
      const wanted = found.slice(0, limit).filter(({ log }) => own === undefined || log === own);
      const summaries = await Promise.all(wanted.map((overview) => agentSummary(inbox, overview)));
      const all = summaries.map((agent) => {
        const sees = (conversation: string): boolean =>
          who.kind !== 'agent' || mayRead(who, { log: agent.log as LogKey, conversation });
        const { held } = agent;
        return {
          ...agent,
          held: held === null || held.conversation === null || sees(held.conversation) ? held : null,
          conversations: agent.conversations.filter(({ conversation }) => sees(conversation)),
        };
      });
      const items = onOnePage(all);
      return reply<Page<AgentSummary>>(c, {
        items,
        next: (found.length > limit || items.length < all.length) && own === undefined ? (items.at(-1)?.log ?? null) : null,
      });
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/projects/{project}/agents/{agent}/conversations',
      operationId: 'listConversations',
      tags: ['agents'],
      summary: "List an agent's conversations, newest contact first",
      request: {
        params: agentParams,
        query: z.strictObject({
          limit: limitQuery(200, 50),
          after: z
            .string()
            .regex(/^\d{1,9}$/u, 'must be the `next` of the previous page')
            .optional(),
          conversation: nameParam.optional().describe('list only this conversation'),
        }),
      },
      responses: answers(conversationsPage, 'conversations'),
    }),
    async (c) => {
      const { project, agent } = c.req.valid('param');
      const { limit, after = '0', conversation } = c.req.valid('query');
      const log = agentIn(project, agent);
      const who = principalOf(c);
      mustRead(who, { log, ...(who.conversation === null ? {} : { conversation: who.conversation }) });
      const now = inbox.store.now();
      const all = (await inbox.store.presence({ log }))
        .filter((known) => mayRead(who, { log, conversation: known.conversation }) && inbox.wasConversation(known))
        .toSorted((a, b) => b.seenAt - a.seenAt);
      if (all.length === 0 && (await inbox.store.read({ log, limit: 1 })).length === 0)
        throw new ProblemError('not_found', `no agent ${log} has been seen; GET /api/agents lists the known agents`);
      const wanted = conversation === undefined ? all : all.filter((known) => known.conversation === conversation);
      const from = Number(after);
      const gates = await inbox.gates(log);
      const items = onOnePage(wanted.slice(from, from + limit).map((known) => conversationSummary(inbox, known, { now, gates })));
      return reply<Page<ConversationSummary>>(c, {
        items,
        next: wanted.length > from + items.length ? String(from + items.length) : null,
      });
    },
  );
}

/** Returns the key that sorts directly before this name. */
const before = (log: LogKey): LogKey =>
  `${log.slice(0, -1)}${String.fromCharCode(log.charCodeAt(log.length - 1) - 1)}\u{10ffff}` as LogKey;
