/**
 * The page of filters, budgets, sources and tokens. The page shows each value and the place that sets it, and changes values in
 * the configuration files. The page also creates and revokes tokens.
 */
import { useEffect, useRef, useState, type ReactElement } from 'react';
import { Command } from '../../parts/copy.tsx';
import { Problem, Skeleton } from '../../parts/empty.tsx';
import { useLoaded } from '../../state/loaded.ts';
import { client } from '../../state/server.ts';
import type { SettingReply, SettingScope, SettingsReply } from '../../types.ts';
import { Control, type Save } from './control.tsx';
import { FILTERS, WINDOWS } from './kinds.ts';
import { Named, type NamedSettings, type Seen } from './named.tsx';
import { SettingTable } from './table.tsx';
import { Tokens } from './tokens.tsx';

type Group = {
  readonly name: string;
  readonly about: string;
  readonly has: (key: string) => boolean;
  readonly named?: readonly NamedSettings[];
};

const GROUPS: readonly Group[] = [
  {
    name: 'Filters',
    about: 'Which notifications may reach an agent.',
    has: (key) => /^(min_level|conversation\.|max_level\.|core\.)/u.test(key),
    named: FILTERS,
  },
  {
    name: 'Waking',
    about: 'Which notifications wake an idle agent.',
    has: (key) => key.startsWith('wake.'),
  },
  {
    name: 'Budgets',
    about: 'The size and format of a carrier, and the waiting times of notifications.',
    has: (key) =>
      /^(budget\.|view$|interrupt$|ttl\.|max_open|max_defer|coalesce\.|retention|agent\.(budget\.|max_cycles))/u.test(key),
    named: [WINDOWS],
  },
  {
    name: 'Sources',
    about: 'The sources of events, the webhooks, the gateway and the server.',
    has: (key) => /^(sources?\.|webhooks\.|files\.|git\.|gateway\.|server\.)/u.test(key),
  },
  { name: 'Everything else', about: '', has: () => true },
];

const MASTER = 'conversation.notifications.enable';

export function Advanced({ find = '' }: { readonly find?: string }): ReactElement {
  const settings = useLoaded('settings', (signal) => client.settings({ signal }));
  const { again, set, value } = settings;
  const [scope, setScope] = useState<SettingScope>('user');
  useEffect(() => {
    // A file may have changed while this page was in the background.
    window.addEventListener('focus', again);
    return () => window.removeEventListener('focus', again);
  }, [again]);
  // Requests are sent one after the other, because a late answer would show an older state.
  const saving = useRef<Promise<void>>(Promise.resolve());
  const save: Save = (changes) => {
    const saved = saving.current.then(async () => set(await client.changeSettings(changes, { scope })));
    saving.current = saved.catch(() => undefined);
    return saved;
  };
  const seen = useSeen();
  useCameForSetting(find, value !== undefined);
  const left = new Set(value?.settings.filter(({ key, change }) => !key.startsWith('agent.') || change !== null));
  const groups = GROUPS.map(({ name, about, has, named = [] }) => {
    const own: SettingReply[] = [...left].filter(({ key }) => has(key));
    for (const each of own) left.delete(each);
    return { name, about, own, named };
  }).filter(({ own }) => own.length > 0);
  return (
    <>
      {value !== undefined && <Where settings={value} scope={scope} onScope={setScope} />}
      {settings.problem !== null && <Problem text={settings.problem} again={again} />}
      {value === undefined && settings.problem === null && <Skeleton rows={6} label="reading settings" />}
      {value?.problems.map((text) => (
        <div className="problem" key={text} role="alert">
          <span className="words">{text}</span>
        </div>
      ))}
      {groups.map(({ name, about, own, named }) => {
        const fixed = own.filter(({ change }) => change === null);
        const changed = own
          .filter(({ change, key }) => change !== null && !named.some(({ has }) => has(key)))
          .toSorted((a, b) => Number(b.key === MASTER) - Number(a.key === MASTER));
        return (
          <details key={name} className="group" open={name !== 'Everything else'}>
            <summary>
              <h2>{name}</h2>
              <span className="muted">{about}</span>
            </summary>
            {changed.map((each) => (
              <Control key={each.key} setting={each} scope={scope} save={save} onScope={setScope} />
            ))}
            {value?.places !== null &&
              named.map((each) => (
                <Named
                  key={each.title}
                  named={each}
                  settings={own.filter(({ change, key }) => change !== null && each.has(key))}
                  {...{ seen, scope, save }}
                  onScope={setScope}
                />
              ))}
            {fixed.length > 0 && (
              <>
                {fixed.length < own.length && (
                  <p className="muted fixed-head">
                    Change these settings in a file or on the command line. Such settings may run commands, open connections, move
                    the database or decide what is redacted.
                  </p>
                )}
                <SettingTable label={name} settings={fixed} />
              </>
            )}
          </details>
        );
      })}
      <Tokens />
    </>
  );
}

/** Shows and marks the setting that a link names. */
function useCameForSetting(key: string, there: boolean): void {
  useEffect(() => {
    if (key === '' || !there) return;
    const row = document.querySelector<HTMLElement>(`[data-setting=${CSS.escape(key)}]`);
    row?.closest('details')?.setAttribute('open', '');
    row?.classList.add('found');
    row?.scrollIntoView({ block: 'center' });
    (row?.querySelector<HTMLElement>('input, select, button') ?? row)?.focus();
  }, [key, there]);
}

const WEEK_MS = 7 * 24 * 3_600_000;

function useSeen(): Seen {
  const week = useLoaded('kinds', (signal) => client.activity({ from: Date.now() - WEEK_MS, signal }));
  const kinds = week.value?.kinds.map(({ kind }) => kind) ?? [];
  return { kinds, sources: [...new Set(kinds.map((kind) => kind.slice(0, kind.indexOf('.'))))] };
}

const WHOSE: Readonly<Record<SettingScope, { readonly says: string; readonly about: string }>> = {
  user: { says: 'your file', about: 'for all projects' },
  project: { says: 'the project file', about: 'for everybody in the project' },
};

/** Shows the files with settings, and the file that this page changes. */
function Where({
  settings: { files, places, project },
  scope,
  onScope,
}: {
  readonly settings: SettingsReply;
  readonly scope: SettingScope;
  readonly onScope: (scope: SettingScope) => void;
}): ReactElement {
  if (places === null)
    return (
      <>
        <p className="words">
          {files.length === 0
            ? 'The server found no earpiece.toml. If you create one in the project, the server reads the file at once.'
            : `The server reads ${files.map(({ file, scope: whose }) => `${file} (${whose})`).join(', ')}. The server reads a changed file at once.`}
        </p>
        <Command text="earpiece config explain budget.max_items" />
      </>
    );
  return (
    <fieldset className="where">
      <legend>Changes go into</legend>
      {(['user', 'project'] satisfies SettingScope[]).map((each) => (
        <label key={each}>
          <input type="radio" name="scope" checked={scope === each} onChange={() => onScope(each)} />
          <span className="words">
            {`${WHOSE[each].says}${each === 'project' ? ` of ${project}` : ''}, ${WHOSE[each].about} `}
            <code className="muted">{places[each].file}</code>
            {!places[each].exists && <span className="muted"> (your first change creates this file)</span>}
          </span>
        </label>
      ))}
      <p className="muted">
        The project file has priority over your file. Flags and variables of the server have priority over both files. The command
        line changes the same files: <code>earpiece config set budget.max_items 5</code>
      </p>
    </fieldset>
  );
}
