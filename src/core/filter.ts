import type { FilterCause } from './cause.ts';
import { formatKind, levelRank, type Level, type Notification } from './notification.ts';
import type { Policy } from './policy.ts';

/**
 * A mute, such as `earpiece mute` makes: notifications whose kind matches `pattern` are filtered until `until` (epoch ms; null:
 * for ever). `since`: when the mute was made, by the clock of the machine that made it. A reader with another clock needs `since`
 * to interpret `until`.
 */
export type Mute = { readonly pattern: string; readonly until: number | null; readonly by: string; readonly since?: number };

/**
 * True for a notification that must not be filtered or dropped. Such a notification has an `action`, or it is critical and has a
 * core kind or comes from a person or a core subscriber. Without this exception, a mute or the config file of a cloned project
 * could suppress a person's request to stop.
 */
export function isKept({ action, kind, level, origin, subscriber }: Notification, policy: Policy): boolean {
  if (action !== undefined) return true;
  if (level !== 'critical') return false;
  const dotted = formatKind(kind);
  return origin?.person !== undefined || subscriber?.core === true || policy.core.some((pattern) => matchesKind(pattern, dotted));
}

/**
 * Returns the setting or mute that filters this notification. Undefined if none does. The plan and the gate use the same cause.
 */
export function filterOf(
  notification: Notification,
  policy: Policy,
  mutes: readonly Mute[] = [],
  now = 0,
): FilterCause | undefined {
  if (isKept(notification, policy)) return undefined;
  const { kind, level, origin } = notification;
  const dotted = formatKind(kind);
  if (!policy.enable) return off('conversation.notifications.enable');

  const mute = mutes.find((m) => (m.until === null || m.until > now) && matchesKind(m.pattern, dotted));
  if (mute) return { kind: 'mute', pattern: mute.pattern, by: mute.by, until: mute.until };

  const kinds = 'conversation.notifications.kinds';
  const flat = policy.flat[dotted];
  if (flat === false) return off(`${kinds}."${dotted}"`);
  if (flat === undefined) {
    const source = own(policy.kinds, kind.source);
    if (source?.enable === false) return off(`${kinds}.${kind.source}.enable`);
    if (source && own(source.names, kind.name) === false) return off(`${kinds}."${dotted}"`);
  }
  // A sub-agent counts as a tool of the agent that started it.
  const tool = origin?.tool === undefined ? undefined : own(policy.tools, origin.tool);
  const name = formatKind(kind) === 'subagent.complete' ? 'stopped' : kind.name;
  if (tool && own(tool, name) === false) {
    const quoted = /^[\w-]+$/u.test(origin?.tool ?? '') ? origin?.tool : JSON.stringify(origin?.tool);
    return off(`conversation.tools.${quoted}.notifications.${name}`);
  }
  if (levelRank(level) < levelRank(policy.minLevel)) return { kind: 'setting', key: 'min_level', value: policy.minLevel };
  return undefined;
}

const off = (key: string): FilterCause => ({ kind: 'setting', key, value: false });

/** Returns the cause as a record contains it: without the end of a mute, which a person may change. */
export const recordedFilter = (cause: FilterCause): FilterCause =>
  cause.kind === 'mute' ? { kind: 'mute', pattern: cause.pattern, by: cause.by } : cause;

/** Whether a pattern (`*`, `source`, `source.*` or `source.name`) matches a kind. */
export function matchesKind(pattern: string, dotted: string): boolean {
  if (pattern === '*' || pattern === dotted) return true;
  const prefix = pattern.endsWith('.*') ? pattern.slice(0, -1) : pattern.includes('.') ? undefined : `${pattern}.`;
  return prefix !== undefined && dotted.startsWith(prefix);
}

/** Returns the level of a notification after the policy's cap for its source. */
export function cappedLevel(level: Level, source: string, policy: Policy): Level {
  const cap = own(policy.maxLevel, source) ?? own(policy.maxLevel, '*');
  return cap !== undefined && levelRank(level) > levelRank(cap) ? cap : level;
}

/**
 * Reads a property of the table itself, never an inherited property. Other programs choose the names, so `__proto__` and
 * `constructor` must be ordinary names.
 */
const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
