/** The inputs for settings: a switch, a choice, a word or number, or lines. */
import { useRef, useState, type ReactElement } from 'react';
import type { SettingChange, SettingReply, SettingScope } from '../../types.ts';

export type Value = boolean | number | string | readonly string[];

type InputProps = {
  readonly setting: SettingReply;
  readonly change: SettingChange;
  readonly scope: SettingScope;
  readonly id: string;
  readonly describedBy: string;
  readonly locked: boolean;
  readonly busy: boolean;
  readonly wrong: boolean;
  /** Resolves to true if the value was saved. */
  readonly apply: (value: Value) => Promise<boolean>;
};

/** The input of one setting. The input is not disabled during a save, because a disabled field loses the focus. */
export function Input({ setting, change, scope, id, describedBy, locked, busy, wrong, apply }: InputProps): ReactElement {
  const { form } = change;
  const common = { id, disabled: locked, 'aria-describedby': describedBy, 'aria-busy': busy, 'aria-invalid': wrong };
  switch (form.kind) {
    case 'switch':
      return (
        <button
          {...common}
          type="button"
          role="switch"
          className="switch"
          aria-checked={setting.value === true}
          onClick={() => void apply(setting.value !== true)}
        >
          <span aria-hidden="true" />
        </button>
      );
    case 'choice':
      return (
        <select {...common} value={setting.text} onChange={(event) => void apply(event.target.value)}>
          {form.words.map((word) => (
            <option key={word} value={word}>
              {word}
            </option>
          ))}
        </select>
      );
    case 'number':
      return (
        <LineInput
          {...common}
          numeric
          value={setting.value === null ? '' : setting.text}
          // An invalid number is sent as text, because the server's refusal explains the error.
          apply={(text) => apply(/^-?\d+$/u.test(text) ? Number(text) : text)}
        />
      );
    case 'duration':
      return <LineInput {...common} value={setting.value === null && !form.never ? '' : setting.text} apply={apply} />;
    case 'list': {
      const own = change.in[scope].says;
      const shown = listOf(change.addsUp ? own : setting.value);
      const others = change.addsUp ? listOf(setting.value).filter((each) => !shown.includes(each)) : [];
      return <Lines {...common} value={shown} others={others} apply={apply} />;
    }
    default:
      return form satisfies never;
  }
}

const listOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];

type Common = {
  readonly id: string;
  readonly disabled: boolean;
  readonly 'aria-describedby': string;
  readonly 'aria-busy': boolean;
  readonly 'aria-invalid': boolean;
};

/**
 * Keeps the typed text of a field until the text is saved. `latest` has the text already before the next render, because
 * losing the focus saves the text at once. The text stays if the save fails, or if the person types during the save.
 */
function useTyped(): {
  typed: string | null;
  latest: { current: string | null };
  set: (text: string | null) => void;
  /** Calls `apply`, unless the same text is already being saved. */
  send: (apply: () => Promise<boolean>) => void;
  /** Whether a save is running. */
  sending: () => boolean;
} {
  const [typed, show] = useState<string | null>(null);
  const latest = useRef(typed);
  const sent = useRef<string | null>(null);
  const set = (text: string | null): void => {
    latest.current = text;
    show(text);
  };
  const send = (apply: () => Promise<boolean>): void => {
    const mine = latest.current;
    if (mine === sent.current) return;
    sent.current = mine;
    void apply().then((saved) => {
      if (saved && latest.current === mine) set(null);
      if (sent.current === mine) sent.current = null;
    });
  };
  return { typed, latest, set, send, sending: () => sent.current !== null };
}

/** A field of one line. Enter or losing the focus saves the value. Escape restores the saved value. */
function LineInput({
  value,
  apply,
  numeric = false,
  ...rest
}: Common & {
  readonly value: string;
  readonly apply: (text: string) => Promise<boolean>;
  readonly numeric?: boolean;
}): ReactElement {
  const { typed, latest, set, send, sending } = useTyped();
  const commit = (): void => {
    if (latest.current === null) return;
    const text = latest.current.trim();
    // An empty or unchanged field changes nothing.
    if (text === '' || (text === value && !sending())) return set(null);
    send(() => apply(text));
  };
  return (
    <input
      {...rest}
      type="text"
      {...(numeric ? { inputMode: 'numeric' } : {})}
      className="number"
      placeholder="not set"
      value={typed ?? value}
      onChange={(event) => set(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === 'Enter') commit();
        else if (event.key === 'Escape') set(null);
      }}
    />
  );
}

/** A field with one value on each line. The button or Ctrl+Enter saves the values. Escape restores the saved values. */
function Lines({
  value,
  others,
  apply,
  ...rest
}: Common & {
  readonly value: readonly string[];
  /** The values from other places, which this page cannot remove. */
  readonly others: readonly string[];
  readonly apply: (lines: readonly string[]) => Promise<boolean>;
}): ReactElement {
  const text = value.join('\n');
  const { typed, latest, set, send, sending } = useTyped();
  const commit = (): void => {
    if (latest.current === null) return;
    const lines = latest.current.split('\n').flatMap((line) => line.trim() || []);
    if (lines.join('\n') === text && !sending()) return set(null);
    send(() => apply(lines));
  };
  return (
    <div className="lines">
      <textarea
        {...rest}
        rows={Math.min(8, Math.max(2, (typed ?? text).split('\n').length))}
        spellCheck={false}
        placeholder="none"
        value={typed ?? text}
        onChange={(event) => set(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) commit();
          else if (event.key === 'Escape') set(null);
        }}
      />
      {others.length > 0 && <p className="muted words small-words">{`besides: ${others.join(', ')}`}</p>}
      <button type="button" className="small" disabled={rest.disabled} onClick={commit}>
        Save
      </button>
    </div>
  );
}
