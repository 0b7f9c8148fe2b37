/**
 * Collects the findings of `doctor` about the coding agents of this machine: whether Earpiece's hooks are installed and current,
 * and whether they deliver.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import {
  installBook,
  readSettings,
  changes,
  partsOfLine,
  planInstall,
  SETUPS,
  type EnabledPlugin,
  type Ours,
  type Place,
  type Setup,
  type Hooks,
} from '../../hosts/setup/index.ts';
import type { GlobalOptions } from '../context.ts';
import { onPath } from '../shell.ts';
import type { Finding } from '../what-agents-miss.ts';
import { bridgeCanary } from './bridge-canary.ts';
import { canary, duration } from './canary.ts';
import { hookTrust } from './codex-trust.ts';
import { CALLS_TOOLS, oursHere, placeHere, short } from './here.ts';
import { otherVariables } from './other-variables.ts';
import { brokenFiles, goneOf, serverFindings, repairing } from './server-checks.ts';

/** A finding about a host. `has` names the host with its hooks or plugin, and is set only if the host is connected. */
export type HostFinding = Finding & { readonly has?: string };

export async function setupFindings(options: GlobalOptions): Promise<readonly HostFinding[]> {
  const ours = oursHere(options);
  const findings: HostFinding[] = [];
  for (const setup of SETUPS) findings.push(...(await findingsOf(setup, ours, options)));
  return findings;
}

type Installed = { readonly place: Place; readonly file: string; readonly hooks: ReturnType<Hooks['found']> };

export async function findingsOf(setup: Setup, wanted: Ours, options: GlobalOptions): Promise<readonly HostFinding[]> {
  const { hooks, name, title } = setup;
  if (hooks === undefined) return await pluginFindings(setup, wanted, options);
  const bad = badOf(setup);
  const user = placeHere('user');
  const command = setup.commands.map((each) => onPath(each, user.env)).find((file) => file !== undefined);
  const installed = installedHooks(hooks);
  const plugin = hooks.enabledPlugin(user);
  const [first] = installed;
  if (first === undefined && plugin !== undefined)
    return [await enabledFinding(setup, plugin, bad), ...variableFindings(setup, user, options, undefined, bad)];
  if (first === undefined) {
    const recorded = recordedPlace(setup, wanted);
    if (recorded !== undefined) {
      const problem = problemOf(setup, recorded, wanted);
      if (problem !== undefined) return [bad(problem, repairing(setup))];
      const again = recorded.scope === 'user' ? [] : [`earpiece install ${name} --scope project`];
      return [bad(`the hooks of Earpiece are missing from ${short(hooks.file(recorded), user)}`, ...again)];
    }
    if (command === undefined) return [];
    const isThere = (place: Place): boolean => hooks.found(readSettings(hooks.file(place)).text ?? '').length > 0;
    const finding = unconnected(setup, command, isThere);
    const [broken] = brokenFiles(setup, user, wanted, bad);
    if (broken !== undefined) return [{ ...broken, value: `${finding.value}; ${broken.value}`, ok: true }];
    return [finding];
  }

  const findings: Finding[] = [];
  if (command === undefined)
    findings.push(bad(`${setup.commands.join(', ')} is not on the PATH`, `install ${title}, or: earpiece uninstall ${name}`));
  findings.push(...hookProblems(setup, installed, wanted, options, bad));
  const runs =
    setup.switchedOff(user).every(({ ofServer }) => ofServer === true) &&
    brokenFiles(setup, first.place, wanted, bad).length === 0;
  const trust = name === 'codex' && command !== undefined && runs ? await hookTrust(command, commandsOf(first)) : undefined;
  if (trust?.kind === 'held') findings.push(bad(trust.why, 'start codex and choose "Trust all and continue"'));

  // If the hooks start a missing program, a test would only fail for the same reason.
  const proof = wrongPaths(first, user, bad).length > 0 ? undefined : await canary(hooks.host, first.hooks);
  if (proof?.kind === 'deaf')
    findings.push(bad(`a test notification did not arrive through the hook at ${proof.event}: the hook ${proof.why}`));
  if (findings.length > 0) return findings;
  const proved = proof?.kind === 'heard' ? `; a test notification arrived through ${proof.event} in ${duration(proof)}` : '';
  return [connected(setup, `${first.hooks.length} hooks in ${short(first.file, user)}`, proved)];
}

/**
 * Collects the problems of an installation that `doctor` finds in files and variables. `install` also reports these problems at
 * its end, so that both commands agree.
 */
export function installationProblems(setup: Setup, wanted: Ours, options: GlobalOptions): readonly Finding[] {
  const bad = badOf(setup);
  const { hooks } = setup;
  if (hooks !== undefined) return hookProblems(setup, installedHooks(hooks), wanted, options, bad);
  return setup.switchedOff(placeHere('user')).map(({ why, advice }) => bad(why, advice));
}

/** Finds the hooks of `earpiece install` in your settings, and in your settings of the project. */
function installedHooks(hooks: Hooks): readonly Installed[] {
  const [user, project] = [placeHere('user'), placeHere('project')];
  const places = hooks.file(project) === hooks.file(user) ? [user] : [user, project];
  return places.flatMap((place): Installed[] => {
    const file = hooks.file(place);
    const found = hooks.found(readSettings(file).text ?? '');
    return found.length === 0 ? [] : [{ place, file, hooks: found }];
  });
}

function hookProblems(
  setup: Setup,
  installed: readonly Installed[],
  wanted: Ours,
  options: GlobalOptions,
  bad: Bad,
): readonly Finding[] {
  const { hooks, name } = setup;
  const user = placeHere('user');
  const [first] = installed;
  if (first === undefined) return [];
  const ours = withoutSetDatabase(setup, first, wanted);
  const findings = setup.switchedOff(user).map(({ why, advice }) => bad(why, advice));
  if (installed.length > 1)
    findings.push(
      bad(
        `the hooks of Earpiece are installed twice: in ${installed.map(({ file }) => short(file, user)).join(' and ')}`,
        twice(name),
      ),
    );
  findings.push(...secondCopies(setup, first, user, bad));
  const plugin = hooks?.enabledPlugin(user);
  if (plugin !== undefined)
    findings.push(
      bad(
        `the hooks of Earpiece are installed twice: in ${short(first.file, user)} and in the plugin ${plugin.name}`,
        `claude plugin uninstall ${plugin.name}, or: earpiece uninstall ${name}`,
      ),
    );
  const paths = wrongPaths(first, user, bad);
  const old = tooOld(setup, first, ours, bad);
  const broken = brokenFiles(setup, first.place, ours, bad);
  // A missing package breaks the hooks and the server, and is reported once.
  const server = paths.length > 0 ? [] : serverFindings(setup, first.place, ours, bad);
  const wrong = [...broken, ...old, ...paths, ...server];
  return [
    ...findings,
    ...(wrong.length > 0 ? wrong : wrongPlans(setup, first, ours, bad)),
    ...wrongDatabase(first, ours, bad),
    ...variableFindings(setup, user, options, databaseOf(first), bad),
  ];
}

/** Reports on the hooks of a plugin, for a host without hooks of `earpiece install`. */
async function enabledFinding(setup: Setup, plugin: EnabledPlugin, bad: Bad): Promise<HostFinding> {
  const { hooks, name } = setup;
  const again = `claude plugin uninstall ${plugin.name}, then: earpiece install ${name}`;
  const off = setup.switchedOff(placeHere('user')).find(({ ofServer, notOfPlugin }) => !ofServer && !notOfPlugin);
  if (off !== undefined) return bad(off.why, off.advice);
  if (hooks === undefined || plugin.folder === undefined || plugin.hooks.length === 0)
    return bad(`the plugin ${plugin.name} is enabled, but its hooks are missing`, again);
  const proof = await canary(hooks.host, plugin.hooks, { CLAUDE_PLUGIN_ROOT: plugin.folder });
  if (proof?.kind !== 'heard')
    return bad(
      `a test notification did not arrive through the hook of the plugin ${plugin.name}${proof === undefined ? '' : ` at ${proof.event}: the hook ${proof.why}`}`,
      `npm install -g earpiece, or: ${again}`,
    );
  const proved = `a test notification arrived through ${proof.event} in ${duration(proof)}`;
  return connected(setup, `${plugin.hooks.length} hooks in the plugin ${plugin.name}`, `; ${proved}`);
}

/** Reports on the file of a plugin, and tests the bridge that the plugin starts. */
async function pluginFindings(setup: Setup, ours: Ours, options: GlobalOptions): Promise<readonly HostFinding[]> {
  const { plugin, name, title } = setup;
  if (plugin === undefined) return [];
  const user = placeHere('user');
  const bad = badOf(setup);
  const command = setup.commands.map((each) => onPath(each, user.env)).find((file) => file !== undefined);
  const files = [user, placeHere('project')].filter((place) => plugin.isOurs(readSettings(plugin.file(place)).text));
  const [first] = files;
  if (first === undefined) {
    const recorded = recordedPlace(setup, ours);
    if (recorded !== undefined) {
      const again = recorded.scope === 'user' ? [] : [`earpiece install ${name} --scope project`];
      return [bad(`the plugin of Earpiece is missing from ${short(plugin.file(recorded), user)}`, ...again)];
    }
    if (command === undefined) return [];
    return [unconnected(setup, command, (place) => plugin.isOurs(readSettings(plugin.file(place)).text))];
  }
  const bridge = plugin.command(readSettings(plugin.file(first)).text ?? '');
  const gone = bridge === undefined ? undefined : goneOf([bridge.node, bridge.entry]);
  const findings: Finding[] = [];
  if (gone !== undefined) findings.push(bad(`the plugin starts a program that does not exist: ${short(gone, user)}`));
  if (command === undefined)
    findings.push(bad(`${setup.commands.join(', ')} is not on the PATH`, `install ${title}, or: earpiece uninstall ${name}`));
  for (const { why, advice } of setup.switchedOff(user)) findings.push(bad(why, advice));
  const { args = [] } = bridge ?? {};
  const said = args.includes('--db') ? args[args.indexOf('--db') + 1] : undefined;
  findings.push(...variableFindings(setup, user, options, said, bad));
  if (files.length > 1)
    findings.push(bad('the plugin of Earpiece is installed twice: in your settings and in the project', twice(name)));
  // If the package is gone, other faults of the installation have the same cause, so these faults are not reported.
  if (gone !== undefined) return findings;
  const broken = [...brokenFiles(setup, first, ours, bad), ...serverFindings(setup, first, ours, bad)];
  const problem = broken.length > 0 ? undefined : problemOf(setup, first, ours);
  findings.push(...broken, ...(problem === undefined ? [] : [bad(problem)]));
  const other = planInstall(setup, first, ours, installBook({ env: process.env })).filter(changes);
  if (broken.length === 0 && problem === undefined && other.length > 0)
    findings.push(bad(`another version, or a person, wrote ${other.map(({ file }) => short(file, user)).join(' and ')}`));
  const proof = bridge === undefined ? undefined : await bridgeCanary(plugin.host, bridge);
  if (proof?.kind === 'deaf')
    findings.push(bad(`a test notification did not arrive through the bridge of the plugin: the bridge ${proof.why}`));
  if (findings.length > 0) return findings;
  const proved = proof?.kind === 'heard' ? `; a test notification arrived through its bridge in ${duration(proof)}` : '';
  const has = `${title} has the plugin ${short(plugin.file(first), user)}`;
  return [{ what: name, value: `${has}${proved}`, ok: true, has }];
}

/** Returns the place of the recorded installation that applies here: your settings, or your settings in this project. */
function recordedPlace(setup: Setup, ours: Ours): Place | undefined {
  const records = installBook({ env: process.env })
    .list()
    .filter(({ host }) => host === setup.name);
  return [placeHere('user'), placeHere('project')].find((place) => {
    const files = setup.parts(place, ours).map(({ file }) => file);
    const isHere = (project: string): boolean => place.scope === 'user' || project === place.project;
    return records.some(({ scope, project, file }) => scope === place.scope && isHere(project) && files.includes(file));
  });
}

/**
 * Describes an agent that is not connected in this folder. If another project has an installation, the advice names the project
 * scope. An installation for all projects would be a second one in that project.
 */
function unconnected({ name, title }: Setup, command: string, isThere: (place: Place) => boolean): Finding {
  const user = placeHere('user');
  const other = installBook({ env: process.env })
    .list()
    .filter(({ host, scope }) => host === name && scope === 'project')
    .find(({ scope, project }) => isThere({ ...user, scope, project }));
  const value = `${title} is installed (${short(command, user)}), but not connected to Earpiece`;
  if (other === undefined) return { what: name, value, ok: true, advice: `earpiece install ${name}` };
  const where = `${value} in this folder, only in the project ${short(other.project, user)}`;
  return { what: name, value: where, ok: true, advice: `earpiece install ${name} --scope project` };
}

const connected = ({ name, title }: Setup, by: string, proved: string): HostFinding => ({
  what: name,
  value: `${title} is connected: ${by}${proved}`,
  ok: true,
  has: `${title} has ${by}`,
});

const twice = (name: string): string => `earpiece uninstall ${name} --yes && earpiece install ${name}`;

const problemOf = (setup: Setup, place: Place, ours: Ours): string | undefined =>
  planInstall(setup, place, ours, installBook({ env: process.env })).find(({ problem }) => problem !== undefined)?.problem;

type Bad = (value: string, advice?: string) => Finding;

const badOf =
  ({ name }: Setup): Bad =>
  (value, advice = `earpiece install ${name}`) => ({ what: name, value, ok: false, advice });

const commandsOf = ({ hooks }: Pick<Installed, 'hooks'>): readonly string[] => hooks.flatMap(({ command }) => command ?? []);

/**
 * Reports hooks that call Earpiece's MCP server in a host that is too old for such hooks. Such a host ignores all hooks of the
 * file.
 */
function tooOld({ name, title }: Setup, { hooks }: Installed, ours: Ours, bad: Bad): readonly Finding[] {
  if (hooks.every(({ command }) => command !== undefined) || ours.serves?.includes(name) === true) return [];
  return [
    bad(
      `this ${title} is older than ${CALLS_TOOLS.join('.')} and ignores all hooks of the file, because one hook calls an MCP server`,
      `update ${title}, or: earpiece install ${name}`,
    ),
  ];
}

/** Reports second copies of Earpiece's hooks: in files to which no installation writes, or written by a person. */
function secondCopies({ name, hooks }: Setup, { file: own }: Installed, user: Place, bad: Bad): readonly Finding[] {
  return (hooks?.copies(user) ?? []).map(({ file, isByHand }) => {
    const where = short(file, user);
    return isByHand
      ? bad(
          `the hooks of Earpiece are installed twice: in ${short(own, user)}, and by hand in ${where}`,
          `remove the lines with "earpiece hook ${name}" that you added to ${where}`,
        )
      : bad(
          `the hooks of Earpiece are installed twice: in ${short(own, user)} and ${where}`,
          `remove the hooks of Earpiece from ${where}`,
        );
  });
}

/** Reports variables of the agent's settings that make Earpiece use another database, project or address. */
const variableFindings = (
  setup: Setup,
  user: Place,
  { db }: GlobalOptions,
  said: string | undefined,
  bad: Bad,
): readonly Finding[] => otherVariables(setup.variables(user), { named: db, said }).map(({ why, advice }) => bad(why, advice));

/**
 * Returns the wanted installation without its database if the agent's settings name the database in a variable. `otherVariables`
 * compares that database.
 */
function withoutSetDatabase(setup: Setup, first: Installed, wanted: Ours): Ours {
  const { db: _, ...rest } = wanted;
  const isSet = setup.variables(first.place).some(({ name, of }) => of === 'all' && name === 'EARPIECE_DB');
  return isSet && databaseOf(first) === undefined ? rest : wanted;
}

/** Returns the database that the hooks name. */
const databaseOf = ({ hooks }: Pick<Installed, 'hooks'>): string | undefined => partsOfLine(commandsOf({ hooks })[0] ?? '').db;

function wrongPaths({ hooks }: Installed, place: Place, bad: Bad): readonly Finding[] {
  const lines = new Set(commandsOf({ hooks }));
  const missing = new Set<string>();
  for (const line of lines) {
    const { node, entry } = partsOfLine(line);
    if (node !== undefined && !isProgram(node))
      missing.add(`a Node that does not exist: ${short(node, place)}; another Node runs instead, or none`);
    if (entry !== undefined && !existsSync(entry)) missing.add(`an Earpiece that does not exist: ${short(entry, place)}`);
  }
  return [...missing].map((why) => bad(`the hooks start ${why}`));
}

/**
 * Reports parts of the installation that are missing, that occur twice, that cannot be written, or that another version wrote.
 */
function wrongPlans(setup: Setup, { place, file, hooks }: Installed, ours: Ours, bad: Bad): readonly Finding[] {
  const wanted = Object.keys(setup.hooks?.host.events ?? {});
  const missing = wanted.filter((event) => hooks.every((hook) => hook.event !== event));
  if (missing.length > 0) return [bad(`the hooks at ${missing.join(', ')} are missing`)];
  const doubled = setup.hooks?.doubled(readSettings(file).text ?? '') ?? [];
  if (doubled.length > 0) return [bad(`${short(file, place)} has the hooks of Earpiece at ${doubled.join(', ')} more than once`)];
  const problem = problemOf(setup, place, ours);
  if (problem !== undefined) return [bad(problem)];
  const book = installBook({ env: process.env });
  const other = planInstall(setup, place, ours, book).filter(changes);
  // An installation whose hooks are all commands, and never call the server, is also correct.
  if (other.length === 0 || !planInstall(setup, place, { ...ours, serves: [] }, book).some(changes)) return [];
  const entry = partsOfLine(commandsOf({ hooks })[0] ?? '').entry;
  const which = entry === undefined || entry === ours.entry ? '' : `, of ${short(entry, place)}`;
  return [
    bad(`the entries in ${other.map(({ file }) => short(file, place)).join(' and ')} were written by another version${which}`),
  ];
}

function wrongDatabase(first: Installed, ours: Ours, bad: Bad): readonly Finding[] {
  const said = databaseOf(first);
  if (said === ours.db) return [];
  return [
    bad(
      said === undefined
        ? `the hooks use the database of this user, but this shell uses ${ours.db ?? ''}`
        : `the hooks use the database ${said}, but this shell uses ${ours.db ?? 'the database of this user'}`,
    ),
  ];
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
