/** Mutes: kinds that a person silenced for one agent. The command line, the server and the library share this file. */
import type { LogKey } from '../../core/address.ts';
import { AGREE_MS } from '../../core/clocks.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Mute } from '../../core/filter.ts';
import type { Context } from '../context.ts';

/** `until`: epoch ms. Without `until`, the mute lasts until it is lifted. `off`: true to lift the mute. */
export type MuteOptions = { readonly until?: number; readonly by: string; readonly off?: boolean };

const settingOf = (log: LogKey): string => `mutes ${log}`;
const PATTERN = /^(\*|[\w-]{1,64}(\.\*|\.[\w.-]{1,64})?)$/u;

/**
 * Sets or lifts a mute, and returns the current mutes. Throws `bad_argument` if no kind can match the pattern, or if `until` is
 * in the past.
 */
export async function mute(context: Context, log: LogKey, pattern: string, options: MuteOptions): Promise<readonly Mute[]> {
  const { until = null, by, off = false } = options;
  if (!PATTERN.test(pattern))
    throw new EarpieceError(
      'bad_argument',
      `pattern ${JSON.stringify(pattern.slice(0, 80))} must be "*", a source, "source.*" or "source.name"`,
      { data: { field: 'pattern' } },
    );
  const key = settingOf(log);
  for (;;) {
    const now = context.store.now();
    if (until !== null && !(until > now))
      throw new EarpieceError(
        'bad_argument',
        `until must be a time after now (${now} in milliseconds since 1970), got ${until}`,
        {
          data: { field: 'until' },
        },
      );
    const stored = await context.store.setting(key);
    const all = (stored ?? []) as unknown as readonly Mute[];
    const kept = (await context.witnesses.agree()) ? holding(all, now) : all;
    const others = kept.filter((each) => each.pattern !== pattern);
    const mutes = off ? others : [...others, { pattern, until, by, ...(until === null ? {} : { since: now }) }];
    const appended = await context.store.append(
      log,
      [{ type: off ? 'notifications_unmuted' : 'notifications_muted', pattern, until, by }],
      { swaps: [{ key, from: stored, to: mutes.length === 0 ? undefined : mutes }] },
    );
    // If another process has changed the mutes in the meantime, the loop repeats and keeps both changes.
    if (appended.kind === 'appended') return mutes;
  }
}

export async function mutesOf(context: Context, log: LogKey): Promise<readonly Mute[]> {
  const stored = await context.store.setting(settingOf(log));
  return holding((stored ?? []) as unknown as readonly Mute[], context.store.now());
}

/**
 * Returns the mutes that apply now. Ignores a mute from a clock that is more than a day ahead of this process's clock, because
 * the mute would last too long.
 */
const holding = (mutes: readonly Mute[], now: number): readonly Mute[] =>
  mutes.filter(({ until, since = now }) => until === null || (until > now && since <= now + AGREE_MS));
