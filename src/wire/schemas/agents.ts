/** Agents, their conversations and records, and search results. */
import { z } from '@hono/zod-openapi';
import type * as api from '../api.ts';
import { time, nullable, counts, force, next } from './base.ts';

const conversation = z
  .object({
    conversation: z.string(),
    address: z.string(),
    purpose: nullable(z.string()),
    host: nullable(z.string()),
    hostVersion: nullable(z.string()),
    folder: nullable(z.string()),
    active: z.boolean(),
    startedAt: time,
    seenAt: time,
    carriedAt: nullable(time),
    endedAt: nullable(time),
    passedTo: nullable(z.object({ conversation: z.string(), at: time })),
    turns: z.number().int(),
    carriers: z.array(z.object({ name: z.string(), at: time })),
    pulls: z.boolean(),
    force,
  })
  .openapi('Conversation') satisfies z.ZodType<api.ConversationSummary>;

const doing = z
  .object({
    kind: z.enum(['tool', 'thinking', 'nothing']),
    what: nullable(z.string()),
    since: nullable(time),
    conversation: nullable(z.string()),
  })
  .openapi('Doing') satisfies z.ZodType<api.Doing>;

const agent = z
  .object({
    log: z.string(),
    project: z.string(),
    agent: z.string(),
    open: counts,
    oldestOpenAt: nullable(time),
    active: z.boolean(),
    paused: z.boolean(),
    doing,
    lastContactAt: nullable(time),
    hosts: z.array(z.string()),
    conversations: z.array(conversation),
  })
  .openapi('Agent') satisfies z.ZodType<api.AgentSummary>;

export const agentsPage = z.object({ items: z.array(agent), next }).openapi('AgentsPage') satisfies z.ZodType<
  api.Page<api.AgentSummary>
>;
export const conversationsPage = z
  .object({ items: z.array(conversation), next })
  .openapi('ConversationsPage') satisfies z.ZodType<api.Page<api.ConversationSummary>>;

export const record = z
  .object({
    seq: z.number().int(),
    log: z.string(),
    at: time,
    body: z.looseObject({ type: z.string() }).openapi({ description: 'the record as it was appended' }),
  })
  .openapi('Record');
export const recordsPage = z.object({ items: z.array(record), next, head: z.number().int() }).openapi('RecordsPage');

export const forks = z
  .object({
    origin: nullable(z.object({ conversation: z.string(), upTo: z.number().int() })),
    forks: z.array(
      z.object({ conversation: z.string(), upTo: z.number().int(), at: time }).openapi('Fork') satisfies z.ZodType<api.Fork>,
    ),
    more: z.boolean(),
    turns: nullable(z.number().int()),
  })
  .openapi('Forks') satisfies z.ZodType<api.ForksReply>;

export const wordsQuery = z
  .string()
  .max(200)
  .refine((text) => text.trim() !== '', 'is blank; write a word to look for')
  .openapi({ description: 'words; all of them are in what is found, in any order and whatever their case' });
export const searchPage = z
  .object({
    items: z.array(
      z
        .object({
          seq: z.number().int(),
          at: time,
          type: z.string(),
          conversation: nullable(z.string()),
          name: nullable(z.string()),
          id: nullable(z.string()),
          text: z.string(),
        })
        .openapi('Hit') satisfies z.ZodType<api.Hit>,
    ),
    looked: z.number().int(),
    lookedBackTo: nullable(time),
    next,
  })
  .openapi('SearchPage') satisfies z.ZodType<api.SearchPage>;
