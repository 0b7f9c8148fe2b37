import { defined } from '../core/defined.ts';
import { DEFAULT_POLICY, type Policy } from '../core/policy.ts';
import type { Level } from '../core/notification.ts';
import { valueOf, winnersBelow, type Layers } from './layers.ts';
import { SETTINGS, type Setting } from './schema.ts';

/** Makes a table without a prototype. The table's names come from users, so `constructor` must be an ordinary name. */
const table = <T>(): Record<string, T> => Object.create(null) as Record<string, T>;

export function policyOf(layers: Layers): Policy {
  const get = <T, F extends T | undefined>(setting: Setting<T, F>): T | F => valueOf(layers, setting);
  const byLevel = <T>(settings: Readonly<Record<Level, Setting<T, T>>>): Record<Level, T> => ({
    info: get(settings.info),
    warning: get(settings.warning),
    error: get(settings.error),
    critical: get(settings.critical),
  });
  const quiet = get(SETTINGS.wakeQuiet);
  return {
    ...DEFAULT_POLICY,
    enable: get(SETTINGS.enable),
    minLevel: get(SETTINGS.minLevel),
    ...kindsOf(layers),
    tools: toolFiltersOf(layers),
    core: get(SETTINGS.core),
    maxItems: get(SETTINGS.maxItems),
    maxTokens: get(SETTINGS.maxTokens),
    coalesceMs: { ...named<number>(layers, 'coalesce', 'sources'), '*': get(SETTINGS.coalesce) },
    maxDeferMs: get(SETTINGS.maxDefer),
    ttlMs: byLevel(SETTINGS.ttl),
    maxOpen: get(SETTINGS.maxOpen),
    view: get(SETTINGS.view),
    interrupt: get(SETTINGS.interrupt),
    wake: byLevel(SETTINGS.wake),
    ...defined({ wakeQuiet: quiet }),
    wakeMaxPerHour: get(SETTINGS.wakeMaxPerHour),
    maxLevel: named<Level>(layers, 'max_level'),
    maxItemChars: get(SETTINGS.maxItemChars),
    withheld: { maxBytes: get(SETTINGS.withheldBytes), keepMs: get(SETTINGS.withheldKeep) },
    redact: get(SETTINGS.redact),
    retentionMs: get(SETTINGS.retention),
    taskRetentionMs: get(SETTINGS.taskRetention),
    leaseMs: get(SETTINGS.lease),
  };
}

function named<T>(layers: Layers, ...start: readonly string[]): Record<string, T> {
  const found = table<T>();
  for (const { path, said } of winnersBelow(layers, ...start)) found[path.at(-1) ?? ''] = said.value as T;
  return found;
}

/** Collects the filters of kinds in their two spellings: only a flat key overrides `kinds.<source>.enable`. */
function kindsOf(layers: Layers): Pick<Policy, 'kinds' | 'flat'> {
  const flat = table<boolean>();
  const kinds = table<{ enable?: boolean; names: Record<string, boolean> }>();
  for (const { path, said } of winnersBelow(layers, 'conversation', 'notifications', 'kinds')) {
    const on = said.value as boolean;
    if (said.setting === SETTINGS.kind) {
      flat[path[3] ?? ''] = on;
      continue;
    }
    const source = (kinds[said.path[3] ?? ''] ??= { names: table() });
    if (said.setting === SETTINGS.kindSource) source.enable = on;
    else source.names[said.path[4] ?? ''] = on;
  }
  return { kinds, flat };
}

/**
 * Collects the filters of tools. If the notifications of a tool have a setting, the tool sends no `content` notifications unless a
 * setting enables them.
 */
function toolFiltersOf(layers: Layers): Policy['tools'] {
  const tools = table<Record<string, boolean>>();
  for (const { path, said } of winnersBelow(layers, 'conversation', 'tools')) {
    if (path[3] !== 'notifications') continue;
    const names = (tools[path[2] ?? ''] ??= Object.assign(table<boolean>(), { content: false }));
    names[path[4] ?? ''] = said.value as boolean;
  }
  return tools;
}
