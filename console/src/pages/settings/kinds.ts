/** Defines the settings whose keys contain a name that a person chooses: a kind, a source or a tool. */
import { LEVELS } from '../../words.ts';
import type { NamedSettings } from './named.tsx';

const KINDS = 'conversation.notifications.kinds.';
const TOOLS = 'conversation.tools.';
const NEXT_CARRIER = 'now, from the next carrier on';

/** Returns a name as one part of a TOML key, quoted if necessary. */
const part = (name: string): string => (/^[\w-]+$/u.test(name) ? name : JSON.stringify(name));

/** Returns the key for a kind; `ci` and `ci.*` mean a whole source. */
function kindKey(typed: string): string {
  const source = typed.endsWith('.*') ? typed.slice(0, -2) : typed;
  return source.includes('.') ? KINDS + JSON.stringify(source) : `${KINDS}${part(source)}.enable`;
}

export const FILTERS: readonly NamedSettings[] = [
  {
    title: 'Kinds and sources',
    none: 'No filter names a kind or a source. The field below suggests the kinds and sources of the last 7 days.',
    has: (key) => key.startsWith(KINDS),
    fields: [
      {
        kind: 'text',
        label: 'Kind, or source.*',
        placeholder: 'file.changed',
        offers: ({ kinds, sources }) => [...sources.map((source) => `${source}.*`), ...kinds],
      },
    ],
    button: 'Filter it',
    change: (name = '') => ({ key: kindKey(name), value: false, done: `${name} is filtered ${NEXT_CARRIER}` }),
  },
  {
    title: 'Tools',
    none: 'Each notification of a tool is delivered. If a setting names any notification of a tool, the tool’s “content” (new output) is filtered unless a setting delivers it.',
    has: (key) => key.startsWith(TOOLS) && key.includes('.notifications.'),
    fields: [
      { kind: 'text', label: 'Tool', placeholder: 'cargo_test', offers: () => [] },
      {
        kind: 'text',
        label: 'Notification',
        placeholder: 'stopped',
        offers: ({ kinds }) => [...new Set([...OF_TOOLS, ...kinds.map((kind) => kind.slice(kind.indexOf('.') + 1))])],
      },
      { kind: 'choice', label: 'is', words: ['filtered', 'delivered'] },
    ],
    button: 'Set it',
    change: (tool = '', name = '', what = '') => ({
      key: `${TOOLS}${part(tool)}.notifications.${part(name)}`,
      value: what === 'delivered',
      done: `${name} of ${tool} is ${what} ${NEXT_CARRIER}`,
    }),
  },
  {
    title: 'Highest level of a source',
    none: 'No setting limits a source. The limits of the senders still apply.',
    has: (key) => key.startsWith('max_level.'),
    fields: [
      { kind: 'text', label: 'Source, or * for all others', placeholder: 'webhook', offers: ({ sources }) => ['*', ...sources] },
      { kind: 'choice', label: 'at most', words: LEVELS },
    ],
    button: 'Limit it',
    change: (source = '', level = '') => ({
      key: `max_level.${part(source)}`,
      value: level,
      done: `${source === '*' ? 'all other sources' : source}: at most level ${level}, from the next notification on`,
    }),
  },
];

export const WINDOWS: NamedSettings = {
  title: 'Window of a source',
  none: 'All sources have the same window.',
  has: (key) => key.startsWith('coalesce.sources.'),
  fields: [
    { kind: 'text', label: 'Source', placeholder: 'file', offers: ({ sources }) => sources },
    { kind: 'text', label: 'Window', placeholder: '10s', offers: () => ['0s', '2s', '10s', '1m'] },
  ],
  button: 'Set the window',
  change: (source = '', window = '') => ({
    key: `coalesce.sources.${part(source)}`,
    value: window,
    done: `notifications of one kind from ${source} within ${window} become one line ${NEXT_CARRIER}`,
  }),
};

/** The notifications of background tools. */
const OF_TOOLS = ['stopped', 'failed', 'waiting', 'content'];
