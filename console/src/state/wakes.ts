/** At which levels an idle agent of ours is woken only when a person says so (`wake.<level> = "ask"`). */
import { useEffect } from 'react';
import type { Level } from '../types.ts';
import { Cell, useCell } from './cell.ts';
import { client } from './server.ts';

const asked = new Cell<ReadonlySet<string> | undefined>(undefined);
let asking = false;

export function useWakes(): (level: Level) => boolean {
  const levels = useCell(asked);
  useEffect(() => {
    if (asking) return;
    asking = true;
    client.settings().then(
      ({ settings }) =>
        asked.set(
          new Set(
            settings.flatMap(({ key, value }) => (key.startsWith('wake.') && value === 'ask' ? [key.slice('wake.'.length)] : [])),
          ),
        ),
      () => asked.set(new Set()),
    );
  }, []);
  return (level) => levels?.has(level) ?? false;
}
