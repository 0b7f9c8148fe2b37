/**
 * Makes the changes of `earpiece install --wrap`, which puts one gateway process in front of an agent's MCP servers. The commands
 * of the servers move to a list that only the user can read. The values of their environment stay in the agent's own settings.
 * The gateway's entry has each value under a separate name, and the list contains these names.
 */
import { isAbsolute, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { jsonAt, jsonProblem, removeJson, setJson } from '../../config/edit-json.ts';
import type { Edited } from '../../config/edit.ts';
import { keptVariable } from '../../config/kept.ts';
import { defined } from '../../core/defined.ts';
import { isOurServer, programOf, startsEarpiece, type Ours } from './ours.ts';
import { readSettings } from './plan.ts';
import { digest } from './record.ts';
import { wordsOf } from './servers.ts';
import type { Part, Place, WrapSettings } from './setup.ts';

/**
 * The gateway's name in the agent's settings. The name must not match `OF_EARPIECE`, because calls of the wrapped tools must not
 * pass the gate.
 */
export const WRAPPED = 'servers';

/** Returns the path of the list. There is a separate list for each settings file, because a project has its own servers. */
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
 * The keys of a server's entry that keep their meaning behind a gateway, besides the key of its environment. A timeout does not
 * keep its meaning: the agent would apply the timeout of the gateway's entry to the calls of each server.
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

/** Returns the changes of two files: the agent's settings, and Earpiece's list. */
export function wrapParts(settings: WrapSettings, ours: Ours): readonly Part[] {
  const { file, path, list } = settings;
  const listText = readSettings(list).text;
  if (listText === undefined && isInFront(readSettings(file).text ?? '', settings)) return [lostPart(settings)];
  const listed = serversIn(listText ?? '');
  const { taken } = wrappingOf(readSettings(file).text ?? '', settings);
  const merged = {
    ...listed,
    ...Object.fromEntries(Object.entries(taken).map(([name, each]) => [name, referring(name, each, settings)])),
  };
  const names = Object.keys(merged);
  if (names.length === 0) return [];
  const own = [...path, WRAPPED];
  const keptIn = (text: string): Table => textsOf(tableOf(jsonAt(text, own))[settings.env]);
  return [
    {
      file: list,
      what: 'the servers behind the gateway',
      isPrivate: true,
      add: () => ({ kind: 'text', text: `${JSON.stringify({ mcpServers: merged }, null, 2)}\n` }),
      remove: () => ({ kind: 'text', text: '' }),
    },
    {
      file,
      what: `one gateway in front of ${names.join(', ')}; their tools are called ${WRAPPED}__<server>__<tool>`,
      add(text) {
        const problem = jsonProblem(text, file);
        if (problem !== undefined) return problem;
        const there = jsonAt(text, own);
        if (there !== undefined && !isOurs(there)) return occupied(file);
        const now = wrappingOf(text, settings).taken;
        const env = { ...keptIn(text), ...Object.assign({}, ...Object.entries(now).map(([name, each]) => kept(name, each))) };
        const entry = settings.entry(programOf(ours, ['gateway', '--servers', list]), env);
        let edited: Edited = isDeepStrictEqual(there, entry) ? { kind: 'text', text } : setJson(text, own, entry, file);
        for (const name of Object.keys(now)) if (edited.kind === 'text') edited = removeJson(edited.text, [...path, name], file);
        return edited;
      },
      remove(text) {
        if (jsonProblem(text, file) !== undefined || !isOurs(jsonAt(text, own))) return { kind: 'text', text };
        const values = keptIn(text);
        let edited: Edited = removeJson(text, own, file);
        for (const [name, server] of Object.entries(merged))
          if (edited.kind === 'text' && jsonAt(edited.text, [...path, name]) === undefined)
            edited = setJson(edited.text, [...path, name], original(server, values, settings), file);
        return edited;
      },
    },
  ];
}

/** Whether servers of the agent are behind a gateway. */
export const isWrapped = (settings: WrapSettings): boolean =>
  readSettings(settings.list).text !== undefined || isInFront(readSettings(settings.file).text ?? '', settings);

/** Whether the text has the gateway of this list. */
const isInFront = (text: string, { path, list }: WrapSettings): boolean => {
  const entry = jsonAt(text, [...path, WRAPPED]);
  return isOurs(entry) && wordsOf(entry).includes(list);
};

/**
 * Returns the change if the gateway is installed, and its list is lost. Then only the copy of the settings from before the
 * installation has the commands of the servers. Without this copy, the entry of the gateway must stay, because nothing else shows
 * that the servers existed.
 */
function lostPart(settings: WrapSettings): Part {
  const { file, path, list } = settings;
  const lost = (advice: string): Edited => ({
    kind: 'problem',
    problem: {
      file,
      key: [...path, WRAPPED].join('.'),
      message: `the list of the MCP servers behind this gateway, ${list}, is missing or cannot be read; ${advice}`,
    },
  });
  return {
    file,
    what: 'one gateway in front of the MCP servers',
    add: () => lost('restore this list, or run earpiece uninstall before you install again'),
    remove(text, base = '') {
      if (jsonProblem(text, file) !== undefined || !isInFront(text, settings)) return { kind: 'text', text };
      const servers = Object.entries(wrappingOf(base, settings).taken);
      if (servers.length === 0) return lost('restore this list, or write the servers back and remove this entry by hand');
      const values = textsOf(tableOf(jsonAt(text, [...path, WRAPPED]))[settings.env]);
      let edited: Edited = removeJson(text, [...path, WRAPPED], file);
      for (const [name, server] of servers)
        if (edited.kind === 'text' && jsonAt(edited.text, [...path, name]) === undefined) {
          // A person may have changed a value in the entry of the gateway since the installation.
          const { env } = server;
          const now = Object.entries(env).map(([key, value]) => [key, values[keptVariable(name, key)] ?? value]);
          const entry = withEnvironment(server.entry ?? {}, Object.fromEntries(now) as Table, settings);
          edited = setJson(edited.text, [...path, name], entry, file);
        }
      return edited;
    },
  };
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

/** Returns the environment of a server for the gateway's entry. */
const kept = (server: string, { env }: Server): Table =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [keptVariable(server, name), value]));

/** Returns a server for Earpiece's list. The result refers to the values of the environment, and does not contain them. */
function referring(server: string, each: Server, settings: WrapSettings): Server {
  const env = Object.fromEntries(Object.keys(each.env).map((name) => [name, `\${${keptVariable(server, name)}}`]));
  return { ...each, env, ...(each.entry === undefined ? {} : { entry: withEnvironment(each.entry, env, settings) }) };
}

/** Restores the original entry of a server. Used if no copy of its bytes was kept. */
function original({ command, args, env, cwd, entry }: Server, values: Table, settings: WrapSettings): Entry {
  const own = Object.fromEntries(
    Object.entries(env).map(([name, reference]) => [name, values[reference.slice(2, -1)] ?? reference]),
  );
  if (entry !== undefined) return withEnvironment(entry, own, settings);
  const { command: spelled, ...rest } = settings.entry({ command, args }, own);
  return { ...rest, command: spelled, ...defined({ cwd }) };
}

const withEnvironment = (entry: Entry, env: Table, settings: WrapSettings): Entry =>
  isTable(entry[settings.env]) ? { ...entry, [settings.env]: env } : entry;

function serversIn(text: string): Readonly<Record<string, Server>> {
  return tableOf(jsonAt(text, ['mcpServers'])) as Readonly<Record<string, Server>>;
}

const isTable = (value: unknown): value is Entry => typeof value === 'object' && value !== null && !Array.isArray(value);
const tableOf = (value: unknown): Entry => (isTable(value) ? value : {});

const textsOf = (value: unknown): Table =>
  Object.fromEntries(Object.entries(tableOf(value)).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
