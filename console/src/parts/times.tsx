/** The two fields of a form for a period. */
import type { ReactElement } from 'react';
import type { TypedTimes } from '../state/times.ts';

export function TimeFields({
  value,
  onChange,
}: {
  readonly value: TypedTimes;
  readonly onChange: (value: TypedTimes) => void;
}): ReactElement {
  // The browser refuses a time that is not a multiple of the field's step, so a field with seconds needs another step.
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
