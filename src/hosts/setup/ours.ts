/** Makes the commands with which other programs start Earpiece, and recognizes Earpiece's own entries of any version. */

import { defined } from '../../core/defined.ts';
import { endsEarly, type Ending } from '../quiet-mark.ts';

export type Ours = {
  /** Node and Earpiece's entry file by absolute paths, because a bare `node` may be too old. */
  readonly node: string;
  readonly entry: string;
  /** The arguments with which npx fetches Earpiece again, if the entry file is in a cache that may be cleaned. See `fetching`. */
  readonly fetched?: readonly string[];
  /** The path of the database, if it is not the default that each process of this user finds. */
  readonly db?: string;
  /**
   * The state folder with the quiet marks of sessions (`quiet-mark.ts`) and the lists of wrapped servers. Without this folder, no
   * hook checks for a quiet mark.
   */
  readonly state?: string;
  /**
   * Whether to put one gateway in front of the agent's servers. Servers that are already wrapped stay wrapped without this
   * option.
   */
  readonly wrap?: boolean;
  /**
   * Whether to show open notifications in the agent's status line, if the agent has one. An installed status line stays without
   * this option.
   */
  readonly statusLine?: boolean;
  /** The names of hosts that can call a server's tool as a hook. */
  readonly serves?: readonly string[];
};

/**
 * Returns the arguments with which npx fetches this version. An agent starts npx in a project's folder. In this folder, npx would
 * run the project's own `node_modules/earpiece` and use the registry of its `.npmrc`. A cloned repository must not choose the
 * program, so npx works in the user's home. Without a network, npx fails at once. By default, npx retries after 10 s and after 60
 * s, which would delay each hook until the agent ends the hook.
 */
export const fetching = (version: string, home: string): readonly string[] => [
  '--prefix',
  home,
  '--fetch-retries=0',
  '-y',
  `earpiece@${version}`,
];

/**
 * Makes the line for hosts that pass a command to a shell. The line runs `entry` with `node`. If a version manager has removed
 * this Node, the line runs the `node` on the PATH. With `fetched`, the line runs npx instead, also if the entry file is missing.
 * If no program exists, the hook reports the problem, and the agent continues. `ending`: the condition on which the shell ends
 * the hook without starting Earpiece.
 */
export function shellLine(ours: Ours, words: readonly string[], ending?: Ending): string {
  const { node, entry, fetched } = ours;
  if (ending !== undefined && ours.state !== undefined)
    return `${endsEarly(ours.state, ending, quote)}; ${shellLine(ours, words)}`;
  const args = [...words, ...flags(ours)].map(quote).join(' ');
  const there = `[ -f ${quote(entry)} ]`;
  return firstOf([
    [`${there} && [ -x ${quote(node)} ]`, `${quote(node)} ${quote(entry)} ${args}`],
    fetched === undefined
      ? [`${there} && ${onPath('node')}`, `node ${quote(entry)} ${args}`]
      : [onPath('npx'), `npx ${fetched.map(quote).join(' ')} ${args}`],
  ]);
}

/**
 * Makes a line for a POSIX shell that runs the first program whose condition is true. `exec` replaces the shell, so a hook is one
 * process.
 */
export const firstOf = (programs: readonly (readonly [condition: string, program: string])[]): string =>
  [...programs.map(([condition, program]) => `${condition} && exec ${program}`), `echo ${quote(GONE)} >&2`].join('; ');

export const onPath = (program: string): string => `command -v ${program} >/dev/null`;

const GONE = 'earpiece: its files or its Node no longer exist, so notifications wait; run: npx earpiece install';

export type Program = { readonly command: string; readonly args: readonly string[] };

/** Returns the program and its arguments, for hosts that start a program without a shell. */
export function programOf(ours: Ours, words: readonly string[]): Program {
  const args = [...words, ...flags(ours)];
  return ours.fetched === undefined
    ? { command: ours.node, args: [ours.entry, ...args] }
    : { command: 'npx', args: [...ours.fetched, ...args] };
}

/** The name of Earpiece's MCP server in an agent's settings. */
export const SERVER_NAME = 'earpiece';

const flags = ({ db }: Ours): readonly string[] => (db === undefined ? [] : ['--db', db]);

/** Matches the words that start Earpiece, in a command line of any version. */
const EARPIECE = String.raw`(?:^|[\s'"/\\])(?:earpiece(?:@[\w.+-]+)?|cli[/\\]main\.[jt]s)['"]?`;

/** The tool of Earpiece's MCP server that a host calls instead of a command. */
export const HOOK_TOOL = 'hook';

/**
 * Whether a handler calls the hook tool of Earpiece's server. Claude Code writes `plugin:earpiece:earpiece` for the server of a
 * plugin.
 */
export const isServed = ({ type, server, tool }: Readonly<Record<string, unknown>>): boolean =>
  type === 'mcp_tool' && String(server).split(':').at(-1) === SERVER_NAME && tool === HOOK_TOOL;

/**
 * Whether Earpiece has written this hook. False for a line of a person, even if the line starts Earpiece. Such a line may be a
 * wrapper, a pipe or a container. Each line of `shellLine`, of any version, ends with Earpiece's message. So Earpiece recognizes
 * the line even after a person edits its paths.
 */
export function isOurHook(handler: Readonly<Record<string, unknown>>, host: string): boolean {
  const { command } = handler;
  if (isServed(handler)) return true;
  return (
    typeof command === 'string' &&
    new RegExp(`(?:^|; )\\[ -f .* && exec .+ hook ${host}(?![\\w-]).*; echo 'earpiece: [^']*' >&2$`, 'u').test(command)
  );
}

/** Whether a handler runs Earpiece's hook command, in a line of Earpiece or of a person. */
export const startsHook = ({ command }: Readonly<Record<string, unknown>>, host: string): boolean =>
  typeof command === 'string' &&
  (isOurHook({ command }, host) || new RegExp(`${EARPIECE} hook ${host}(?![\\w-])`, 'u').test(command));

/** Whether a server in a settings file is Earpiece's, by the words of its start command. */
export const isOurServer = (words: readonly string[]): boolean =>
  new RegExp(`${EARPIECE} mcp(?![\\w-])`, 'u').test(words.join(' '));

/** Whether the command starts a gateway of Earpiece. */
export const startsEarpiece = (words: readonly string[]): boolean =>
  new RegExp(`${EARPIECE} gateway(?![\\w-])`, 'u').test(words.join(' '));

/** Finds Node, the entry file and the database in a hook command of Earpiece. A part that the line does not have is missing. */
export function partsOfLine(line: string): { readonly node?: string; readonly entry?: string; readonly db?: string } {
  const words = [...line.matchAll(/(?:'(?:[^']|'\\'')*'|[^\s';])+/gu)].map(([word]) =>
    word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word,
  );
  const exec = words.indexOf('exec');
  const [, node, entry] = exec < 0 ? [] : words.slice(exec);
  const db = words.indexOf('--db') < 0 ? undefined : words[words.indexOf('--db') + 1];
  return {
    ...(node === undefined || entry === undefined ? {} : { node, entry }),
    ...defined({ db }),
  };
}

/** Quotes a word for a POSIX shell. */
export const quote = (word: string): string => (/^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
