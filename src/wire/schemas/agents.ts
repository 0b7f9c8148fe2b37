/** Agents, their conversations and records, and search results. */
import { z } from 'zod';
import type { Stored } from '../../core/records.ts';
import { time, nullable, counts, force, next, ofCore, page, type Wire } from './base.ts';

const conversation = z
  .object({
    conversation: z.string(),
    /** `project/agent#conversation`. */
    address: z.string(),
    purpose: nullable(z.string()),
    host: nullable(z.string()),
    hostVersion: nullable(z.string()),
    /** The worktree that it works in. */
    folder: nullable(z.string()),
    active: z.boolean(),
    startedAt: time,
    seenAt: time,
    carriedAt: nullable(time),
    endedAt: nullable(time),
    /** The heir that took over its unread notifications. */
    passedTo: nullable(z.object({ conversation: z.string(), at: time })),
    turns: z.number().int(),
    /** The carriers that can reach it, each with its last carry. */
    carriers: z.array(z.object({ name: z.string(), at: time })),
    /** Its model can call `get_notifications`. */
    pulls: z.boolean(),
    force,
  })
  .openapi('Conversation');
export type ConversationSummary = Wire<typeof conversation>;

const doing = z
  .object({
    kind: z.enum(['tool', 'thinking', 'nothing']),
    what: nullable(z.string()),
    since: nullable(time),
    conversation: nullable(z.string()),
  })
  .openapi('Doing');
/** `what` is a tool's name. `nothing`: it waits for somebody, or its state is unknown; `what` is then the last called tool. */
export type Doing = Wire<typeof doing>;

const agent = z
  .object({
    /** `project/agent`. */
    log: z.string(),
    project: z.string(),
    agent: z.string(),
    open: counts,
    oldestOpenAt: nullable(time),
    /** At least one conversation is active. */
    active: z.boolean(),
    paused: z.boolean(),
    doing,
    lastContactAt: nullable(time),
    hosts: z.array(z.string()),
    /** Seen last first, at most 20. */
    conversations: z.array(conversation),
  })
  .openapi('Agent');
export type AgentSummary = Wire<typeof agent>;

export const agentsPage = page(agent).openapi('AgentsPage');
export const conversationsPage = page(conversation).openapi('ConversationsPage');

export const record = ofCore<Stored>(
  z
    .object({
      seq: z.number().int(),
      log: z.string(),
      at: time,
      body: z.looseObject({ type: z.string() }).openapi({ description: 'the record as it was appended' }),
    })
    .openapi('Record'),
);
export const recordsPage = z
  .object({
    /** Oldest first, even on a page that was requested with `newest`. */
    items: z.array(record),
    /** For `after`; with `newest` or `before` for `before`. A page may be short and still have a next one. */
    next,
    /** The store's newest position at the time of reading: a stream from here misses nothing. */
    head: z.number().int(),
  })
  .openapi('RecordsPage');
export type RecordsPage = Wire<typeof recordsPage>;

const fork = z
  .object({
    conversation: z.string(),
    /** The last record that it shares with its origin. */
    upTo: z.number().int(),
    at: time,
  })
  .openapi('Fork');
export type Fork = Wire<typeof fork>;
export const forks = z
  .object({
    origin: nullable(z.object({ conversation: z.string(), upTo: z.number().int() })),
    /** Last seen first. */
    forks: z.array(fork),
    /** There are more conversations than were searched. */
    more: z.boolean(),
    /** With `at`: the number of its turns up to that record, as `--turns` of `earpiece chat --fork` counts them. */
    turns: nullable(z.number().int()),
  })
  .openapi('Forks');
export type ForksReply = Wire<typeof forks>;

export const wordsQuery = z
  .string()
  .max(200)
  .refine((text) => text.trim() !== '', 'is blank; write a word to look for')
  .openapi({ description: 'words; all of them are in what is found, in any order and whatever their case' });
const hit = z
  .object({
    seq: z.number().int(),
    at: time,
    /** The record's type. */
    type: z.string(),
    conversation: nullable(z.string()),
    /** The record's tool, kind or author. */
    name: nullable(z.string()),
    /** The id of the notification, or of the call. */
    id: nullable(z.string()),
    /** A part of the text, with the first of the words. */
    text: z.string(),
  })
  .openapi('Hit');
/** One match of a search. */
export type Hit = Wire<typeof hit>;
export const searchPage = z
  .object({
    /** Newest first. */
    items: z.array(hit),
    /** The number of records that were searched for this page. */
    looked: z.number().int(),
    /** When the oldest of them was written; null if there are none. */
    lookedBackTo: nullable(time),
    /** For `before`: null when everything was searched. */
    next,
  })
  .openapi('SearchPage');
export type SearchPage = Wire<typeof searchPage>;
