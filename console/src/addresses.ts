/** Makes and reads the console's routes: the part of the URL after `#`, which survives a reload and never reaches a server. */
export const TABS = ['account', 'models', 'notifications', 'advanced'] as const;
export type Tab = (typeof TABS)[number];
export type Query = Readonly<Record<string, string>>;

/** A search in a conversation: words, a time span (epoch ms), or both. */
export type Find = { readonly words: string; readonly from: number | null; readonly until: number | null };

export type Route =
  | { readonly kind: 'agents'; readonly query: Query }
  | {
      readonly kind: 'conversation';
      readonly log: string;
      readonly conversation: string;
      /** The notification whose *Why* panel is open. */
      readonly why: string | null;
      readonly find: Find | null;
      /** The position of the record that the link names. */
      readonly at: number | null;
    }
  | { readonly kind: 'activity'; readonly query: Query }
  | { readonly kind: 'notifications'; readonly query: Query; readonly why: string | null; readonly log: string | null }
  | { readonly kind: 'tasks'; readonly query: Query }
  | { readonly kind: 'settings'; readonly tab: Tab; readonly query: Query };

const part = encodeURIComponent;

function search(query: Readonly<Record<string, string | number | null | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null && value !== '') params.set(name, String(value));
  return params.size === 0 ? '' : `?${params.toString()}`;
}

/** Makes the URLs of pages. Names are escaped, so that each name stays one part of the path. */
export const to = {
  agents: (query: Query = {}) => `#/agents${search(query)}`,
  conversation: (
    log: string,
    conversation: string,
    why?: string | null,
    { find, at }: { readonly find?: Find | null; readonly at?: number | null } = {},
  ) => {
    const slash = log.indexOf('/');
    return `#/agents/${part(log.slice(0, slash))}/${part(log.slice(slash + 1))}/${part(conversation)}${search({ why, find: find?.words, from: find?.from, to: find?.until, at })}`;
  },
  activity: (query: Query = {}) => `#/activity${search(query)}`,
  notifications: (query: Readonly<Record<string, string | number | null | undefined>> = {}) => `#/notifications${search(query)}`,
  tasks: (query: Query = {}) => `#/tasks${search(query)}`,
  settings: (tab: Tab = 'notifications', query: Query = {}) => `#/settings/${tab}${search(query)}`,
};

export function routeOf(hash: string): Route {
  const [path = '', params = ''] = hash.replace(/^#/u, '').split('?', 2);
  const query = Object.fromEntries(new URLSearchParams(params));
  const parts = path.split('/').filter(Boolean).map(decoded);
  const why = query['why'] ?? null;
  switch (parts[0] ?? '') {
    case 'agents': {
      const [, project, agent, conversation = 'main'] = parts;
      if (project === undefined || agent === undefined) return { kind: 'agents', query };
      return { kind: 'conversation', log: `${project}/${agent}`, conversation, why, ...placeOf(query) };
    }
    case 'activity':
      return { kind: 'activity', query };
    case 'notifications':
      return { kind: 'notifications', query, why, log: query['log'] ?? null };
    case 'tasks':
      return { kind: 'tasks', query };
    case 'settings':
      return { kind: 'settings', tab: TABS.find((tab) => tab === parts[1]) ?? 'notifications', query };
    default:
      return { kind: 'agents', query: {} };
  }
}

function placeOf({ find, from, to: until, at }: Query): { find: Find | null; at: number | null } {
  const looked: Find = { words: find ?? '', from: numberIn(from), until: numberIn(until) };
  const isNone = looked.words === '' && looked.from === null && looked.until === null;
  return { find: isNone ? null : looked, at: numberIn(at) };
}

/** Returns the whole number that a text of the URL contains; null if the text is not 1 to 15 digits. */
export const numberIn = (text = ''): number | null => (/^\d{1,15}$/u.test(text) ? Number(text) : null);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
