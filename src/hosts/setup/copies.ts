/** Finds second copies of Earpiece's hooks in the files from which an agent reads hooks. */
import { codexFolder, geminiSettings, qwenSettings } from './folders.ts';
import { handlersIn } from './hook-settings.ts';
import { isOurHook, isServed, startsHook } from './ours.ts';
import type { HookCopy, Place } from './setup.ts';
import { claudeSources } from './switches-claude.ts';
import { codexSources } from './switches-codex.ts';
import { jsonc, sourcesOf, strictJson, type Source } from './switches-found.ts';

const SOURCES: Readonly<Record<string, (place: Place) => readonly Source[]>> = {
  claude: claudeSources,
  codex: (place) => [
    ...codexSources(place),
    ...sourcesOf(
      (['user', 'project'] as const).map((scope) => ({ file: `${codexFolder({ ...place, scope })}/hooks.json`, of: scope })),
      strictJson,
    ),
  ],
  gemini: (place) => sourcesOf(geminiSettings(place), jsonc),
  qwen: (place) => sourcesOf(qwenSettings(place), jsonc),
};

/**
 * Returns the files with hooks that start Earpiece, but that `earpiece install` does not manage: hooks in other files, and hooks
 * that a person wrote. `managed` are the files to which an installation writes.
 */
export function copiesOf(host: string, place: Place, managed: readonly string[]): readonly HookCopy[] {
  const sources = new Map((SOURCES[host]?.(place) ?? []).map((source) => [source.name, source]));
  return [...sources.values()].flatMap(({ name, settings }) => {
    const commands = handlersIn(settings).flatMap((handler) => {
      const isCopy = managed.includes(name)
        ? startsHook(handler, host) && !isOurHook(handler, host)
        : startsHook(handler, host) || isServed(handler);
      return isCopy ? [typeof handler['command'] === 'string' ? handler['command'] : ''] : [];
    });
    return commands.length === 0 ? [] : [{ file: name, isByHand: commands.some((each) => !isOurHook({ command: each }, host)) }];
  });
}
