import { formatKind, levelRank, type Level, type Notification } from './notification.ts';
import type { Policy } from './policy.ts';

/** A kind that somebody silenced by hand for a while (`earpiece mute`). `until` is epoch ms, null for ever. */
export type Mute = { readonly pattern: string; readonly until: number | null; readonly by: string };

/** Why the policy or a mute keeps this notification from the model; undefined when it may pass. */
export function filteredBecause(
  notification: Notification,
  policy: Policy,
  mutes: readonly Mute[] = [],
  now = 0,
): string | undefined {
  const { kind, level, origin, subscriber } = notification;
  const dotted = formatKind(kind);
  if (level === 'critical' && (subscriber?.core || policy.core.some((pattern) => matchesKind(pattern, dotted)))) return undefined;
  if (!policy.enable) return 'conversation.notifications.enable = false';

  const mute = mutes.find((m) => (m.until === null || m.until > now) && matchesKind(m.pattern, dotted));
  if (mute) return `${mute.pattern} is muted by ${mute.by}`;

  const flat = policy.flat[dotted];
  if (flat === false) return `conversation.notifications.kinds "${dotted}" = false`;
  if (flat === undefined) {
    const source = own(policy.kinds, kind.source);
    if (source?.enable === false) return `conversation.notifications.kinds.${kind.source}.enable = false`;
    if (source && own(source.names, kind.name) === false)
      return `conversation.notifications.kinds.${kind.source}.${kind.name} = false`;
  }
  // An agent is a tool of the one that has started it.
  const tool = origin?.tool === undefined ? undefined : own(policy.tools, origin.tool);
  const name = formatKind(kind) === 'subagent.complete' ? 'stopped' : kind.name;
  if (tool && own(tool, name) === false) return `conversation.tools.${origin?.tool}.notifications.${name} = false`;
  if (levelRank(level) < levelRank(policy.minLevel)) return `below min_level ${policy.minLevel}`;
  return undefined;
}

/** `*`, `source`, `source.*` or `source.name`. */
export function matchesKind(pattern: string, dotted: string): boolean {
  if (pattern === '*' || pattern === dotted) return true;
  const prefix = pattern.endsWith('.*') ? pattern.slice(0, -1) : pattern.includes('.') ? undefined : `${pattern}.`;
  return prefix !== undefined && dotted.startsWith(prefix);
}

/** The level that a source may claim at most. */
export function cappedLevel(level: Level, source: string, policy: Policy): Level {
  const cap = own(policy.maxLevel, source) ?? own(policy.maxLevel, '*');
  return cap !== undefined && levelRank(level) > levelRank(cap) ? cap : level;
}

/** Names come from outside: `__proto__` and `constructor` are only names. */
const own = <T>(table: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;
