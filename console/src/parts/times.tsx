/** The two fields of a form for a time span. */
import type { ReactElement } from 'react';
import type { TypedTimes } from '../state/times.ts';

export function TimeFields({
  value,
  onChange,
}: {
  readonly value: TypedTimes;
  readonly onChange: (value: TypedTimes) => void;
}): ReactElement {
  // A field refuses a time with a part that is smaller than its step. It counts steps from its `min`.
  const step = [value.from, value.until].every((text) => text === '' || /T\d\d:\d\d$/u.test(text)) ? 60 : 'any';
  return (
    <span className="times-between">
      <label>
        <span>from</span>
        <input
          type="datetime-local"
          step={step}
          value={value.from}
          onChange={(event) => onChange({ ...value, from: event.target.value })}
        />
      </label>
      <label>
        <span>to</span>
        <input
          type="datetime-local"
          step={step}
          min={value.from === '' ? undefined : value.from}
          value={value.until}
          onChange={(event) => onChange({ ...value, until: event.target.value })}
        />
      </label>
    </span>
  );
}
