/**
 * Searches the whole history of a conversation for words or a period. The console needs this search, because its page has loaded
 * only a part of the history.
 */
import type { ConversationId } from '../../core/address.ts';
import type { SearchPage } from '../../wire/api.ts';
import type { Stored } from '../../core/records.ts';
import { isIn } from '../../inbox/index.ts';
import { concerns, mustRead } from '../authority.ts';
import {
  answers,
  createRoute,
  inPath,
  limitQuery,
  reply,
  seqQuery,
  timeQuery,
  timesOf,
  z,
  type Api,
  type Deps,
} from '../context.ts';
import { principalOf } from '../guards.ts';
import { ProblemError } from '../problems.ts';
import { searchPage, wordsQuery } from '../../wire/schemas.ts';
import { search, Words } from '../search.ts';
import { agentIn } from '../shown.ts';
import { agentParams } from './agents.ts';

export function searchRoutes(api: Api, { inbox }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/projects/{project}/agents/{agent}/conversations/{conversation}/search',
      operationId: 'searchConversation',
      tags: ['conversations'],
      summary: 'Search a conversation for words or a period, newest first. The answer says how far back the search went',
      request: {
        params: agentParams.extend({ conversation: inPath(128) }),
        query: z.strictObject({
          q: wordsQuery.optional(),
          ...timeQuery,
          before: seqQuery.optional(),
          limit: limitQuery(100, 30),
        }),
      },
      responses: answers(searchPage, 'matches; a page may be short or empty although there is a next page'),
    }),
    async (c) => {
      const { project, agent, conversation } = c.req.valid('param');
      const { q, from, to, before, limit } = c.req.valid('query');
      if (q === undefined && from === undefined && to === undefined)
        throw new ProblemError('bad_argument', 'the search is empty; write words in q, or a time in from or to', { field: 'q' });
      const times = timesOf(from, to);
      const log = agentIn(project, agent);
      const who = principalOf(c);
      mustRead(who, { log, conversation });
      const lineage = await inbox.lineage({ log, id: conversation as ConversationId });
      const wants = (record: Stored): boolean => concerns(record, conversation) || isIn(lineage, record);
      const { signal } = c.req.raw;
      return reply<SearchPage>(
        c,
        await search(inbox, { log, words: new Words(q ?? ''), ...times, before, limit, who, wants, signal }),
      );
    },
  );
}
