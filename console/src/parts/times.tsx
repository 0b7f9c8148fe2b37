/** From when until when: two fields of a form, by the browser's own clock and picker. */
import type { ReactElement } from 'react';

export type Times = { readonly from: number | null; readonly until: number | null };
/** As the fields hold them: `2026-11-22T10:00`, empty where there is none. */
export type TypedTimes = { readonly from: string; readonly until: string };

export const typedOf = ({ from, until }: Times): TypedTimes => ({ from: typed(from), until: typed(until) });

/** What nobody has changed keeps its seconds. */
export const timesIn = (now: TypedTimes, before: Times): Times => ({
  from: now.from === typed(before.from) ? before.from : msOf(now.from),
  until: now.until === typed(before.until) ? before.until : msOf(now.until),
});

export function TimeFields({
  value,
  onChange,
}: {
  readonly value: TypedTimes;
  readonly onChange: (value: TypedTimes) => void;
}): ReactElement {
  return (
    <span className="times-between">
      <label>
        <span>from</span>
        <input type="datetime-local" value={value.from} onChange={(event) => onChange({ ...value, from: event.target.value })} />
      </label>
      <label>
        <span>to</span>
        <input
          type="datetime-local"
          min={value.from === '' ? undefined : afterMinute(value.from)}
          value={value.until}
          onChange={(event) => onChange({ ...value, until: event.target.value })}
        />
      </label>
    </span>
  );
}

function typed(at: number | null): string {
  if (at === null) return '';
  const date = new Date(at);
  const two = (n: number): string => String(n).padStart(2, '0');
  return Number.isNaN(date.getTime())
    ? ''
    : `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The end is after the beginning. */
function afterMinute(text: string): string | undefined {
  const at = msOf(text);
  return at === null ? undefined : typed(at + 60_000);
}

function msOf(text: string): number | null {
  const at = new Date(text).getTime();
  return text === '' || Number.isNaN(at) ? null : Math.max(0, at);
}
