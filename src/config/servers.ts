/** Reads the wrapped MCP servers and the profiles of clients from the configuration. */
import { defined } from '../core/defined.ts';
import { didYouMean } from '../core/errors.ts';
import { KEPT, keptVariable } from './kept.ts';
import { seen } from './problems.ts';
import {
  boolean,
  integer,
  oneOf,
  problem,
  refuse,
  text,
  texts,
  value,
  withoutPassword,
  type Complaint,
  type Read,
  type Value,
} from './values.ts';

/** A server as in the file: variables are not expanded, and paths are not resolved. */
export type ServerEntry = {
  readonly enable: boolean;
  /** The prefix of the tools' names. Default: the name of the server. */
  readonly prefix?: string;
  readonly target:
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly cwd?: string;
      }
    | {
        readonly kind: 'http';
        readonly url: string;
        readonly headers: Readonly<Record<string, string>>;
        /** Whether to use the older transport of 2024-11-05. */
        readonly sse?: true;
      };
};

/** The configured profile of a client, which overrides the built-in table. */
export type ProfileEntry = {
  readonly kind: (typeof PROFILE_KINDS)[number];
  readonly maxResultChars?: number;
  readonly maxErrorChars?: number;
};

export const PROFILE_KINDS = ['blocks', 'extend', 'strip'] as const;

const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export function isHttpUrl(text: string): boolean {
  // The values of variables are unknown here, so the check replaces each variable by a word.
  const url = URL.parse(text.replaceAll(VARIABLE, 'x'));
  return url?.protocol === 'http:' || url?.protocol === 'https:' || /^\$\{[^}]+\}/.test(text);
}

const SERVER = {
  enable: boolean(),
  prefix: text('letters, digits, "_" and "-"', (prefix) => /^[A-Za-z0-9_-]{1,64}$/.test(prefix)),
  command: text('a program such as "npx"'),
  args: texts('a list of texts such as ["-y", "some-server"]'),
  env: textTable('a table of texts such as { TOKEN = "${TOKEN}" }'),
  cwd: text('a folder'),
  url: text('a URL such as "https://example.com/mcp"', isHttpUrl),
  transport: oneOf(['http', 'sse']),
  headers: textTable('a table of texts such as { Authorization = "Bearer ${TOKEN}" }'),
} as const;

export function server(): Value<ServerEntry> {
  return {
    read: (raw) => {
      if (!isTable(raw)) return refuse(raw, SERVER_EXPECTS);
      const read = fields(raw, SERVER);
      if (read.kind === 'problems') return read;
      const { enable, prefix, command, args, env, cwd, url, transport, headers } = read.value;
      const common = { enable: enable ?? true, ...defined({ prefix }) };
      if (command !== undefined && url !== undefined) return problem('has both command and url; keep only one');
      if (command !== undefined) {
        const stray = (['headers', 'transport'] as const).find((key) => raw[key] !== undefined);
        if (stray !== undefined)
          return problem('works only for a server with url, but this server has command; remove this key', [stray], 'key');
        return value({
          ...common,
          target: { kind: 'stdio', command, args: args ?? [], env: env ?? {}, ...defined({ cwd }) },
        });
      }
      if (url !== undefined) {
        const stray = (['args', 'env', 'cwd'] as const).find((key) => raw[key] !== undefined);
        if (stray !== undefined)
          return problem('works only for a server with command, but this server has url; remove this key', [stray], 'key');
        return value({
          ...common,
          target: { kind: 'http', url, headers: headers ?? {}, ...(transport === 'sse' ? { sse: true as const } : {}) },
        });
      }
      return problem(`has neither a command nor a url; write ${SERVER_EXPECTS}`);
    },
    fromText: (line) => refuse(line, 'servers into earpiece.toml'),
    show: showServer,
    expects: SERVER_EXPECTS,
    takesTable: true,
  };
}

const SERVER_EXPECTS = 'a table with command (and args, env, cwd) or with url (and headers, transport)';

/** Describes a server without the values of its environment and headers, which may be secrets. */
export function showServer(entry: ServerEntry): string {
  const { target } = entry;
  const names = Object.keys(target.kind === 'stdio' ? target.env : target.headers);
  const what = target.kind === 'stdio' ? [target.command, ...target.args].join(' ') : withoutPassword(target.url);
  const extra = names.length === 0 ? '' : ` (${target.kind === 'stdio' ? 'env' : 'headers'}: ${names.join(', ')})`;
  return `${what}${extra}${entry.enable ? '' : ' (not enabled)'}`;
}

/**
 * Describes a server to a person who decides whether to trust the server. The text includes the server's folder and the user's
 * variables that the server gets.
 */
export function askedFor(entry: ServerEntry): string {
  const { target } = entry;
  const folder = target.kind === 'stdio' && target.cwd !== undefined ? ` in ${target.cwd}` : '';
  const texts =
    target.kind === 'stdio'
      ? [target.command, ...target.args, ...Object.values(target.env), target.cwd ?? '']
      : [target.url, ...Object.values(target.headers)];
  const names = new Set(texts.flatMap((text) => [...text.matchAll(VARIABLE)].map(([, name = '']) => name)));
  return `${showServer(entry)}${folder}${names.size === 0 ? '' : `, with your ${[...names].join(', ')}`}`;
}

const PROFILE = {
  kind: oneOf(PROFILE_KINDS),
  max_result_chars: integer({ min: 100, max: 100_000_000 }),
  max_error_chars: integer({ min: 100, max: 100_000_000 }),
} as const;

export function profile(): Value<ProfileEntry> {
  const expects = `one of ${PROFILE_KINDS.join(', ')}, or a table with kind, max_result_chars and max_error_chars`;
  const short = (raw: unknown): Read<ProfileEntry> => {
    const read = PROFILE.kind.read(raw);
    return read.kind === 'problems' ? read : value({ kind: read.value });
  };
  return {
    read: (raw) => {
      if (typeof raw === 'string') return short(raw);
      if (!isTable(raw)) return refuse(raw, expects);
      const read = fields(raw, PROFILE);
      if (read.kind === 'problems') return read;
      const { kind, max_result_chars: maxResultChars, max_error_chars: maxErrorChars } = read.value;
      if (kind === undefined) return problem(`has no kind; write ${PROFILE.kind.expects}`);
      return value({
        kind,
        ...defined({ maxResultChars, maxErrorChars }),
      });
    },
    fromText: short,
    show: ({ kind, maxResultChars, maxErrorChars }) =>
      [kind, maxResultChars && `results up to ${maxResultChars} characters`, maxErrorChars && `errors up to ${maxErrorChars}`]
        .filter(Boolean)
        .join(', '),
    expects,
    takesTable: true,
  };
}

/**
 * Expands the variables in the entry of an MCP server: `${NAME}`, `${env:NAME}`, `${NAME:-default}`. Returns unset and empty
 * variables without a default as `missing`. A value that the gateway's entry keeps for one server expands only in the environment
 * of that server. Everywhere else, its variable is in `withheld`.
 */
export function expandServer(
  entry: ServerEntry,
  env: Readonly<Record<string, string | undefined>>,
  server: string,
): { readonly entry: ServerEntry; readonly missing: readonly string[]; readonly withheld: readonly string[] } {
  const missing = new Set<string>();
  const withheld = new Set<string>();
  const expand = (text: string, own?: string): string =>
    text.replaceAll(VARIABLE, (_all, name: string, fallback: string | undefined) => {
      const found = env[name];
      if (name === own && found !== undefined) return found;
      if (name !== own && name.startsWith(KEPT)) withheld.add(name);
      else if (found !== undefined && found !== '') return found;
      else if (fallback === undefined) missing.add(name);
      return fallback ?? '';
    });
  const table = (from: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(from).map(([name, text]) => [name, expand(text)]));
  const environment = (from: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(from).map(([name, text]) => [name, expand(text, keptVariable(server, name))]));
  const { target } = entry;
  const expanded: ServerEntry['target'] =
    target.kind === 'http'
      ? { ...target, url: expand(target.url), headers: table(target.headers) }
      : {
          ...target,
          command: expand(target.command),
          args: target.args.map((arg) => expand(arg)),
          env: environment(target.env),
          ...(target.cwd === undefined ? {} : { cwd: expand(target.cwd) }),
        };
  return { entry: { ...entry, target: expanded }, missing: [...missing], withheld: [...withheld] };
}

export type Table = Readonly<Record<string, unknown>>;

export const isTable = (raw: unknown): raw is Table =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw) && !(raw instanceof Date);

/** Describes an unknown key: with "did you mean" if a known key is similar, otherwise with all known keys. */
export function unknownKey(key: string, known: readonly string[]): string {
  const near = didYouMean(key, known);
  return near === undefined ? `is unknown; allowed are ${known.join(', ')}` : `is unknown; did you mean "${near}"?`;
}

// oxlint-disable-next-line typescript/no-explicit-any -- `Value` is invariant in T, and a table's keys hold values of every T
type Keys = Readonly<Record<string, Value<any>>>;

type Fields<K extends Keys> = {
  readonly [Name in keyof K]: K[Name] extends Value<infer T> ? T | undefined : never;
};

/** Reads the allowed keys of a table, and collects the complaints about all keys. */
export function fields<const K extends Keys>(raw: Table, keys: K): Read<Fields<K>> {
  const complaints: Complaint[] = [];
  const found: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(raw)) {
    const known = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (known === undefined) complaints.push({ text: unknownKey(name, Object.keys(keys)), at: [name], aboutKey: true });
    else {
      const read = known.read(inner);
      if (read.kind === 'value') found[name] = read.value;
      else for (const one of read.problems) complaints.push({ ...one, at: [name, ...(one.at ?? [])] });
    }
  }
  return complaints.length > 0 ? { kind: 'problems', problems: complaints } : value(found as Fields<K>);
}

function textTable(expects: string): Value<Readonly<Record<string, string>>> {
  return {
    read: (raw) => {
      if (!isTable(raw)) return refuse(raw, expects);
      const wrong = Object.entries(raw).filter(([, inner]) => typeof inner !== 'string');
      if (wrong.length === 0) return value({ ...raw } as Record<string, string>);
      return {
        kind: 'problems',
        problems: wrong.map(([name, inner]) => ({ text: `is ${seen(inner)}; write a text`, at: [name] })),
      };
    },
    fromText: (line) => refuse(line, expects),
    show: (table) => Object.keys(table).join(', '),
    expects,
  };
}
