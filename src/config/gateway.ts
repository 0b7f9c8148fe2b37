import { dirname } from 'node:path';
import { defined } from '../core/defined.ts';
import { valueOf, winnersBelow, type Layers } from './layers.ts';
import { expandPath, type Surroundings } from './places.ts';
import { splitKey } from './positions.ts';
import { seen, type Problem } from './problems.ts';
import { SETTINGS } from './schema.ts';
import { expandServer, type ProfileEntry, type ServerEntry } from './servers.ts';

export type GatewayConfig = {
  /** The text between a server's prefix and its tools' names. */
  readonly separator: string;
  /**
   * The servers, ready to start: variables are expanded, and folders are absolute. Disabled servers and servers in `leftOut` are
   * omitted.
   */
  readonly servers: Readonly<Record<string, ServerConfig>>;
  readonly http: { readonly host: string; readonly port: number; readonly tokenEnv?: string };
  /** Whether agents get the tools for tasks. Undefined means that agents get these tools if their project has tasks. */
  readonly tasks: boolean | undefined;
  /** The profiles by the names of the clients. Such a profile overrides the built-in profile of the client. */
  readonly profiles: Readonly<Record<string, ProfileEntry>>;
  /**
   * The reasons why servers cannot start, such as a variable that is not set. The key is the server's prefix, or the name of an
   * invalid entry.
   */
  readonly leftOut: LeftOut;
  /** The reasons why servers with a valid entry cannot start, with the place in the file, for people. */
  readonly problems: readonly Problem[];
};

/** The valid names of servers. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export type LeftOut = Readonly<Record<string, string>>;

export type ServerConfig = Omit<ServerEntry, 'enable' | 'prefix'> & { readonly prefix: string };

/** Reads the configuration of the gateway. `wrong` are the problems of files whose server names may be shown to the agent. */
export function gatewayOf(layers: Layers, at: Surroundings, wrong: readonly Problem[] = []): GatewayConfig {
  const problems: Problem[] = [];
  const separator = valueOf(layers, SETTINGS.separator);
  const servers = Object.create(null) as Record<string, ServerConfig>;
  const leftOut = Object.create(null) as Record<string, string>;
  for (const { path, said } of winnersBelow(layers, 'gateway', 'servers')) {
    const name = path[2] ?? '';
    const entry = said.value as ServerEntry;
    if (!entry.enable) continue;
    const complain = (message: string): void => {
      const { source } = said;
      problems.push({
        ...(source.kind === 'file' ? { file: source.file, line: source.line, column: source.column } : {}),
        key: said.key,
        message,
      });
    };
    const file = said.source.kind === 'file' ? said.source : undefined;
    const base = file === undefined ? '.' : dirname(file.file);
    const ready = readyServer(name, entry, { separator, base, at, ...(file?.scope === 'project' ? { worksIn: base } : {}) });
    if (ready.kind === 'ready') servers[name] = ready.server;
    else {
      leftOut[entry.prefix ?? name] = `its entry ${ready.problem}`;
      complain(`${said.key} ${ready.problem}`);
    }
  }
  for (const { key } of wrong) {
    const [room, table, name] = splitKey(key ?? '') ?? [];
    if (room !== 'gateway' || table !== 'servers' || name === undefined || !NAME.test(name) || name in servers || name in leftOut)
      continue;
    leftOut[name] = 'its entry in earpiece.toml is invalid; earpiece config check shows the problem';
  }
  const profiles = Object.create(null) as Record<string, ProfileEntry>;
  for (const { path, said } of winnersBelow(layers, 'gateway', 'profiles')) profiles[path[2] ?? ''] = said.value as ProfileEntry;
  const tokenEnv = valueOf(layers, SETTINGS.httpTokenEnv);
  return {
    separator,
    servers,
    http: {
      host: valueOf(layers, SETTINGS.httpHost),
      port: valueOf(layers, SETTINGS.httpPort),
      ...defined({ tokenEnv }),
    },
    tasks: valueOf(layers, SETTINGS.gatewayTasks),
    profiles,
    leftOut,
    problems,
  };
}

/**
 * Prepares a server for its start. A relative `cwd` starts at `base`. A server that names no folder works in `worksIn`, by
 * default the folder of this process.
 */
export function readyServer(
  name: string,
  entry: ServerEntry,
  { separator, base, worksIn, at }: { separator: string; base: string; worksIn?: string; at: Surroundings },
): { kind: 'ready'; server: ServerConfig } | { kind: 'problem'; problem: string } {
  const prefix = entry.prefix ?? name;
  if (prefix.includes(separator))
    return {
      kind: 'problem',
      problem: `has the separator ${JSON.stringify(separator)} in its prefix ${JSON.stringify(prefix)}; set another prefix`,
    };
  const { entry: expanded, missing, withheld } = expandServer(entry, at.env, name);
  if (withheld.length > 0)
    return {
      kind: 'problem',
      problem: `refers to ${withheld.join(', ')}, which Earpiece passes only to the env of one server; remove this reference`,
    };
  if (missing.length > 0) {
    const names = missing.join(', ');
    return {
      kind: 'problem',
      problem: `needs ${names}, which ${missing.length === 1 ? 'is' : 'are'} not set; export the variable, or write \${${missing[0]}:-default}`,
    };
  }
  const { target } = expanded;
  if (target.kind === 'http') return { kind: 'ready', server: { prefix, target } };
  if (target.command.trim() === '') return { kind: 'problem', problem: 'has an empty command; write a program such as "npx"' };
  const nul = placeOfNul(target);
  if (nul !== undefined) return { kind: 'problem', problem: `has a NUL character in ${nul}; remove the character` };
  const cwd = target.cwd === undefined ? worksIn : expandPath(target.cwd, base, at);
  return { kind: 'ready', server: { prefix, target: { ...target, ...defined({ cwd }) } } };
}

/**
 * Names the first text with a NUL character, because no program can be started with such a text. Does not show the values of the
 * environment, which may be secrets.
 */
function placeOfNul({ command, args, env, cwd }: ServerEntry['target'] & { kind: 'stdio' }): string | undefined {
  const has = (text: string): boolean => text.includes('\0');
  if (has(command)) return `its command ${seen(command)}`;
  const arg = args.find(has);
  if (arg !== undefined) return `its argument ${seen(arg)}`;
  const variable = Object.entries(env).find((pair) => pair.some(has));
  if (variable !== undefined) return `its variable ${seen(variable[0])}`;
  return cwd !== undefined && has(cwd) ? `its folder ${seen(cwd)}` : undefined;
}
