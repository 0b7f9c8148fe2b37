import { statSync } from 'node:fs';
import { projectFolder, shippedFolder, subscriberFolders, subscriberTrust } from '../../bus/index.ts';
import { formatProblem, nameTold, policySource, readConfig, stateFolder, unusable, type Config } from '../../config/index.ts';
import type { LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { identify, Inbox, terminalsIn, type Identity } from '../../inbox/index.ts';
import { openStore } from '../../stores/index.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { missingDatabase, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { rows } from '../findings.ts';
import { setupFindings, type HostFinding } from '../setup/checks.ts';
import { ago, print, printJson } from '../terminal.ts';
import { verified, wayOutOf } from '../verified.ts';
import { VERSION } from '../version.ts';
import { brokenServers, missed, type Finding } from '../what-agents-miss.ts';
import { wrongClocks } from '../wrong-clocks.ts';

export function doctor(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Checks the versions, the configuration, the database, the address of this process, and the carriers with their last contact. Shows how to fix each problem. ' +
        'Sends a test notification through the hook or the plugin of each connected coding agent. The exit code is 8 if there is a problem.',
    )
    .action(async (options: GlobalOptions) => {
      const findings = await examine(options);
      if (options.json) findings.forEach((finding) => printJson(finding));
      else print(rows(findings).join('\n'));
      if (findings.some((f) => !f.ok)) answer(EXIT.problems.code);
    });
}

async function examine(options: GlobalOptions): Promise<Finding[]> {
  const at = { cwd: process.cwd(), env: process.env, ...(options.db === undefined ? {} : { flags: { db: options.db } }) };
  const { config, problems } = readConfig(at);
  const findings: Finding[] = [
    { what: 'earpiece', value: VERSION, ok: true },
    {
      what: 'node',
      value: `${process.version} (${process.execPath}), SQLite ${process.versions['sqlite'] ?? 'missing'}`,
      ok: true,
    },
    ...(problems.length === 0
      ? [
          {
            what: 'config',
            value: config.files.map((f) => f.file).join(', ') || 'no earpiece.toml, so the defaults apply',
            ok: true,
          },
        ]
      : problems.map((problem) => ({ what: 'config', value: formatProblem(problem), ok: false }))),
    ...config.untrusted.map(({ file, what }) => ({
      what: 'trust',
      value: `${file}: ${what.join(', ')} ignored`,
      ok: true,
      advice: 'read the file, then run: earpiece trust',
    })),
    ...stateOf(stateFolder(at)),
    ...archiveOf(config),
    projectOf(config),
    ...heldSubscribers(config),
  ];
  const setup = await setupFindings(options);
  const isConnected = setup.some(({ has }) => has !== undefined);
  let isOpen = true;
  try {
    const missing = missingDatabase(options, config);
    if (missing !== undefined) findings.push({ what: 'store', value: `no database ${missing} yet`, ok: true });
    await using inbox = new Inbox({
      store: await openStore(missing === undefined ? config.db : 'memory:'),
      policies: policySource(at),
      timeZone: config.timeZone,
    });
    if (missing === undefined) findings.push(...(await storeOf(inbox, config)));
    findings.push(await identityOf(inbox, config), ...(await agentsOf(inbox, config, isConnected)));
    const logs = await logsOf(inbox, config);
    findings.push(...(await brokenServers(inbox, logs, inbox.store.now())), ...(await wrongClocks(inbox, logs)));
  } catch (error) {
    if (!(error instanceof EarpieceError)) throw error;
    findings.push({ what: 'store', value: error.message, ok: false });
    isOpen = false;
  }
  findings.push(...setup.map((finding) => shown(finding, isOpen)), ...codexTerminalsOf(process.cwd()));
  return findings;
}

/** Reports a host with working hooks as not connected if the store cannot be used, because then no notification arrives. */
function shown({ has, ...finding }: HostFinding, isOpen: boolean): Finding {
  if (isOpen || has === undefined) return finding;
  const value = `${has}, but no notification arrives, because the store cannot be used`;
  return { ...finding, value, ok: false, advice: 'first solve the problem of the store, which is named above' };
}

/** Reports several Codex terminals in the folder, because Earpiece may not know the terminal of a session: see docs/hosts.md. */
function codexTerminalsOf(folder: string): Finding[] {
  const { length } = terminalsIn(folder);
  if (length < 2) return [];
  return [
    {
      what: 'codex',
      value: `${length} Codex terminals are open in this folder; Earpiece does not wake a session that you resume in one of them or begin with /new`,
      ok: true,
      advice: 'start each of them with: codex --no-daemon',
    },
  ];
}

/** The error code of a file system that is read-only for everybody, so that no permission helps. */
const READ_ONLY = 'EROFS';

function stateOf(folder: string): Finding[] {
  const code = unusable(folder);
  if (code === undefined) return [];
  const other = 'set XDG_STATE_HOME to a folder that you can write';
  const advice =
    code === READ_ONLY
      ? `make the file system writable, or ${other}`
      : `give yourself access: chmod u+rwx ${folder}; or ${other}`;
  return [{ what: 'state', value: `${folder} cannot be used (${code})`, ok: false, advice }];
}

function archiveOf({ archive }: Config): Finding[] {
  if (archive === undefined) return [];
  const code = unusable(archive);
  if (code === undefined) return [{ what: 'archive', value: archive, ok: true }];
  const value = `${archive} cannot be written (${code}), so nothing is pruned`;
  return [
    {
      what: 'archive',
      value,
      ok: false,
      advice: `${code === READ_ONLY ? 'make the file system writable' : 'give yourself write access to this folder'}, or change the setting archive in earpiece.toml`,
    },
  ];
}

function projectOf(config: Config): Finding {
  const { project, projectRoot, root, wanted } = config;
  const where = root === projectRoot ? projectRoot : `${projectRoot}, a worktree of ${root}`;
  const told = nameTold(config);
  if (wanted === undefined || told === undefined) return { what: 'project', value: `${project} (${where})`, ok: true };
  return { what: 'project', value: `${project} (${where}); ${told}`, ok: true };
}

function heldSubscribers({ project, projectRoot }: Config): Finding[] {
  const source = subscriberFolders({
    shipped: shippedFolder(),
    projectRoot: () => projectRoot,
    projectTrust: subscriberTrust({ env: process.env }),
  });
  const held = source.of(project).held ?? [];
  if (held.length === 0) return [];
  const value = `${projectFolder(projectRoot)}: ${held.map(({ id }) => id).join(', ')} ignored, because the folder is not trusted`;
  return [{ what: 'trust', value, ok: true, advice: 'read the files in this folder, then run: earpiece trust' }];
}

async function storeOf(inbox: Inbox, config: Config): Promise<Finding[]> {
  const broken = await verified(inbox.store);
  const advice = wayOutOf(inbox.store);
  if (broken.length > 0) return broken.map((value) => ({ what: 'store', value, ok: false, advice }));
  const overview = await inbox.store.overview();
  const open = overview.reduce((sum, { open: by }) => sum + by.info + by.warning + by.error + by.critical, 0);
  return [
    {
      what: 'store',
      value: `${inbox.store.name}${sizeOf(config.db)}, intact, ${open} open ${open === 1 ? 'notification' : 'notifications'}`,
      ok: true,
    },
  ];
}

const BY: Readonly<Record<Exclude<Identity['by'], 'default'>, string>> = {
  given: 'EARPIECE_ADDRESS or `address` in earpiece.toml',
  'session variable': 'the session variable of',
  binding: 'the session that a hook reported for',
  call: 'the session that a call named for',
  'host process': 'the process of',
  'client name': 'the name of the client',
};

async function identityOf(inbox: Inbox, config: Config): Promise<Finding> {
  try {
    const me = await identify({ project: config.project, env: process.env, given: config.address }, inbox.store);
    const host = me.host === undefined ? '' : ` ${me.host.agent} (pid ${me.host.process.pid})`;
    const address = `${me.log}#${me.conversation}`;
    const value =
      me.by === 'default'
        ? `this shell belongs to no agent; a gateway that you start here gets the address ${address}`
        : `${address}, by ${BY[me.by]}${host}`;
    return { what: 'identity', value, ok: true };
  } catch (error) {
    if (!(error instanceof EarpieceError)) throw error;
    return { what: 'identity', value: `no agent: ${error.message}`, ok: true };
  }
}

/**
 * Lists the active agents and their carriers. `isConnected` says whether a coding agent on this machine has Earpiece installed.
 */
async function agentsOf(inbox: Inbox, config: Config, isConnected: boolean): Promise<Finding[]> {
  const now = inbox.store.now();
  const there = await inbox.active({ project: config.project });
  if (there.length === 0)
    return [
      {
        what: 'agent',
        value: 'no agent is active in this project',
        ok: true,
        advice: isConnected
          ? 'start your coding agent in this project, or restart it'
          : 'connect your coding agents: earpiece install; or put the gateway in front of an MCP server: earpiece help gateway',
      },
    ];
  return there.flatMap((p) => [
    {
      what: 'agent',
      value: `${p.log}#${p.conversation}: ${Object.keys(p.carriers).join(', ') || 'no carrier'}; last contact ${ago(p.seenAt, now)}, last delivery ${p.carriedAt === undefined ? 'never' : ago(p.carriedAt, now)}`,
      ok: true,
    },
    ...missed(p),
  ]);
}

const logsOf = async (inbox: Inbox, { project }: Config): Promise<readonly LogKey[]> =>
  (await inbox.store.overview()).map(({ log }) => log).filter((log) => log.startsWith(`${project}/`));

function sizeOf(path: string): string {
  try {
    const { size } = statSync(path);
    return size < 1_048_576 ? `, ${Math.ceil(size / 1024)} kB` : `, ${(size / 1_048_576).toFixed(1)} MB`;
  } catch {
    return '';
  }
}
