/** Filters by source and by kind: those that somebody set, and another one. */
import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { messageOf, useLoaded } from '../../state/loaded.ts';
import { client } from '../../state/server.ts';
import type { SettingReply, SettingScope } from '../../types.ts';
import { Control, type Save } from './control.tsx';

const KINDS = 'conversation.notifications.kinds.';

export const isKindKey = (key: string): boolean => key.startsWith(KINDS);

/** `ci` and `ci.*` are a whole source; what is no kind the server refuses with its own words. */
const keyOf = (typed: string): string => {
  const source = typed.endsWith('.*') ? typed.slice(0, -2) : typed;
  return source.includes('.')
    ? KINDS + JSON.stringify(source)
    : `${KINDS}${/^[\w-]+$/u.test(source) ? source : JSON.stringify(source)}.enable`;
};

const WEEK_MS = 7 * 24 * 3_600_000;

export function Kinds({
  settings,
  scope,
  save,
  onScope,
}: {
  readonly settings: readonly SettingReply[];
  readonly scope: SettingScope;
  readonly save: Save;
  readonly onScope: (scope: SettingScope) => void;
}): ReactElement {
  const id = useId();
  const seen = useLoaded('kinds', (signal) => client.activity({ from: Date.now() - WEEK_MS, signal }));
  const [typed, setTyped] = useState('');
  const [said, setSaid] = useState<{ readonly kind: 'pending' | 'saved' | 'problem'; readonly text: string } | null>(null);
  const box = useRef<HTMLInputElement>(null);
  // A row that is taken out is gone, and the focus with it.
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
    box.current?.focus();
  });
  const kinds = seen.value?.kinds.map(({ kind }) => kind) ?? [];
  const sources = [...new Set(kinds.map((kind) => `${kind.split('.')[0]}.*`))];
  const add = (): void => {
    if (said?.kind === 'pending' || typed.trim() === '') return;
    setSaid({ kind: 'pending', text: 'pending …' });
    save({ [keyOf(typed.trim())]: false }).then(
      () => {
        setTyped('');
        setSaid({ kind: 'saved', text: `saved: ${typed.trim()} is filtered now, from the next carrier on` });
      },
      (error: unknown) => setSaid({ kind: 'problem', text: messageOf(error) }),
    );
  };
  return (
    <section aria-labelledby={`${id}h`} className="kinds">
      <h3 id={`${id}h`}>Kinds and sources</h3>
      {settings.length === 0 && (
        <p className="muted">None is filtered by its name. All that came this week can be chosen below.</p>
      )}
      {settings.map((each) => (
        <Control key={each.key} setting={each} scope={scope} save={saveRow} onScope={onScope} />
      ))}
      <form
        className="kind-form"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <label>
          <span>Kind, or source.*</span>
          <input
            ref={box}
            value={typed}
            list={`${id}l`}
            placeholder="file.changed"
            aria-describedby={`${id}s`}
            onChange={(event) => setTyped(event.target.value)}
          />
        </label>
        <datalist id={`${id}l`}>
          {[...sources, ...kinds].map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
        <button type="submit" disabled={typed.trim() === ''}>
          Filter it
        </button>
        <p id={`${id}s`} className={`row-said words ${said?.kind === 'problem' ? 'bad' : ''}`} role="status">
          {said?.text}
        </p>
      </form>
    </section>
  );
}
