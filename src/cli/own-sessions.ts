/**
 * Decides for which sessions a hook, a plugin or an MCP server of Earpiece may act. To act for a session means to deliver its
 * notifications, to lower its gate and to end it.
 */
import type { Presence } from '../core/ports.ts';
import type { Owner } from '../core/records.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Caller, Place } from '../hosts/index.ts';
import {
  ancestors,
  ancestorsInCommand,
  isAlive,
  isSame,
  isSharedServer,
  notAPerson,
  systemProcesses,
  type InsideAgent,
  type Process,
} from '../inbox/index.ts';

type MayAct = NonNullable<Place['mayAct']>;

export type OwnSessions = {
  /** Whether the command started `host`. False for a host above the agent, because such a host started the agent. */
  readonly isBelow: boolean;
  /** Identifies a host whose process Earpiece does not recognize: by the command that started the host. */
  readonly command: Pick<Caller, 'process' | 'shared'>;
  readonly mayAct: MayAct;
};

/**
 * Returns the limits of a process that a command of the agent `inside` runs. The process may act for new sessions, for sessions
 * of the command's processes, and for sessions that are over. `host`: the process of the nearest host, if there is one.
 */
export function ownSessions(inside: InsideAgent, host: Owner | undefined): OwnSessions {
  const line = ancestorsInCommand();
  const isBelow = host !== undefined && line.some((each) => isProcess(each, host));
  const top = line.at(-1);
  return {
    isBelow,
    command: top === undefined ? {} : { process: ownerOf(top), shared: true },
    mayAct: (address, known) => {
      if (known === undefined || isOver(known) || isOwn(known.process, line, isBelow ? host : undefined)) return;
      throw refusal(address, line, inside);
    },
  };
}

function refusal(address: string, line: readonly Process[], inside: InsideAgent): EarpieceError {
  const server = line.find(isSharedServer);
  if (server === undefined) return notAPerson(`to act for ${address}, which is not a session of this command`, inside);
  return new EarpieceError(
    'not_trusted',
    `Codex's shared server (process ${server.pid}) began in a command of the agent${inside.log === '' ? '' : ` ${inside.log}`}, and may not act for ${address}. In your own terminal, run: codex app-server daemon restart`,
  );
}

/**
 * Whether a terminal may show the session of an MCP server that runs in a command of an agent. The command could give itself the
 * name and the folder of a terminal's server, so a terminal outside of the command proves nothing.
 */
export const isInCommand = (terminal: Process): boolean =>
  ancestorsInCommand().some(({ pid, startedAt }) => pid === terminal.pid && startedAt === terminal.startedAt);

/**
 * Returns the check for an MCP server that no agent's command has started: the server answers no hook for a session of another
 * live process.
 */
export function sessionsOfHost(host: Owner | undefined): MayAct {
  return (address, known) => {
    const owner = known?.process;
    if (owner === undefined || known?.shared || isSame(owner, host)) return;
    if (isAlive(owner) !== true || isOwn(owner, ancestors(), host)) return;
    throw new EarpieceError(
      'not_trusted',
      `${address} is a session of the process ${owner.pid}, which did not start this server; call the tool hook of a server that this process started`,
    );
  };
}

const isOver = ({ process: owner, endedAt }: Presence): boolean =>
  owner === undefined ? endedAt !== undefined : isAlive(owner) === false;

/** Whether the session's process is an ancestor or this process, or runs below `host`, as the host's gateways do. */
function isOwn(owner: Owner | undefined, line: readonly Process[], host: Owner | undefined): boolean {
  if (owner === undefined || owner.machine !== systemProcesses.machine) return false;
  if (owner.pid === process.pid || line.some((each) => isProcess(each, owner))) return true;
  return host !== undefined && ancestors(systemProcesses, owner.pid).some((each) => isProcess(each, host));
}

const isProcess = ({ pid, startedAt }: Process, owner: Owner): boolean => pid === owner.pid && startedAt === owner.startedAt;

const ownerOf = ({ pid, startedAt }: Process): Owner => ({ machine: systemProcesses.machine, pid, startedAt });
