/** Settings with a name that a person chooses: the existing settings, and a form for a new setting. */
import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { messageOf } from '../../state/loaded.ts';
import type { SettingReply, SettingScope } from '../../types.ts';
import { Control, type Save } from './control.tsx';
import type { Value } from './input.tsx';

/** The kinds and sources of the last 7 days, which a field for a name suggests. */
export type Seen = { readonly kinds: readonly string[]; readonly sources: readonly string[] };

type Field =
  | {
      readonly kind: 'text';
      readonly label: string;
      readonly placeholder: string;
      readonly offers: (seen: Seen) => readonly string[];
    }
  | { readonly kind: 'choice'; readonly label: string; readonly words: readonly string[] };

export type NamedSettings = {
  readonly title: string;
  readonly none: string;
  readonly has: (key: string) => boolean;
  readonly fields: readonly Field[];
  readonly button: string;
  /** Makes the change from the texts of the fields, in their order. The server's refusal explains an invalid name. */
  readonly change: (...values: readonly string[]) => { readonly key: string; readonly value: Value; readonly done: string };
};

type Said = { readonly kind: 'pending' | 'saved' | 'problem'; readonly text: string };

export function Named({
  named: { title, none, fields, button, change },
  settings,
  seen,
  scope,
  save,
  onScope,
}: {
  readonly named: NamedSettings;
  readonly settings: readonly SettingReply[];
  readonly seen: Seen;
  readonly scope: SettingScope;
  readonly save: Save;
  readonly onScope: (scope: SettingScope) => void;
}): ReactElement {
  const id = useId();
  const fresh = fields.map((field) => (field.kind === 'choice' ? (field.words[0] ?? '') : ''));
  const [typed, setTyped] = useState<readonly string[]>(fresh);
  const [said, setSaid] = useState<Said | null>(null);
  // A message is about one file, so it disappears when the other file is chosen.
  useEffect(() => setSaid(null), [scope]);
  const form = useRef<HTMLFormElement>(null);
  // The key that is being removed. When its row disappears, the focus moves to the form.
  const taken = useRef<string | null>(null);
  const saveRow: Save = async (changes) => {
    taken.current = Object.entries(changes).find(([, value]) => value === null)?.[0] ?? null;
    try {
      await save(changes);
    } catch (error) {
      taken.current = null;
      throw error;
    }
  };
  useEffect(() => {
    if (taken.current === null || settings.some(({ key }) => key === taken.current)) return;
    taken.current = null;
    form.current?.querySelector('input')?.focus();
  });
  const missing = typed.some((text) => text.trim() === '');
  const add = (): void => {
    if (said?.kind === 'pending' || missing) return;
    setSaid({ kind: 'pending', text: 'pending …' });
    const { key, value, done } = change(...typed.map((text) => text.trim()));
    save({ [key]: value }).then(
      () => {
        // A text that was typed during the save belongs to the next entry.
        setTyped((now) => (now === typed ? fresh : now));
        setSaid({ kind: 'saved', text: `saved: ${done}` });
      },
      (error: unknown) => setSaid({ kind: 'problem', text: messageOf(error) }),
    );
  };
  return (
    <section aria-labelledby={`${id}h`} className="kinds">
      <h3 id={`${id}h`}>{title}</h3>
      {settings.length === 0 && <p className="muted">{none}</p>}
      {settings.map((each) => (
        <Control key={each.key} setting={each} scope={scope} save={saveRow} onScope={onScope} />
      ))}
      <form
        ref={form}
        className="kind-form"
        aria-labelledby={`${id}h`}
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        {fields.map((field, at) => {
          const common = {
            'aria-describedby': `${id}s`,
            value: typed[at] ?? '',
            onChange: (event: { target: { value: string } }) => setTyped(typed.with(at, event.target.value)),
          };
          return (
            <label key={field.label}>
              <span>{field.label}</span>
              {field.kind === 'choice' ? (
                <select {...common}>
                  {field.words.map((word) => (
                    <option key={word}>{word}</option>
                  ))}
                </select>
              ) : (
                <>
                  <input
                    {...common}
                    list={`${id}l${at}`}
                    placeholder={field.placeholder}
                    aria-invalid={said?.kind === 'problem'}
                  />
                  <datalist id={`${id}l${at}`}>
                    {field.offers(seen).map((each) => (
                      <option key={each} value={each} />
                    ))}
                  </datalist>
                </>
              )}
            </label>
          );
        })}
        <button type="submit" disabled={missing}>
          {button}
        </button>
        <p id={`${id}s`} className={`row-said words ${said?.kind === 'problem' ? 'bad' : ''}`} role="status">
          {said?.text}
        </p>
      </form>
    </section>
  );
}
