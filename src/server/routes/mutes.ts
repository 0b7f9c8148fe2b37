/** Silences a kind for an agent, lists the mutes, and lifts a mute. The inbox implements mutes. */
import type { LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { MutesReply, MuteView } from '../../wire/api.ts';
import type { Inbox } from '../../inbox/index.ts';
import { mustLead, scopeOf } from '../authority.ts';
import { answers, createRoute, jsonBody, reply, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { onOnePage } from '../page-bytes.ts';
import * as schemas from '../../wire/schemas.ts';
import { agentOf } from '../shown.ts';
import { personOf } from './conversations.ts';

/** The maximum number of agents that are read for one list. */
const MAX_AGENTS = 500;

export function muteRoutes(api: Api, { inbox }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/mutes',
      operationId: 'listMutes',
      tags: ['mutes'],
      summary: 'List mutes of one agent, one project, or all projects',
      request: { query: z.strictObject({ log: schemas.logParam.optional(), project: schemas.nameParam.optional() }) },
      responses: answers(schemas.mutes, 'the current mutes'),
    }),
    async (c) => {
      const { log, project } = scopeOf(principalOf(c), c.req.valid('query'));
      if (log !== undefined) return reply<MutesReply>(c, { items: await mutesIn(inbox, log), more: false });
      const found = await inbox.store.agents({ ...defined({ project }), limit: MAX_AGENTS + 1 });
      const items: MuteView[] = [];
      for (const each of found.slice(0, MAX_AGENTS)) for (const mute of await mutesIn(inbox, each.log)) items.push(mute);
      const shown = onOnePage(items);
      return reply<MutesReply>(c, { items: shown, more: found.length > MAX_AGENTS || shown.length < items.length });
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/mutes',
      operationId: 'mute',
      tags: ['mutes'],
      summary: 'Mute a kind for an agent: notifications of this kind close as filtered and can be queued again',
      request: { body: jsonBody(schemas.muteInput) },
      responses: answers(schemas.mutes, 'the current mutes of the agent'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { to, pattern, until } = c.req.valid('json');
      const log = agentOf(to);
      mustLead(who, { log });
      await inbox.mute(log, pattern, { by: personOf(who), ...(until === null ? {} : { until }) });
      return reply<MutesReply>(c, { items: await mutesIn(inbox, log), more: false });
    },
  );

  api.openapi(
    createRoute({
      method: 'delete',
      path: '/api/mutes',
      operationId: 'unmute',
      tags: ['mutes'],
      summary: 'Lift a mute',
      request: { query: z.strictObject({ log: schemas.logParam, pattern: z.string().min(1).max(200) }) },
      responses: answers(schemas.mutes, 'the current mutes of the agent'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { log: named, pattern } = c.req.valid('query');
      const log = agentOf(named);
      mustLead(who, { log });
      await inbox.mute(log, pattern, { by: personOf(who), off: true });
      return reply<MutesReply>(c, { items: await mutesIn(inbox, log), more: false });
    },
  );
}

const mutesIn = async (inbox: Inbox, log: LogKey): Promise<MuteView[]> =>
  (await inbox.mutes(log)).map(({ pattern, until, by }) => ({ log, pattern, until, by }));
