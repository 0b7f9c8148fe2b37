import type { ReactElement } from 'react';
import { ago, exact, minuteTime, useNow } from '../state/clock.ts';

/** `3 min ago`, with the exact time for whoever points at it. */
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
