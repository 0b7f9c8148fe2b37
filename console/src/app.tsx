/** The console: the links on the left, one page, and the dialogs over the page. */
import { useCallback, useEffect, type ReactElement } from 'react';
import { Banner, ConnectionDot } from './parts/banner.tsx';
import { Command } from './parts/copy.tsx';
import { Problem } from './parts/empty.tsx';
import { Help } from './parts/help.tsx';
import { Icon, type IconName } from './parts/icons.tsx';
import { useKeys } from './parts/keys.ts';
import { Palette } from './parts/palette.tsx';
import { SideAgents } from './parts/side-agents.tsx';
import { ActivityPage } from './pages/activity.tsx';
import { AgentsPage } from './pages/agents.tsx';
import { ConversationPage } from './pages/conversation.tsx';
import { LoginPage } from './pages/login.tsx';
import { NotificationsPage } from './pages/notifications.tsx';
import { SettingsPage } from './pages/settings.tsx';
import { TasksPage } from './pages/tasks.tsx';
import { change, to, useRoute, type Route } from './route.ts';
import { beginAgents } from './state/agents.ts';
import { useCell } from './state/cell.ts';
import { over, PALETTE_KEY } from './state/over.ts';
import { begin, session } from './state/session.ts';
import { visible } from './state/text.ts';

export function App(): ReactElement {
  const who = useCell(session);
  switch (who.kind) {
    case 'asking':
      return (
        <main className="login">
          <p role="status">Asking the server …</p>
        </main>
      );
    case 'out':
      return <LoginPage why={who.why} />;
    case 'unreachable':
      return <Unreachable why={who.why} />;
    case 'in':
      return <Inside />;
    default:
      return who satisfies never;
  }
}

/** Shows that the server does not answer, and retries every 3 s, because a restarting server answers again soon. */
function Unreachable({ why }: { readonly why: string }): ReactElement {
  useEffect(() => {
    const timer = setInterval(() => void begin(), TRY_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main className="login">
      <h1>Earpiece</h1>
      <Problem text={why} again={() => void begin()} />
      <p className="muted">The page tries again every few seconds. Is the server running?</p>
      <Command text="earpiece serve" />
    </main>
  );
}

const TRY_AGAIN_MS = 3_000;

function Inside(): ReactElement {
  const route = useRoute();
  const asked = useCell(over);
  useEffect(beginAgents, []);
  useTitle(route);
  const onPalette = useCallback(() => over.set(over.value === 'palette' ? null : 'palette'), []);
  const onHelp = useCallback(() => over.set('help'), []);
  const onEscape = useCallback(() => {
    if (route.kind === 'conversation' && route.why !== null)
      change(to.conversation(route.log, route.conversation, null, { find: route.find }));
  }, [route]);
  useKeys({ onPalette, onHelp, onEscape });
  return (
    <div className={`console page-${route.kind}`}>
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.querySelector<HTMLElement>('main')?.focus();
        }}
      >
        To the page
      </a>
      <Side route={route} onPalette={onPalette} onHelp={onHelp} />
      <div className="middle">
        <Banner />
        <main id="main" tabIndex={-1}>
          <Page route={route} />
        </main>
      </div>
      {asked === 'palette' && <Palette onClose={() => over.set(null)} onHelp={onHelp} />}
      {asked === 'help' && <Help onClose={() => over.set(null)} />}
    </div>
  );
}

function Page({ route }: { readonly route: Route }): ReactElement {
  switch (route.kind) {
    case 'agents':
      return <AgentsPage query={route.query} />;
    case 'conversation':
      return (
        <ConversationPage
          key={`${route.log}#${route.conversation}`}
          log={route.log}
          conversation={route.conversation}
          why={route.why}
          find={route.find}
          at={route.at}
        />
      );
    case 'activity':
      return <ActivityPage query={route.query} />;
    case 'notifications':
      return <NotificationsPage query={route.query} />;
    case 'tasks':
      return <TasksPage query={route.query} />;
    case 'settings':
      return <SettingsPage tab={route.tab} query={route.query} />;
    default:
      return route satisfies never;
  }
}

const PLACES: readonly {
  readonly kind: Route['kind'];
  readonly says: string;
  readonly address: string;
  readonly icon: IconName;
}[] = [
  { kind: 'agents', says: 'Agents', address: to.agents(), icon: 'agents' },
  { kind: 'activity', says: 'Activity', address: to.activity(), icon: 'activity' },
  { kind: 'tasks', says: 'Tasks', address: to.tasks(), icon: 'tasks' },
  { kind: 'settings', says: 'Settings', address: to.settings(), icon: 'settings' },
];

function Side({
  route,
  onPalette,
  onHelp,
}: {
  readonly route: Route;
  readonly onPalette: () => void;
  readonly onHelp: () => void;
}): ReactElement {
  const here = route.kind === 'conversation' ? 'agents' : route.kind === 'notifications' ? 'activity' : route.kind;
  return (
    <nav className="side" aria-label="Places">
      <header>
        <a className="brand" href={to.agents()}>
          <img src="/icon.svg" alt="" width="22" height="22" />
          Earpiece
        </a>
        <button
          type="button"
          className="quiet small find"
          onClick={onPalette}
          aria-label={`Find: command palette, ${PALETTE_KEY}`}
        >
          <Icon name="search" />
          <kbd aria-hidden="true">{PALETTE_KEY}</kbd>
          <span className="find-says" aria-hidden="true">
            Find
          </span>
        </button>
      </header>
      <ul className="places">
        {PLACES.map(({ kind, says, address, icon }) => (
          <li key={kind}>
            <a href={address} aria-current={here === kind ? 'page' : undefined}>
              <Icon name={icon} />
              {says}
            </a>
          </li>
        ))}
      </ul>
      <SideAgents route={route} />
      <footer>
        <ConnectionDot />
        <button type="button" className="quiet small" onClick={onHelp} aria-label="Keys">
          <Icon name="help" />
        </button>
      </footer>
    </nav>
  );
}

const TITLES: Readonly<Record<Route['kind'], string>> = {
  agents: 'Agents',
  conversation: '',
  activity: 'Activity',
  notifications: 'Notifications',
  tasks: 'Tasks',
  settings: 'Settings',
};

function useTitle(route: Route): void {
  const title = route.kind === 'conversation' ? `${route.log}#${route.conversation}` : TITLES[route.kind];
  useEffect(() => {
    document.title = visible(`${title} · Earpiece`);
  }, [title]);
}
