/** Defines the tables with which the library checks notifications and events. */
import { SEVERITIES, type EventInput } from '../core/event.ts';
import { ACTIONS, LEVELS, MOMENTS, type NotificationInput, type Origin } from '../core/notification.ts';
import type { Table } from './arguments.ts';

const ORIGIN = {
  keys: { agent: 'text', tool: 'text', person: 'text', cause: 'text', depth: 'number' } satisfies Table<
    Partial<Omit<Origin, 'token' | 'words'>>
  >,
} as const;
const DELIVER = { or: MOMENTS, keys: { at: 'number', inMs: 'amount', afterTurns: 'amount', afterTool: 'name' } } as const;

export const NOTIFICATION: Table<NotificationInput> = {
  id: 'text',
  kind: { or: 'text', keys: { source: 'text', name: 'text' } },
  level: LEVELS,
  message: { needed: 'text' },
  data: 'json',
  key: 'text',
  supersede: 'flag',
  about: 'text',
  // Null means that the notification never expires.
  expiresAt: 'any',
  ttlMs: 'number',
  deliver: DELIVER,
  action: ACTIONS,
  instruction: 'text',
  needs: { keys: { tool: 'text', otherwise: 'text' } },
  purpose: 'text',
  origin: ORIGIN,
  count: 'number',
  firstAt: 'number',
};

export const EVENT: Table<EventInput> = {
  id: 'text',
  type: { needed: 'text' },
  source: { needed: 'text' },
  subject: { needed: 'text' },
  time: 'number',
  severity: SEVERITIES,
  data: 'json',
  message: 'text',
  key: 'text',
  about: 'text',
  supersede: 'flag',
  deliver: DELIVER,
  ttlMs: 'number',
  purpose: 'text',
  origin: ORIGIN,
};
