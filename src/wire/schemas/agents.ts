/** The schemas of agents, conversations, records and search results. */
import { z } from 'zod';
import { CONTACT_POINTS } from '../../core/records.ts';
import { time, nullable, counts, force, next, page } from './base.ts';

export const conversation = z
  .object({
    conversation: z.string(),
    address: z.string().describe('`project/agent#conversation`'),
    purpose: nullable(z.string()),
    host: nullable(z.string()),
    hostVersion: nullable(z.string()),
    folder: nullable(z.string()).describe('the worktree of the conversation'),
    active: z.boolean(),
    paused: z.boolean().describe('whether a pause holds this conversation'),
    startedAt: time,
    seenAt: time,
    carriedAt: nullable(time),
    endedAt: nullable(time),
    passedTo: nullable(z.object({ conversation: z.string(), at: time })).describe(
      'the heir that took over the unread notifications of the conversation',
    ),
    turns: z.number().int(),
    carriers: z
      .array(z.object({ name: z.string(), at: time }))
      .describe('the carriers that can reach the conversation, each with the time of its last contact'),
    points: z
      .array(z.enum(CONTACT_POINTS))
      .describe("the contact points of the conversation's carriers; empty if no carrier has reported one"),
    pulls: z.boolean().describe('whether the model can call `get_notifications`'),
    force,
  })
  .openapi('Conversation');

export const doing = z
  .object({
    kind: z.enum(['tool', 'thinking', 'nothing']),
    what: nullable(z.string()),
    since: nullable(time),
    conversation: nullable(z.string()),
  })
  .openapi('Doing');

export const held = z
  .object({
    id: z.string(),
    kind: z.string(),
    action: nullable(z.string()),
    about: z.string().describe('the beginning of the message'),
    by: nullable(z.string()).describe('the person or the agent that sent the interrupt'),
    since: time,
    until: nullable(time),
    conversation: nullable(z.string()).describe('null if the interrupt holds for all conversations of the agent'),
    refused: z.number().int().describe('the number of calls that were refused so far because of the interrupt'),
  })
  .describe('the interrupt that keeps the gate up')
  .openapi('Held');

export const agent = z
  .object({
    log: z.string().describe('`project/agent`'),
    project: z.string(),
    agent: z.string(),
    open: counts,
    oldestOpenAt: nullable(time),
    active: z.boolean().describe('whether at least one conversation is active'),
    paused: z.boolean().describe('whether a pause holds at least one conversation of the agent'),
    held: nullable(held).describe(
      'the interrupt that keeps the gate up now. A pause has priority over other interrupts, because reading does not lower the gate of a pause',
    ),
    asksSince: nullable(time).describe(
      'the time since which a notification waits for a person to agree to wake the idle agent (`wake.<level> = "ask"`). Null for the agents of other programs, because their records do not show when the agents are idle',
    ),
    failedAt: nullable(time).describe('when the last turn of the agent failed; null after any later activity'),
    doing,
    lastContactAt: nullable(time),
    hosts: z.array(z.string()),
    conversations: z.array(conversation).describe('at most 20 conversations, newest contact first'),
  })
  .openapi('Agent');

export const agentsPage = page(agent).openapi('AgentsPage');
export const conversationsPage = page(conversation).openapi('ConversationsPage');

export const record = z
  .object({
    seq: z.number().int(),
    log: z.string(),
    at: time,
    body: z.looseObject({ type: z.string() }).describe('the record as it was appended'),
  })
  .openapi('Record');
export const recordsPage = z
  .object({
    items: z.array(record).describe('oldest first, also on a page that was requested with `newest`'),
    next: next.describe(
      'the value for `after`, or for `before` if the request had `newest` or `before`; even a short page may have a next page',
    ),
    head: z
      .number()
      .int()
      .describe("the store's newest position at the time of reading; a stream from this position misses no record"),
  })
  .openapi('RecordsPage');

export const fork = z
  .object({
    conversation: z.string(),
    upTo: z.number().int().describe('the last record that the fork shares with its origin'),
    at: time,
  })
  .openapi('Fork');
export const forks = z
  .object({
    origin: nullable(z.object({ conversation: z.string(), upTo: z.number().int() })),
    forks: z.array(fork).describe('the forks, newest contact first'),
    more: z.boolean().describe('whether the agent has more conversations than were searched for forks'),
    turns: nullable(z.number().int()).describe(
      'with `at`: the number of turns up to that record, as `--turns` of `earpiece chat --fork` counts them',
    ),
  })
  .openapi('Forks');

export const wordsQuery = z
  .string()
  .max(200)
  .refine((text) => text.trim() !== '', 'must not be blank; write a word to search for')
  .describe('words; a match contains all of them, in any order and any case');
export const hit = z
  .object({
    seq: z.number().int(),
    at: time,
    type: z.string().describe("the record's type"),
    conversation: nullable(z.string()),
    name: nullable(z.string()).describe("the record's tool, kind or author"),
    id: nullable(z.string()).describe('the id of the notification, or of the call'),
    text: z
      .string()
      .describe(
        'the part of the text around the earliest match of any word; the beginning if the text contains none of the words',
      ),
  })
  .openapi('Hit');
export const searchPage = z
  .object({
    items: z.array(hit).describe('newest first'),
    looked: z.number().int().describe('the number of records that were searched for this page'),
    lookedBackTo: nullable(time).describe(
      'the time of the oldest searched record, epoch milliseconds; null if no record was searched',
    ),
    next: next.describe('the value for `before`; null if everything was searched'),
  })
  .openapi('SearchPage');
