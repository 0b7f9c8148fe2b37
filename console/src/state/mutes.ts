/** Loads the mutes of one agent or a project, and loads them again after a record of a changed mute. */
import { useEffect } from 'react';
import type { MuteView } from '../../../src/wire/client/index.ts';
import { listen } from './live.ts';
import { useLoaded, type Loaded } from './loaded.ts';
import type { Level } from '../types.ts';
import { client } from './server.ts';
import { soon } from './soon.ts';

export function useMutes(of: { readonly log: string } | { readonly project: string }): Loaded<readonly MuteView[]> {
  const loaded = useLoaded(`mutes ${JSON.stringify(of)}`, async (signal) => (await client.mutes({ ...of, signal })).items);
  const { again } = loaded;
  useEffect(() => {
    const asking = soon(async () => again(), 100);
    const end = listen((records) => {
      if (records.some(({ body }) => /^notifications_(?:un)?muted$/u.test(body.type))) asking.ask();
    });
    return () => {
      end();
      asking.end();
    };
  }, [again]);
  return loaded;
}

export type Mutable = {
  readonly kind: string;
  readonly level: Level;
  readonly action: string | null;
  readonly person: string | null;
};

/** The default of the setting `core.kinds`, apart from `user.*`. */
const CORE = /^(?:earpiece\.|task\.|budget\.exceeded$)/u;

/** Whether a mute could stop such a notification. For the kinds `user.*`, a person's words, the page offers no mute. */
export const mayMute = ({ kind, level, action, person }: Mutable): boolean =>
  action === null && !kind.startsWith('user.') && (level !== 'critical' || (person === null && !CORE.test(kind)));
