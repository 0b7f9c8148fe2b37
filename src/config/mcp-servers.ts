/**
 * Reads servers from the settings of another program: `mcpServers` as in Claude Code, Claude Desktop, Gemini CLI, Cursor and
 * others, and `mcp` as in opencode. Unknown keys belong to that program and are ignored.
 */
import { dirname, resolve } from 'node:path';
import { readLimited } from '../input/index.ts';
import { didYouMean } from '../core/errors.ts';
import { readyServer, type LeftOut, type ServerConfig } from './gateway.ts';
import { parseJsonc, positionIn, toValue, type Node } from './jsonc.ts';
import type { Surroundings } from './places.ts';
import { seen, type Problem } from './problems.ts';
import { isHttpUrl, type ServerEntry } from './servers.ts';

export type McpServers = {
  readonly servers: Readonly<Record<string, ServerConfig>>;
  /** The reasons why servers cannot start, by the servers' names. Each reason is also in `problems`. */
  readonly leftOut: LeftOut;
  readonly problems: readonly Problem[];
};

/** The maximum size of the file: Claude Code keeps its whole history in the same file. */
const MAX_BYTES = 64 * 1_048_576;

type Options = Surroundings & { readonly separator?: string; readonly cwd?: string };

/**
 * Reads the MCP servers in an mcpServers file. Never throws for a missing or invalid file, but returns problems. The file needs
 * no trust, because a person has named the file.
 */
export function readMcpServers(file: string, options: Options): McpServers {
  const path = resolve(options.cwd ?? '.', file);
  let text: string;
  try {
    text = readLimited(path, MAX_BYTES).toString('utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    return {
      servers: {},
      leftOut: {},
      problems: [{ file: path, message: `cannot be read (${code}); name a JSON file with "mcpServers"` }],
    };
  }
  return parseMcpServers(text, path, options);
}

export function parseMcpServers(text: string, file: string, options: Options): McpServers {
  const parsed = parseJsonc(text);
  if (parsed.kind === 'malformed')
    return {
      servers: {},
      leftOut: {},
      problems: [{ file, ...parsed.at, message: `is not valid JSON: expected ${parsed.expected}, found ${parsed.found}` }],
    };

  const problems: Problem[] = [];
  const complain = (node: Node, message: string): void => {
    problems.push({ file, ...positionIn(text, node.at), message });
  };
  const list = serverList(parsed.root, complain);
  const servers = Object.create(null) as Record<string, ServerConfig>;
  const leftOut = Object.create(null) as Record<string, string>;
  for (const [name, node] of list?.members ?? []) {
    const key = `${list?.key}.${name}`;
    // The name becomes a part of tools' names, in which hosts accept no spaces and dots.
    const safe = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
    const taken = safe in servers || safe in leftOut;
    const leaveOut = (problem: string, { member, at = node }: { member?: string; at?: Node } = {}): void => {
      if (!taken && safe !== '') leftOut[safe] = `its ${member ?? 'entry'} ${problem}`;
      complain(at, `${key}${member === undefined ? '' : `.${member}`} ${problem}`);
    };
    const read = entryOf(node);
    if (read.kind === 'problem') {
      leaveOut(read.problem, { ...(read.member !== undefined && { member: read.member }), ...(read.node && { at: read.node }) });
      continue;
    }
    if (!read.entry.enable) continue;
    const separator = options.separator ?? '__';
    const ready = readyServer(safe, read.entry, { separator, base: baseOf(file), at: options });
    if (safe === '') complain(node, `${list?.key} has a server without a name; give this server a name`);
    else if (taken) complain(node, `${key} becomes ${safe}, which is also the name of another server; rename one of the servers`);
    else if (ready.kind === 'problem') leaveOut(ready.problem);
    else servers[safe] = ready.server;
  }
  return { servers, leftOut, problems };
}

/**
 * Returns the base folder of relative paths: the file's folder. For a file in a settings folder (`.cursor/mcp.json`), the base is
 * the project's folder.
 */
function baseOf(file: string): string {
  const folder = dirname(file);
  return /(^|[/\\])\.[^/\\]+$/.test(folder) ? dirname(folder) : folder;
}

type Complain = (node: Node, message: string) => void;
type ServerList = { readonly key: 'mcpServers' | 'mcp'; readonly members: ReadonlyMap<string, Node> };

function serverList(root: Node, complain: Complain): ServerList | undefined {
  if (root.kind !== 'object') {
    complain(root, `is ${seen(toValue(root))}; write an object with "mcpServers"`);
    return undefined;
  }
  for (const key of ['mcpServers', 'mcp'] as const) {
    const found = root.members.get(key);
    if (found === undefined) continue;
    if (found.kind === 'object') return { key, members: found.members };
    complain(found, `${key} is ${seen(toValue(found))}; write an object with one member for each server`);
    return undefined;
  }
  const names = [...root.members.keys()];
  const near = names.find((name) => didYouMean(name, ['mcpServers']) !== undefined);
  const has =
    near === undefined
      ? names.length === 0
        ? 'and is empty; name another file'
        : `but has ${names.slice(0, 5).join(', ')}; name another file`
      : `but has "${near}", which may be meant as "mcpServers"`;
  complain(root, `has no "mcpServers" (nor opencode's "mcp"), ${has}`);
  return undefined;
}

type Read = { kind: 'entry'; entry: ServerEntry } | { kind: 'problem'; problem: string; member?: string; node?: Node };

function entryOf(node: Node): Read {
  if (node.kind !== 'object')
    return { kind: 'problem', problem: `is ${seen(toValue(node))}; write an object with "command" or "url"` };
  const at = (key: string): Node | undefined => node.members.get(key);
  const plain = (key: string): unknown => {
    const member = at(key);
    return member && toValue(member);
  };
  const wrong = (key: string, expected: string): Read => ({
    kind: 'problem',
    member: key,
    problem: `is ${seen(plain(key))}; write ${expected}`,
    node: at(key) ?? node,
  });
  const enable = plain('disabled') !== true && plain('enabled') !== false;

  const type = plain('type');
  if (type !== undefined && !(typeof type === 'string' && TYPES.has(type)))
    return wrong('type', `one of ${[...TYPES].map((each) => `"${each}"`).join(', ')}`);
  const urlKey = ['httpUrl', 'url', 'serverUrl'].find((key) => at(key) !== undefined);
  const command = plain('command');
  if (command !== undefined && urlKey !== undefined)
    return { kind: 'problem', problem: `has both command and ${urlKey}; keep only one` };

  if (command !== undefined) {
    const words = typeof command === 'string' ? [command] : command;
    if (!isTexts(words) || (words[0] ?? '').trim() === '') return wrong('command', 'a program such as "npx"');
    const args = plain('args') ?? [];
    if (!isTexts(args)) return wrong('args', 'a list of texts');
    const envKey = at('environment') === undefined ? 'env' : 'environment';
    const env = textTable(plain(envKey) ?? {});
    if (env === undefined) return wrong(envKey, 'an object of texts');
    const cwd = plain('cwd');
    if (cwd !== undefined && typeof cwd !== 'string') return wrong('cwd', 'a folder');
    const [program = '', ...rest] = words.map(ourVariables);
    const target = { kind: 'stdio', command: program, args: [...rest, ...args.map(ourVariables)], env } as const;
    return { kind: 'entry', entry: { enable, target: cwd === undefined ? target : { ...target, cwd: ourVariables(cwd) } } };
  }
  if (urlKey !== undefined) {
    const url = plain(urlKey);
    if (typeof url !== 'string' || !isHttpUrl(ourVariables(url))) return wrong(urlKey, 'a URL such as "https://example.com/mcp"');
    const headers = textTable(plain('headers') ?? {});
    if (headers === undefined) return wrong('headers', 'an object of texts');
    const sse = type === 'sse';
    return {
      kind: 'entry',
      entry: { enable, target: { kind: 'http', url: ourVariables(url), headers, ...(sse ? { sse } : {}) } },
    };
  }
  const names = [...node.members.keys()];
  return {
    kind: 'problem',
    problem: `has ${names.length === 0 ? 'no member' : `only ${names.slice(0, 5).join(', ')}`}; write "command" or "url"`,
  };
}

const TYPES: ReadonlySet<string> = new Set(['stdio', 'http', 'streamable-http', 'streamableHttp', 'sse', 'local', 'remote']);

const isTexts = (raw: unknown): raw is readonly string[] =>
  Array.isArray(raw) && raw.every((element) => typeof element === 'string');

/** Reads a table of texts. Numbers and booleans become texts, because several programs accept them. */
function textTable(raw: unknown): Record<string, string> | undefined {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined;
  const table: Record<string, string> = {};
  for (const [name, inner] of Object.entries(raw)) {
    if (typeof inner !== 'string' && typeof inner !== 'number' && typeof inner !== 'boolean') return undefined;
    table[name] = ourVariables(String(inner));
  }
  return table;
}

/** Converts the variables of opencode, `{env:NAME}`, to Earpiece's form. */
const ourVariables = (text: string): string => text.replaceAll(/(?<!\$)\{env:([A-Za-z_]\w*)\}/g, '${$1:-}');
