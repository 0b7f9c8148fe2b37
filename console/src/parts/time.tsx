import type { ReactElement } from 'react';
import { ago, exact, minuteTime, useNow, whenSays } from '../state/clock.ts';

/** `3 min ago`, with the exact time in its tooltip. */
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

/** `10:32`, with the day if it is not today: for a list that a person compares with times. */
export const When = ({ at }: { readonly at: number }): ReactElement => (
  <time dateTime={new Date(at).toISOString()} title={exact(at)}>
    {whenSays(at, useNow())}
  </time>
);
