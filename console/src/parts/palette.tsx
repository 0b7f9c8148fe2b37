/** Shows the palette (⌘K), which finds agents, conversations, notifications and commands by a few letters. */
import { useEffect, useId, useMemo, useRef, useState, type ReactElement } from 'react';
import { routeOf } from '../addresses.ts';
import { go, to } from '../route.ts';
import { useAgents } from '../state/agents.ts';
import { messageOf } from '../state/loaded.ts';
import { client } from '../state/server.ts';
import { visible } from '../state/text.ts';
import type { AgentSummary, NotificationView } from '../types.ts';
import { progressSays, senderSays } from '../words.ts';
import { Dialog } from './dialog.tsx';
import { setTheme } from './theme.ts';

type Choice = {
  readonly id: string;
  readonly group: string;
  readonly says: string;
  readonly more: string;
  /** Further words that match the search but are not shown. */
  readonly also?: string;
  readonly run: () => void;
};

const SHOWN = 40;

export function Palette({ onClose, onHelp }: { readonly onClose: () => void; readonly onHelp: () => void }): ReactElement {
  const [asked, setAsked] = useState('');
  /** The id of the selected entry; null means the first entry. An index would change when entries appear before it. */
  const [moved, setMoved] = useState<string | null>(null);
  const { items: agents } = useAgents();
  const [found, setFound] = useState<readonly NotificationView[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  useEffect(() => {
    const end = new AbortController();
    client.notifications({ limit: 100, signal: end.signal }).then(
      ({ items }) => setFound(items),
      (error: unknown) => {
        if (!end.signal.aborted) setProblem(messageOf(error));
      },
    );
    return () => end.abort();
  }, []);
  const all = useMemo(() => [...conversations(agents), ...commands(onHelp), ...notifications(found)], [agents, found, onHelp]);
  const choices = useMemo(() => {
    const words = asked.toLowerCase().split(/\s+/u).filter(Boolean);
    const scored = all.filter((choice) =>
      words.every((word) => `${choice.group} ${choice.says} ${choice.more} ${choice.also ?? ''}`.toLowerCase().includes(word)),
    );
    const known = [...scored.slice(0, SHOWN), ...named(asked.trim(), agents)];
    // If a typed address has a match, the palette offers no search.
    return ADDRESS.test(asked.trim()) && known.length > 0 ? known : [...known, ...search(asked.trim())];
  }, [all, asked, agents]);
  const at = Math.max(
    0,
    choices.findIndex(({ id: each }) => each === moved),
  );
  const moveTo = (n: number): void => setMoved(choices[n]?.id ?? null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const run = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    onClose();
    choice.run();
  };
  const chosen = choices[at];
  return (
    <Dialog label="Command palette" className="palette" onClose={onClose}>
      <input
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- this dialog is for typing
        autoFocus
        role="combobox"
        aria-expanded="true"
        aria-controls={`${id} list`.replaceAll(' ', '-')}
        aria-activedescendant={chosen === undefined ? undefined : `${id}-${at}`}
        aria-label="Find agents, conversations, notifications, commands"
        placeholder="Find agents, conversations, notifications, commands …"
        value={asked}
        onChange={(event) => {
          setAsked(event.target.value);
          setMoved(null);
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') moveTo(Math.min(choices.length - 1, at + 1));
          else if (event.key === 'ArrowUp') moveTo(Math.max(0, at - 1));
          else if (event.key === 'Enter') run(chosen);
          else return;
          event.preventDefault();
        }}
      />
      {problem !== null && <p className="muted words">{problem}</p>}
      <ul role="listbox" aria-label="Found" id={`${id} list`.replaceAll(' ', '-')} ref={list}>
        {choices.map((choice, n) => (
          <li
            key={choice.id}
            id={`${id}-${n}`}
            role="option"
            aria-selected={n === at}
            onMouseMove={({ movementX, movementY }) => {
              // If only the list moves under the mouse pointer, the selection does not change.
              if (movementX !== 0 || movementY !== 0) moveTo(n);
            }}
            onClick={() => run(choice)}
          >
            <span className="palette-group">{choice.group}</span>
            <span className="words">{choice.says}</span>
            <span className="muted words">{choice.more}</span>
          </li>
        ))}
        {choices.every(({ group }) => group === 'search') && (
          <li className="muted words">{`No agent on the first pages and none of the newest ${found.length} notifications contains “${asked}”.`}</li>
        )}
      </ul>
    </Dialog>
  );
}

function commands(onHelp: () => void): Choice[] {
  const page = (says: string, address: string, more: string): Choice => ({
    id: `page ${says}`,
    group: 'go',
    says,
    more,
    run: () => go(address),
  });
  const deed = (says: string, more: string, key: string): Choice => ({
    id: `do ${says}`,
    group: 'do',
    says,
    more,
    run: () => pressed(key),
  });
  return [
    page('Agents', to.agents(), 'what each agent does'),
    page('Activity', to.activity(), 'charts'),
    page('Notifications', to.notifications(), 'list and search notifications'),
    page('Tasks', to.tasks(), ''),
    page('Settings: notifications', to.settings('notifications'), 'subscribers'),
    page('Settings: account', to.settings('account'), ''),
    page('Settings: models', to.settings('models'), ''),
    page('Settings: advanced', to.settings('advanced'), 'filters, budgets, sources, tokens'),
    // The following commands need the page of a conversation with its box for messages.
    ...(document.querySelector('#say') === null
      ? []
      : [
          deed('Write a message', 'm', 'm'),
          ...(document.querySelector('[data-deed=stop]:disabled') === null
            ? [deed('Pause or resume', 'p', 'p'), deed('Stop', 's, asks once', 's')]
            : []),
          deed('Why', 'w', 'w'),
          deed('Search this conversation', '/', '/'),
        ]),
    { id: 'help', group: 'do', says: 'Keys', more: '?', run: onHelp },
    ...(['system', 'light', 'dark'] as const).map((theme) => ({
      id: `theme ${theme}`,
      group: 'do',
      says: `Theme: ${theme}`,
      more: '',
      run: () => setTheme(theme),
    })),
  ];
}

/** Presses a key after this dialog has closed, because the page ignores keys while a dialog is open. */
const pressed = (key: string): void =>
  void setTimeout(() => document.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true })));

const conversations = (agents: readonly AgentSummary[]): Choice[] =>
  agents.flatMap((agent) => {
    const all = agent.conversations.length > 0 ? agent.conversations.map((each) => each.conversation) : ['main'];
    return all.map((conversation) => ({
      id: `${agent.log}#${conversation}`,
      group: 'agent',
      says: `${agent.log}#${conversation}`,
      more: agent.hosts.join(', '),
      run: () => go(to.conversation(agent.log, conversation)),
    }));
  });

const ADDRESS = /^([^/#\s]+\/[^/#\s]+)(?:#([^/#\s]+))?$/u;

/** Offers a typed address as an entry if no loaded agent has it. */
function named(text: string, agents: readonly AgentSummary[]): Choice[] {
  const [, log, conversation = 'main'] = ADDRESS.exec(text) ?? [];
  if (log === undefined || agents.some((agent) => agent.log === log)) return [];
  return [
    {
      id: `address ${text}`,
      group: 'agent',
      says: `${log}#${conversation}`,
      more: 'by its address',
      run: () => go(to.conversation(log, conversation)),
    },
  ];
}

/** Offers searches on the server, which also find older entries. */
function search(words: string): Choice[] {
  if (words === '') return [];
  const here = routeOf(window.location.hash);
  const choice = (says: string, address: string): Choice => ({
    id: `search ${says}`,
    group: 'search',
    says: `${says} for “${words}”`,
    more: '',
    run: () => go(address),
  });
  return [
    ...(here.kind === 'conversation'
      ? [
          choice(
            'Search this conversation',
            to.conversation(here.log, here.conversation, null, { find: { words, from: null, until: null } }),
          ),
        ]
      : []),
    choice('Search all notifications', to.notifications({ q: words })),
  ];
}

const notifications = (found: readonly NotificationView[]): Choice[] =>
  found.map((n) => ({
    id: `${n.log} ${n.id} ${n.conversation}`,
    group: n.level,
    says: visible(n.message.split('\n', 1)[0]?.slice(0, 120) ?? ''),
    more: `${n.kind} · ${senderSays(n)} · ${n.log} · ${progressSays(n)}`,
    also: n.id,
    run: () => go(to.conversation(n.log, n.takenBy ?? n.conversation ?? 'main', n.id)),
  }));
