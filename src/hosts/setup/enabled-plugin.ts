/** Finds the plugin of Earpiece that is enabled in Claude Code's settings. */
import { join } from 'node:path';
import { jsonAt } from '../../config/edit-json.ts';
import { PLUGIN } from './claude-plugin.ts';
import { hooksIn } from './hook-settings.ts';
import { isOurHook } from './ours.ts';
import { readSettings } from './read-settings.ts';
import type { EnabledPlugin } from './setup.ts';

/**
 * Returns the enabled plugin, if any. `settings` are the files that may enable or disable the plugin, lowest priority first.
 * `plugins` is the folder of Claude Code's plugins.
 */
export function enabledPlugin(settings: readonly string[], plugins: string): EnabledPlugin | undefined {
  const switches = Object.assign(
    {},
    ...settings.map((file) => jsonAt(readSettings(file).text ?? '', ['enabledPlugins'])),
  ) as object;
  const name = Object.entries(switches).find(([each, on]) => on === true && each.startsWith(`${PLUGIN}@`))?.[0];
  if (name === undefined) return undefined;
  const places: unknown = jsonAt(readSettings(join(plugins, 'installed_plugins.json')).text ?? '', ['plugins', name]);
  const folder = Array.isArray(places) ? (places as readonly { readonly installPath?: unknown }[])[0]?.installPath : undefined;
  if (typeof folder !== 'string') return { name, hooks: [] };
  const hooks = hooksIn(readSettings(join(folder, 'hooks/hooks.json')).text ?? '', (handler) => isOurHook(handler, 'claude'));
  return { name, folder, hooks };
}
