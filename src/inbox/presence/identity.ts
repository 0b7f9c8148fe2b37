/**
 * Finds the conversation to which a process delivers, by the first of these facts that is known.
 *
 * - The given address (flag, environment, header), if it names a conversation.
 * - The binding of the host process. The host's session hook makes the binding, and changes it after `/clear`. If the call names
 *   another session, the binding does not count.
 * - The session that the host names in the call, if the host's process shows several sessions or another session.
 * - The host's own session id in the environment.
 * - The nearest known host among the ancestors.
 *
 * If none of these facts is known, the conversation is `#main`, which all such processes of the agent share.
 *
 * The host process is the nearest known host among the ancestors. If only the client's name identifies the host, the host process
 * is the nearest ancestor other than a shell or a launcher such as `npx`. Such a process can be bound to a conversation, but does
 * not identify a conversation by itself.
 */
import { conversationId, logKey, MAIN, nameFrom, parseAddress, type ConversationId, type LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Store } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { beginOfSession, candidatesFor, isSharedServer, type Shown, type Terminal } from './codex-terminals.ts';
import { ancestors, systemProcesses, type Process, type Processes } from './processes.ts';
import { conversationOfSession } from './session-id.ts';

/**
 * A program that runs an agent's loop, with patterns for the names of its process and its MCP client, and its session variable.
 */
export type KnownHost = {
  readonly agent: string;
  readonly process: RegExp;
  readonly sessionVariable?: string;
  readonly client: RegExp;
  /** True if the version that the MCP client reports is not the version of the host. */
  readonly clientHasOtherVersion?: true;
};

export const KNOWN_HOSTS: readonly KnownHost[] = [
  { agent: 'claude-code', process: /^claude(\.exe)?$/, sessionVariable: 'CLAUDE_CODE_SESSION_ID', client: /^claude-code/i },
  { agent: 'codex', process: /^codex(-.*)?$/, client: /^codex/i },
  { agent: 'gemini-cli', process: /^gemini$/, client: /^gemini-cli/i },
  { agent: 'qwen-code', process: /^qwen$/, client: /^qwen/i, clientHasOtherVersion: true },
  { agent: 'opencode', process: /^\.?opencode$/, client: /^opencode/i },
  { agent: 'pi', process: /^pi$/, client: /^pi(-|$)/i },
  { agent: 'cursor', process: /^cursor(-agent)?$/i, client: /^cursor/i },
  { agent: 'copilot', process: /^copilot$/, client: /^(github-)?copilot/i },
  { agent: 'goose', process: /^goosed?$/, client: /^goose/i },
];

export type Identity = {
  readonly log: LogKey;
  readonly conversation: ConversationId;
  /** How the conversation was found, for `doctor`. */
  readonly by: 'given' | 'session variable' | 'call' | 'binding' | 'host process' | 'client name' | 'default';
  /** True if only a call of the host names the session. Before this call, `conversation` belongs to no session. */
  readonly untilCall?: true;
  readonly host?: {
    readonly agent: string;
    readonly process: Owner;
    /**
     * Whether the host's process is a descendant of another host's process, for example because a tool of the other host started
     * it.
     */
    readonly nested: boolean;
    /** True if the host serves an editor. Such a host runs many sessions at once, so its process does not identify a session. */
    readonly serves?: true;
    /** True if several terminals of the host may show the session. */
    readonly inOneOfSeveral?: true;
  };
};

export type IdentityQuestion = {
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An address or a bare agent name, from a flag or a header. `EARPIECE_ADDRESS` is read from `env`. */
  readonly given?: string | undefined;
  /** `clientInfo.name` of the MCP client, if it is known already. */
  readonly client?: string | undefined;
  /** Whether to search the ancestors of this process. False for an HTTP server, whose ancestors do not identify its clients. */
  readonly lookAtAncestors?: boolean;
  readonly processes?: Processes;
  /** The session whose conversation is wanted, if it is known already. */
  readonly session?: string | undefined;
  /** Whether a terminal now continues this session, which began earlier. */
  readonly resumes?: boolean;
  /** Whether the host names the session in each of its calls. */
  readonly namesSession?: boolean | undefined;
  /** The folder of the session. Default: the working folder of this process. */
  readonly folder?: string;
  /** Returns whether this terminal of Codex's shared server may show the session. Default: each terminal may. */
  readonly mayShow?: ((terminal: Process) => boolean) | undefined;
};

export async function identify(question: IdentityQuestion, store: Pick<Store, 'binding'>): Promise<Identity> {
  const { project, env, processes = systemProcesses } = question;
  const given = parseGiven(question.given ?? env['EARPIECE_ADDRESS'], project);
  if (given?.conversation) return { log: given.log, conversation: given.conversation, by: 'given' };

  const host = question.lookAtAncestors === false ? undefined : await nearestHost(processes, question, store);
  const known = host?.known ?? (question.client === undefined ? undefined : knownClient(question.client));
  const log =
    given?.log ?? logKey(project, known?.agent ?? (question.client === undefined ? 'agent' : nameFrom(question.client)));

  const starter = host === undefined && known && question.lookAtAncestors !== false ? starterOf(processes) : undefined;
  const found = host ?? (starter && { process: starter, nested: false });
  const owner = found && ownerOf(processes, found.process);
  const bound = owner && (await store.binding(owner));
  const serves = found?.process.args.some((arg) => SERVES.test(arg)) ? { serves: true as const } : {};
  const several = host?.inOneOfSeveral ? { inOneOfSeveral: true as const } : {};
  const about =
    owner && known ? { host: { agent: known.agent, process: owner, nested: found.nested, ...serves, ...several } } : {};
  const called = question.session === undefined ? undefined : conversationOfSession(question.session);
  // The session may have changed its folder since it began. Its binding still names its agent.
  if (bound && bound.conversation === called)
    return { log: given === undefined ? bound.log : log, conversation: called, by: 'binding', ...about };
  const showsOne = host !== undefined && serves.serves !== true;
  if (called !== undefined && (bound !== undefined || !showsOne)) return { log, conversation: called, by: 'call', ...about };
  // If the given address names only an agent, the conversation is the one in the host's binding.
  if (bound && (bound.log === log || given !== undefined))
    return { log, conversation: bound.conversation, by: 'binding', ...about };
  const until = question.namesSession === true && !showsOne ? { untilCall: true as const } : {};
  const session = known?.sessionVariable && env[known.sessionVariable];
  if (session) return { log, conversation: conversationOfSession(session), by: 'session variable', ...about };
  if (host && owner) return { log, conversation: placeholder(owner), by: 'host process', ...about, ...until };
  return { log, conversation: MAIN, by: given ? 'given' : question.client === undefined ? 'default' : 'client name', ...until };
}

/**
 * Returns the names under which lists show an MCP client. For a known host, the name is the agent's name, so that hooks and
 * gateways of one agent have one name.
 */
export function shownAs({ name, version }: { readonly name: string; readonly version?: string | undefined }): {
  readonly host: string;
  readonly hostVersion?: string;
} {
  const known = knownClient(name);
  return { host: known?.agent ?? name, ...(known?.clientHasOtherVersion ? {} : defined({ hostVersion: version })) };
}

const knownClient = (name: string): KnownHost | undefined => KNOWN_HOSTS.find(({ client }) => client.test(name));

/** Returns the conversation of a host process that has no binding. */
export const placeholder = (host: Owner): ConversationId => conversationId(nameFrom(`pid-${host.pid}-${host.startedAt}`));

function parseGiven(text: string | undefined, project: string): { log: LogKey; conversation?: ConversationId } | undefined {
  if (text === undefined || text === '') return undefined;
  const address = parseAddress(text.includes('/') ? text : `${project}/${text}`);
  if (address.kind === 'project')
    throw new EarpieceError(
      'bad_address',
      `address ${JSON.stringify(text)} is a whole project, but must name one agent: write project/agent`,
    );
  const log = logKey(address.project, address.agent);
  return address.kind === 'conversation' ? { log, conversation: address.conversation } : { log };
}

type Found = { readonly known: KnownHost; readonly process: Process; readonly nested: boolean; readonly inOneOfSeveral?: true };

const ownerOf = ({ machine }: Processes, { pid, startedAt }: Process): Owner => ({ machine, pid, startedAt });

async function nearestHost(
  processes: Processes,
  question: IdentityQuestion,
  store: Pick<Store, 'binding'>,
): Promise<Found | undefined> {
  const line = ancestors(processes);
  const at = line.findIndex((process) => hostOf(process) !== undefined);
  const process = line[at];
  const known = process && hostOf(process);
  if (!process || !known) return undefined;
  // The terminal that started the shared server is the parent of that server, but not a host of all its sessions.
  if (isSharedServer(process)) {
    const terminal = await terminalOf(processes, question, store);
    if (terminal === 'several') return { known, process, nested: false, inOneOfSeveral: true };
    if (terminal === undefined || question.mayShow?.(terminal) === false) return { known, process, nested: false };
    const found = { known, process: terminal };
    return { ...found, nested: isBelowAnother(found, ancestors(processes, terminal.pid)) };
  }
  return { known, process, nested: isBelowAnother({ known, process }, line.slice(at + 1)) };
}

/**
 * Returns the terminal of the session, or `several` if more than one terminal may show the session. Undefined if no terminal
 * does. A terminal that shows another session is not the terminal of this session, unless no other terminal is open. A resumed
 * session is in the only terminal that shows no session yet, if this terminal was started to resume a session.
 */
async function terminalOf(
  processes: Processes,
  question: IdentityQuestion,
  store: Pick<Store, 'binding'>,
): Promise<Terminal | 'several' | undefined> {
  const { among, likely, resuming } = candidatesFor(shownBy(question));
  if (among.length <= 1 || question.session === undefined) return likely ?? (among.length > 0 ? 'several' : undefined);
  const asked = conversationOfSession(question.session);
  const free: Terminal[] = [];
  for (const each of among) {
    const bound = await store.binding(ownerOf(processes, each));
    if (bound?.conversation === asked) return each;
    if (bound === undefined) free.push(each);
  }
  if (likely !== undefined && free.includes(likely)) return likely;
  const [only, ...others] = free;
  const isResuming = question.resumes === true && only !== undefined && others.length === 0 && resuming.includes(only);
  return isResuming ? only : 'several';
}

const shownBy = ({ session, folder }: IdentityQuestion): Shown => ({
  folder: folder ?? process.cwd(),
  // Without a session id, the start of this process counts, because an MCP server starts with its session.
  beganAt: (session === undefined ? undefined : beginOfSession(session)) ?? performance.timeOrigin,
});

/**
 * Whether another host is among the ancestors. A launcher that starts the same program with the same arguments is not a second
 * host.
 */
function isBelowAnother({ known, process }: Pick<Found, 'known' | 'process'>, above: readonly Process[]): boolean {
  const [parent, ...others] = above;
  const isLauncher = parent !== undefined && hostOf(parent) === known && wordsOf(parent) === wordsOf(process);
  return (isLauncher ? others : above).some((other) => hostOf(other) !== undefined);
}

/** Returns the arguments after the program's name, or after the script if an interpreter runs one. */
const wordsOf = ({ args }: Process): string => JSON.stringify(args.slice(isInterpreter(args[0]) ? 2 : 1));

function hostOf({ name, args }: Process): KnownHost | undefined {
  const [program, script] = args.map(fileName);
  const names = [name, program ?? '', isInterpreter(args[0]) ? (script ?? '') : ''];
  return KNOWN_HOSTS.find((host) => names.some((each) => host.process.test(each)));
}

const isInterpreter = (program = ''): boolean => /^(node|bun|deno)/.test(fileName(program));

/** Matches the arguments with which editors start Codex and the agents of the Agent Client Protocol. */
const SERVES = /^(app-server|acp|--(experimental-)?acp)$/;

const SHELL = /^-?(ba|da|z|fi|k|tc|c)?sh$|^(env|npx|npm( .*)?|pnpm|bunx)$/;

/** Returns the nearest ancestor that is neither a shell nor a launcher such as `npx`. */
export const starterOf = (processes: Processes = systemProcesses): Process | undefined =>
  ancestors(processes).find(({ name }) => !SHELL.test(name));

const fileName = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/\.[cm]?js$/, '');
