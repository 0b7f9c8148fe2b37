import type { ReactElement } from 'react';
import { change, TABS, to, type Query, type Tab } from '../route.ts';
import { useProjects } from '../state/projects.ts';
import { Account } from './settings/account.tsx';
import { Advanced } from './settings/advanced.tsx';
import { Models } from './settings/models.tsx';
import { Notifications } from './settings/notifications.tsx';

const SAYS: Readonly<Record<Tab, string>> = {
  account: 'Account',
  models: 'Models',
  notifications: 'Notifications',
  advanced: 'Advanced',
};

export function SettingsPage({ tab, query }: { readonly tab: Tab; readonly query: Query }): ReactElement {
  const { own, all } = useProjects();
  const project = query['project'] ?? own;
  const show = (next: Tab): void =>
    change(to.settings(next, query['project'] === undefined ? {} : { project: query['project'] }));
  return (
    <div className="page settings">
      <header className="page-head">
        <h1>Settings</h1>
        {tab === 'notifications' && all.length > 1 && (
          <label className="inline">
            <span>project</span>
            <select value={project} onChange={(event) => change(to.settings(tab, { project: event.target.value }))}>
              {all.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        )}
      </header>
      <div
        className="tabs"
        role="tablist"
        aria-label="Settings"
        onKeyDown={(event) => {
          const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
          if (by === 0) return;
          const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length] ?? tab;
          show(next);
          document.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
        }}
      >
        {TABS.map((each) => (
          <button
            key={each}
            type="button"
            role="tab"
            id={`tab-${each}`}
            aria-selected={each === tab}
            aria-controls="tab-panel"
            tabIndex={each === tab ? 0 : -1}
            onClick={() => show(each)}
          >
            {SAYS[each]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} className="tab-panel">
        <Panel tab={tab} project={project} query={query} />
      </div>
    </div>
  );
}

function Panel({ tab, project, query }: { readonly tab: Tab; readonly project: string; readonly query: Query }): ReactElement {
  switch (tab) {
    case 'account':
      return <Account />;
    case 'models':
      return <Models />;
    case 'notifications':
      return <Notifications key={project} project={project} find={query['find'] ?? ''} />;
    case 'advanced':
      return <Advanced find={query['find'] ?? ''} />;
    default:
      return tab satisfies never;
  }
}
