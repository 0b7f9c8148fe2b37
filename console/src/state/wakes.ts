/** Finds the levels at which an idle Earpiece agent is woken only if a person agrees (`wake.<level> = "ask"`). */
import { useCallback, useMemo } from 'react';
import type { Level } from '../types.ts';
import { useLoaded } from './loaded.ts';
import { client } from './server.ts';

/**
 * Returns a function that says whether notifications of a level wake the idle agent only after a person agrees. The settings are
 * loaded each time that the page opens, because another page may have changed them.
 */
export function useWakes(): (level: Level) => boolean {
  const { value } = useLoaded('wakes', (signal) => client.settings({ signal }));
  const levels = useMemo(
    () =>
      new Set(
        value?.settings.flatMap((each) =>
          each.key.startsWith('wake.') && each.value === 'ask' ? [each.key.slice('wake.'.length)] : [],
        ),
      ),
    [value],
  );
  return useCallback((level) => levels.has(level), [levels]);
}
