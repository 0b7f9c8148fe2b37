import type { ReactElement } from 'react';
import { ago, exact, minuteTime, useNow, whenSays } from '../state/clock.ts';

/** Shows a time as `3 min ago`, with the exact time in a tooltip. */
export function Ago({ at }: { readonly at: number }): ReactElement {
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {ago(at, useNow())}
    </time>
  );
}

export const Clock = ({ at }: { readonly at: number }): ReactElement => (
  <time className="clock" dateTime={new Date(at).toISOString()} title={exact(at)}>
    {minuteTime(at)}
  </time>
);

/** Shows a time as `10:32`, with the day if it is not today, for lists in which a person compares times. */
export const When = ({ at }: { readonly at: number }): ReactElement => (
  <time dateTime={new Date(at).toISOString()} title={exact(at)}>
    {whenSays(at, useNow())}
  </time>
);
