/** Reads the history of a conversation or a log, and sends a person's messages and interrupts. */
import { conversationId, type ConversationId, type LogKey } from '../../core/address.ts';
import type { Effect, InterruptReply, QueuedReply, RecordsPage } from '../../wire/api.ts';
import type { Action } from '../../core/notification.ts';
import type { Stored } from '../../core/records.ts';
import { isIn, type Inbox } from '../../inbox/index.ts';
import { concerns, mustLead, mustRead, scopeOf } from '../authority.ts';
import { answers, createRoute, flag, inPath, jsonBody, limitQuery, reply, seqQuery, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { history } from '../history.ts';
import { idempotency, idempotencyKey } from '../idempotency.ts';
import {
  given,
  interrupted,
  interruptInput,
  logParam,
  messageInput,
  nameParam,
  queued,
  recordsPage,
} from '../../wire/schemas.ts';
import { agentIn, effectOf, queuedReply } from '../shown.ts';
import type { Principal } from '../tokens.ts';
import { agentParams } from './agents.ts';

const conversationParams = agentParams.extend({ conversation: inPath(128) });

const pageQuery = z.strictObject({
  after: seqQuery.optional(),
  before: seqQuery.optional(),
  newest: flag.optional().openapi({ type: 'boolean', description: 'begin with the newest page' }),
  limit: limitQuery(500, 100),
});

export function conversationRoutes(api: Api, { inbox, queue }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/projects/{project}/agents/{agent}/conversations/{conversation}/records',
      operationId: 'listRecords',
      tags: ['conversations'],
      summary:
        "Read a conversation's records, the records shared with its fork origins, and the agent's records of no conversation",
      request: {
        params: conversationParams,
        query: pageQuery,
      },
      responses: answers(recordsPage, 'records, oldest first'),
    }),
    async (c) => {
      const { project, agent, conversation } = c.req.valid('param');
      const log = agentIn(project, agent);
      const who = principalOf(c);
      mustRead(who, { log, conversation });
      const lineage = await inbox.lineage({ log, id: conversation as ConversationId });
      const wants = (record: Stored): boolean => concerns(record, conversation) || isIn(lineage, record);
      return reply<RecordsPage>(c, await history(inbox, { log, who, wants, ...c.req.valid('query') }));
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/records',
      operationId: 'listLog',
      tags: ['log'],
      summary: 'Read the records of one agent, one project, or all projects',
      request: { query: pageQuery.extend({ log: logParam.optional(), project: nameParam.optional() }) },
      responses: answers(recordsPage, 'records, oldest first'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { log, project, ...page } = c.req.valid('query');
      const scope = scopeOf(who, { log, project });
      const wants = (record: Stored): boolean => scope.conversation === undefined || concerns(record, scope.conversation);
      return reply<RecordsPage>(c, await history(inbox, { log: scope.log, project: scope.project, who, wants, ...page }));
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/projects/{project}/agents/{agent}/conversations/{conversation}/messages',
      operationId: 'postMessage',
      tags: ['conversations'],
      summary: "Send a person's message, which is quoted as the person's words and delivered like any notification",
      ...idempotency,
      request: { params: conversationParams, body: jsonBody(messageInput) },
      responses: {
        ...answers(queued, 'queued', 201),
        200: answers(queued, 'the notification was queued before, or is counted in another notification')[200],
      },
    }),
    async (c) => {
      const { project, agent, conversation } = c.req.valid('param');
      const log = agentIn(project, agent);
      const who = principalOf(c);
      mustLead(who, { log });
      const { content, author, level, deliver } = c.req.valid('json');
      const done = await queue(`${log}#${conversationId(conversation)}`, {
        ...given({ id: idempotencyKey(c), level, deliver }),
        kind: 'user.message',
        message: content,
        origin: { person: author ?? personOf(who) },
      });
      return reply<QueuedReply>(c, queuedReply(done), done.kind === 'queued' ? 201 : 200);
    },
  );

  const interrupt = async (
    who: Principal,
    to: { log: LogKey; conversation?: ConversationId },
    asked: z.output<typeof interruptInput>,
    id: string | undefined,
  ): Promise<InterruptReply> => {
    const { action, message, instruction, author } = asked;
    mustLead(who, { log: to.log });
    const address = to.conversation === undefined ? to.log : `${to.log}#${to.conversation}`;
    const done = await queue(address, {
      ...given({ id, instruction }),
      kind: `user.${action}`,
      message: message ?? MESSAGES[action],
      action,
      origin: { person: author ?? personOf(who) },
    });
    return { ...queuedReply(done), effects: await effectsOf(inbox, to, action) };
  };

  const interruptResponses = {
    ...answers(interrupted, 'queued', 201),
    200: answers(interrupted, 'the interrupt was queued before')[200],
  };
  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/projects/{project}/agents/{agent}/conversations/{conversation}/interrupt',
      operationId: 'interruptConversation',
      tags: ['conversations'],
      summary: 'Cancel or pause one conversation; POST /api/resume lifts a pause',
      ...idempotency,
      request: { params: conversationParams, body: jsonBody(interruptInput) },
      responses: interruptResponses,
    }),
    async (c) => {
      const { project, agent, conversation } = c.req.valid('param');
      const to = { log: agentIn(project, agent), conversation: conversationId(conversation) };
      const done = await interrupt(principalOf(c), to, c.req.valid('json'), idempotencyKey(c));
      return reply<InterruptReply>(c, done, done.kind === 'queued' ? 201 : 200);
    },
  );
  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/projects/{project}/agents/{agent}/interrupt',
      operationId: 'interruptAgent',
      tags: ['agents'],
      summary: 'Cancel or pause all active conversations of an agent',
      ...idempotency,
      request: { params: agentParams, body: jsonBody(interruptInput) },
      responses: interruptResponses,
    }),
    async (c) => {
      const { project, agent } = c.req.valid('param');
      const to = { log: agentIn(project, agent) };
      const done = await interrupt(principalOf(c), to, c.req.valid('json'), idempotencyKey(c));
      return reply<InterruptReply>(c, done, done.kind === 'queued' ? 201 : 200);
    },
  );
}

const MESSAGES: Readonly<Record<Exclude<Action, 'resume'>, string>> = {
  cancel: 'Stop what you are doing.',
  pause: 'Pause: finish this step and wait.',
};

/**
 * Returns the name of the person: the name of the token, or of the token that created the browser session. The default is "a
 * person in the console".
 */
export const personOf = ({ name, session }: Principal): string =>
  session ? (/^browser of (.+)$/u.exec(name)?.[1] ?? 'a person in the console') : name;

/** Describes the effect of an action on the named conversation, or on each active conversation of the agent. */
export async function effectsOf(
  inbox: Inbox,
  { log, conversation }: { readonly log: LogKey; readonly conversation?: ConversationId },
  action: Action,
): Promise<Effect[]> {
  if (conversation !== undefined) {
    const [known] = await inbox.store.presence({ log, conversation });
    return [effectOf(known, `${log}#${conversation}`, known !== undefined && inbox.isActive(known), action)];
  }
  const there = await inbox.active({ log });
  if (there.length === 0) return [effectOf(undefined, log, false, action)];
  return there.map((known) => effectOf(known, `${log}#${known.conversation}`, true, action));
}
