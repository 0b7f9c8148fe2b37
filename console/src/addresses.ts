/** Addresses inside of the console: the part behind the `#`, which survives a reload and is never sent to a server. */
export const TABS = ['account', 'models', 'notifications', 'advanced'] as const;
export type Tab = (typeof TABS)[number];
export type Query = Readonly<Record<string, string>>;

export type Route =
  | { readonly kind: 'agents'; readonly query: Query }
  | {
      readonly kind: 'conversation';
      readonly log: string;
      readonly conversation: string;
      /** The notification whose story is told beside it. */
      readonly why: string | null;
      /** Words that are looked for in it. */
      readonly find: string | null;
      /** The record that somebody came for. */
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

/** Addresses inside of the console. Whatever a name holds, it stays one part of the path. */
export const to = {
  agents: (query: Query = {}) => `#/agents${search(query)}`,
  conversation: (
    log: string,
    conversation: string,
    why?: string | null,
    { find, at }: { readonly find?: string | null; readonly at?: number | null } = {},
  ) => {
    const slash = log.indexOf('/');
    return `#/agents/${part(log.slice(0, slash))}/${part(log.slice(slash + 1))}/${part(conversation)}${search({ why, find, at })}`;
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

function placeOf({ find, at = '' }: Query): { find: string | null; at: number | null } {
  return { find: find ?? null, at: /^\d{1,15}$/u.test(at) ? Number(at) : null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
