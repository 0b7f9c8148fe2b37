/**
 * Provides helpers for the event sources around an agent's loop. These sources only make the events, and their callers emit them.
 */
import type { EventInput } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';

/** An event without its subject and its source. `data` also contains the event's message, for templates. */
export type Seen = Omit<EventInput, 'source' | 'subject'> & { readonly message: string };

type Told = Pick<Seen, 'type' | 'severity' | 'key' | 'supersede' | 'ttlMs'> & { readonly data: Readonly<Record<string, Json>> };

export const seen = (message: string, { data, ...told }: Told): Seen => ({ ...told, message, data: { ...data, message } });

export const plainNumber = (n: number): string => n.toLocaleString('en');

/** Formats a duration, such as `250 ms`, `1.5 s`, `30 s` or `20 min`. */
export function plainDuration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 600_000) return `${plainNumber(Math.round(ms / 100) / 10)} s`;
  return `${plainNumber(Math.round(ms / 60_000))} min`;
}

/** Makes one line of at most `max` characters. */
export function cut(text: string, max: number): string {
  const line = text.replaceAll(/\s+/gu, ' ').trim();
  return line.length <= max ? line : `${line.slice(0, max - 1).toWellFormed()}…`;
}
