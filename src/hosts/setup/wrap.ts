/**
 * Makes the changes of `earpiece install --wrap`, which puts one gateway process in front of an agent's MCP servers. The commands
 * of the servers move to a list that only the user can read. The values of their environment stay in the agent's own settings.
 * The gateway's entry has each value under a separate name, and the list contains these names.
 */
import { isAbsolute, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { jsonAt, jsonProblem, removeJson, setJson } from '../../config/edit-json.ts';
import type { Edited } from '../../config/edit.ts';
import { KEPT, keptVariable } from '../../config/kept.ts';
import { defined } from '../../core/defined.ts';
import { isOurServer, programOf, startsEarpiece, type Ours } from './ours.ts';
import { readSettings } from './read-settings.ts';
import { digest } from './record.ts';
import { wordsOf } from './servers.ts';
import type { Part, Place, WrapSettings } from './setup.ts';

/**
 * The gateway's name in the agent's settings. The name must not match `OF_EARPIECE`, because calls of the wrapped tools must not
 * pass the gate.
 */
export const WRAPPED = 'servers';

/**
 * Returns the path of the list of MCP servers behind the gateway. There is a separate list for each settings file, because a
 * project has its own servers.
 */
export const listOf = (host: string, { scope, project }: Place, { state = '' }: Ours): string =>
  join(state, 'wrapped', `${host}${scope === 'user' ? '' : `-${digest(project).slice(0, 12)}`}.json`);

type Table = Readonly<Record<string, string>>;
type Entry = Readonly<Record<string, unknown>>;
/**
 * A server as the gateway starts it. `entry` is the server's whole entry in the agent's settings, for uninstall. The list of an
 * earlier version, and a server that a person added to the list, have no `entry`.
 */
type Server = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Table;
  readonly cwd?: string;
  readonly entry?: Entry;
};

/**
 * The keys, besides the key of the environment, that a gateway preserves in a server's entry. A gateway cannot preserve a
 * timeout: the agent would apply the timeout of the gateway's entry to the calls of each server.
 */
const KNOWN = new Set(['type', 'command', 'args', 'cwd', 'enabled', 'description']);

/**
 * The servers of an agent that can be wrapped (`taken`), and the servers that cannot be wrapped, each with the reason (`left`).
 */
export type Wrapping = { readonly taken: Readonly<Record<string, Server>>; readonly left: Readonly<Record<string, string>> };

export function wrappingOf(text: string, { path, env }: WrapSettings): Wrapping {
  const taken: Record<string, Server> = {};
  const left: Record<string, string> = {};
  for (const [name, entry] of Object.entries(tableOf(jsonAt(text, path)))) {
    const table = tableOf(entry);
    const words = wordsOf(table);
    if (isOurServer(words) || startsEarpiece(words) || table['enabled'] === false) continue;
    const why = reasonAgainst(name, table, { words, env });
    if (why !== undefined) left[name] = why;
    else {
      const [command = '', ...args] = words;
      const { cwd } = table;
      taken[name] = { command, args, env: textsOf(table[env]), ...(typeof cwd === 'string' ? { cwd } : {}), entry: table };
    }
  }
  return { taken, left };
}

function reasonAgainst(
  name: string,
  table: Entry,
  { words, env }: { readonly words: readonly string[]; readonly env: string },
): string | undefined {
  if (words.length === 0) return 'this server is reached over HTTP, and the agent holds the sign-in';
  if (!/^[\w-]{1,64}$/u.test(name)) return 'the gateway would change the name of this server';
  if (name.includes('__')) return 'its name has "__", which separates a server from its tools';
  const other = Object.keys(table).find((key) => key !== env && !KNOWN.has(key));
  if (other !== undefined) return `a gateway cannot preserve the setting ${other}`;
  const odd = UNKEPT.find(({ keys, isKept }) => keys.some((key) => table[key] !== undefined && !isKept(table[key])));
  if (odd !== undefined) return odd.why;
  const { cwd } = table;
  if ([...words, cwd].some((text) => typeof text === 'string' && REFERENCE.test(text)))
    return 'its command or cwd refers to a variable or a file that only the agent can resolve';
  return cwd === undefined || (typeof cwd === 'string' && isAbsolute(cwd))
    ? undefined
    : 'its cwd is not an absolute path, so only the agent knows the folder';
}

const isText = (value: unknown): boolean => typeof value === 'string';

/** Values that programs read in different ways, and that a gateway therefore cannot keep. */
const UNKEPT = [
  {
    keys: ['command', 'args'],
    isKept: (value: unknown) => [value].flat().every(isText),
    why: 'its command has an argument that is not a text',
  },
  {
    keys: ['env', 'environment'],
    isKept: (value: unknown) => Object.values(tableOf(value)).every(isText),
    why: 'its env has a value that is not a text',
  },
] as const;

/** Matches `$NAME`, `${NAME}`, `{env:NAME}` and `{file:path}`. An agent and the gateway may know different forms. */
const REFERENCE = /\$[A-Za-z_{]|\{(?:env|file):/u;

/**
 * Returns the changes of two files: the agent's settings, and Earpiece's list. A list that is missing or damaged is never
 * replaced, because nothing else shows which servers are behind the gateway.
 */
export function wrapParts(settings: WrapSettings, ours: Ours): readonly Part[] {
  const { file, path, list } = settings;
  const listText = readSettings(list).text;
  const before = readSettings(file).text ?? '';
  const { servers: listed, unusable } = serversIn(listText ?? '', keptIn(before, settings), settings);
  const isLost = listText === undefined ? isInFront(before, settings) : Object.keys(listed).length === 0 || unusable.length > 0;
  const taken = Object.entries(wrappingOf(before, settings).taken).map(([name, each]) => [name, referring(name, each, settings)]);
  const merged = { ...listed, ...(Object.fromEntries(taken) as Readonly<Record<string, Server>>) };
  const names = Object.keys(merged);
  if (names.length === 0 && !isLost) return [];
  const own = [...path, WRAPPED];
  const remove = (text: string, base = ''): Edited => {
    const fronts = gatewaysIn(text, settings);
    if (listText === undefined && fronts.length === 0) return { kind: 'text', text };
    const problem = jsonProblem(text, file);
    if (problem !== undefined) return problem;
    const back = restored({ listed, unusable, base, text }, settings);
    if (back.kind === 'problem') return back;
    let edited: Edited = { kind: 'text', text };
    for (const name of fronts) if (edited.kind === 'text') edited = removeJson(edited.text, [...path, name], file);
    for (const [name, entry] of Object.entries(back.entries))
      if (edited.kind === 'text') edited = setJson(edited.text, [...path, name], entry, file);
    return edited;
  };
  const listPart: Part = {
    file: list,
    what: 'the servers behind the gateway',
    isPrivate: true,
    add: (text) => ({ kind: 'text', text: isLost ? text : `${JSON.stringify({ mcpServers: merged }, null, 2)}\n` }),
    remove: () => ({ kind: 'text', text: '' }),
  };
  const front: Part = {
    file,
    what: isLost
      ? 'one gateway in front of the MCP servers'
      : `one gateway in front of ${names.join(', ')}; their tools are called ${WRAPPED}__<server>__<tool>`,
    add(text, base) {
      const problem = jsonProblem(text, file);
      if (problem !== undefined) return problem;
      if (isLost) return lost(settings, 'restore this list, or run earpiece uninstall before you install again');
      const there = jsonAt(text, own);
      if (there !== undefined && !isOurs(there)) return occupied(file);
      // The text without the gateway becomes the backup, so this text must contain every server.
      const bare = remove(text, base);
      if (bare.kind === 'problem') return bare;
      const now = wrappingOf(text, settings).taken;
      // If a person deleted the gateway's entry, only the settings from before the installation contain the values.
      const earlier = Object.entries(wrappingOf(base ?? '', settings).taken).filter(([name]) => Object.hasOwn(listed, name));
      const env = {
        ...keptOf(earlier),
        ...keptIn(text, settings),
        ...keptOf(Object.entries(now)),
      };
      const entry = settings.entry(programOf(ours, ['gateway', '--servers', list]), env);
      let edited: Edited = isDeepStrictEqual(there, entry) ? { kind: 'text', text } : setJson(text, own, entry, file);
      for (const name of Object.keys(now)) if (edited.kind === 'text') edited = removeJson(edited.text, [...path, name], file);
      return edited;
    },
    remove,
  };
  return listText === undefined && isLost ? [front] : [listPart, front];
}

/** Whether servers of the agent are behind a gateway. */
export const isWrapped = (settings: WrapSettings): boolean =>
  readSettings(settings.list).text !== undefined || isInFront(readSettings(settings.file).text ?? '', settings);

/** Returns the servers that the gateway could wrap before the installation (`base`), and that the text does not have. */
export const lostServers = (text: string, base: string, settings: WrapSettings): readonly string[] =>
  Object.keys(wrappingOf(base, settings).taken).filter((name) => jsonAt(text, [...settings.path, name]) === undefined);

/** Whether the text has the gateway of this list. */
const isInFront = (text: string, settings: WrapSettings): boolean =>
  gatewaysIn(text, settings).some((name) => wordsOf(jsonAt(text, [...settings.path, name])).includes(settings.list));

/** Returns the names of the gateways of this list. A person may have renamed the gateway, or changed the path of the list. */
const gatewaysIn = (text: string, { path, list }: WrapSettings): readonly string[] =>
  Object.entries(tableOf(jsonAt(text, path))).flatMap(([name, entry]) =>
    isOurs(entry) && (name === WRAPPED || wordsOf(entry).includes(list)) ? [name] : [],
  );

/** Returns the values that the gateways keep for the servers. */
const keptIn = (text: string, settings: WrapSettings): Table =>
  Object.assign(
    {},
    ...gatewaysIn(text, settings).map((name) => textsOf(tableOf(jsonAt(text, [...settings.path, name]))[settings.env])),
  ) as Table;

type Problem = Extract<Edited, { readonly kind: 'problem' }>;

const problemOf = ({ file, path }: WrapSettings, message: string): Problem => ({
  kind: 'problem',
  problem: { file, key: [...path, WRAPPED].join('.'), message },
});

const lost = (settings: WrapSettings, advice: string): Problem =>
  problemOf(
    settings,
    `the list of the MCP servers behind this gateway, ${settings.list}, is missing, damaged or incomplete; ${advice}`,
  );

type Sources = {
  readonly listed: Readonly<Record<string, Server>>;
  readonly unusable: readonly string[];
  /** The settings from before the installation. Empty if they are unknown. */
  readonly base: string;
  /** The present settings. A person may have changed the gateway since the installation, or written a server back. */
  readonly text: string;
};

/**
 * Returns the original entries of the servers that only the gateway has, from the list and from the settings before the
 * installation. Returns a problem if a server or a value is in neither. In that case, the gateway and the list must stay, because
 * nothing else shows that the server existed.
 */
function restored(
  { listed, unusable, base, text }: Sources,
  settings: WrapSettings,
): Problem | { readonly kind: 'entries'; readonly entries: Entry } {
  const known = wrappingOf(base, settings).taken;
  const values = keptIn(text, settings);
  const there = tableOf(jsonAt(text, settings.path));
  const servers = { ...known, ...listed };
  const names = Object.keys(servers);
  // The servers whose environment is known. A person may have removed the environment of a server from the list.
  const whole = names.filter((name) => Object.hasOwn(known, name) || Object.keys(servers[name]?.env ?? {}).length > 0);
  const isCovered = (variable: string): boolean =>
    [...whole, ...Object.keys(there)].some((name) => variable.startsWith(keptVariable(name, '')));
  const orphans = Object.keys(values).filter((variable) => variable.startsWith(KEPT) && !isCovered(variable));
  if (names.length === 0 || orphans.length > 0 || unusable.some((name) => !Object.hasOwn({ ...servers, ...there }, name)))
    return lost(settings, 'restore this list, or write the servers back, then remove this entry and this list by hand');
  const entries: Record<string, Entry> = {};
  for (const [name, server] of Object.entries(servers)) {
    if (Object.hasOwn(there, name)) continue;
    const earlier = Object.hasOwn(known, name) ? known[name] : undefined;
    const env: Record<string, string> = {};
    for (const key of Object.keys({ ...earlier?.env, ...server.env })) {
      const variable = keptVariable(name, key);
      const own = Object.hasOwn(listed, name) ? listed[name]?.env[key] : undefined;
      const value = own === undefined || own === `\${${variable}}` ? (values[variable] ?? earlier?.env[key]) : own;
      if (value === undefined)
        return problemOf(
          settings,
          `the value of ${key} of the MCP server ${name} is missing. Add ${variable} with this value to the ${settings.env} of this entry, then run the command again`,
        );
      env[key] = value;
    }
    entries[name] = original({ ...server, ...defined({ entry: server.entry ?? earlier?.entry }), env }, settings);
  }
  return { kind: 'entries', entries };
}

const occupied = (file: string): Edited => ({
  kind: 'problem',
  problem: {
    file,
    key: WRAPPED,
    message: `has another MCP server named "${WRAPPED}"; rename that server, then run the command again`,
  },
});

const isOurs = (entry: unknown): boolean => startsEarpiece(wordsOf(entry));

/** Returns the environments of the servers for the gateway's entry. */
const keptOf = (servers: readonly (readonly [string, Server])[]): Table =>
  Object.fromEntries(
    servers.flatMap(([server, { env }]) => Object.entries(env).map(([name, value]) => [keptVariable(server, name), value])),
  );

/** Returns a server for Earpiece's list. The result refers to the values of the environment, and does not contain them. */
function referring(server: string, each: Server, settings: WrapSettings): Server {
  const env = Object.fromEntries(Object.keys(each.env).map((name) => [name, `\${${keptVariable(server, name)}}`]));
  return { ...each, env, ...(each.entry === undefined ? {} : { entry: withEnvironment(each.entry, env, settings) }) };
}

/** Returns the entry of a server for the agent's settings. */
function original({ command, args, env, cwd, entry }: Server, settings: WrapSettings): Entry {
  if (entry !== undefined) return Object.keys(env).length > 0 ? { ...entry, [settings.env]: env } : entry;
  const { command: spelled, ...rest } = settings.entry({ command, args }, env);
  return { ...rest, command: spelled, ...defined({ cwd }) };
}

const withEnvironment = (entry: Entry, env: Table, settings: WrapSettings): Entry =>
  isTable(entry[settings.env]) ? { ...entry, [settings.env]: env } : entry;

/**
 * Returns the servers of a list, and the names of the servers that are damaged. A person may have edited the list. `values`: the
 * values in the entry of the gateway.
 */
function serversIn(
  text: string,
  values: Table,
  settings: WrapSettings,
): { readonly servers: Readonly<Record<string, Server>>; readonly unusable: readonly string[] } {
  const servers: Record<string, Server> = {};
  const unusable: string[] = [];
  for (const [name, each] of Object.entries(tableOf(jsonAt(text, ['mcpServers'])))) {
    const table = tableOf(each);
    const entry = isTable(table['entry']) && wordsOf(table['entry']).length > 0 ? table['entry'] : undefined;
    const env = [entry?.[settings.env], table['env']];
    const [command, ...args] = typeof table['command'] === 'string' ? wordsOf(table) : [];
    const hasValues = Object.keys(values).some((variable) => variable.startsWith(keptVariable(name, '')));
    if (command === undefined || (!env.some(isTable) && hasValues)) unusable.push(name);
    if (command !== undefined || entry !== undefined)
      servers[name] = {
        ...table,
        command: command ?? '',
        args,
        env: Object.assign({}, ...env.map(textsOf)) as Table,
        entry,
      } as Server;
  }
  return { servers, unusable };
}

const isTable = (value: unknown): value is Entry => typeof value === 'object' && value !== null && !Array.isArray(value);
const tableOf = (value: unknown): Entry => (isTable(value) ? value : {});

const textsOf = (value: unknown): Table =>
  Object.fromEntries(Object.entries(tableOf(value)).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
