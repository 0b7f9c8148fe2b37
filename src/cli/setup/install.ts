/** `earpiece install` and `earpiece uninstall`: change the settings of coding agents. */
import { delimiter, join } from 'node:path';
import { EarpieceError } from '../../core/errors.ts';
import {
  changes,
  install,
  installBook,
  isPending,
  readSettings,
  planInstall,
  planUninstall,
  SETUPS,
  uninstall,
  wrappingOf,
  type Ours,
  type Place,
  type Setup,
} from '../../hosts/setup/index.ts';
import type { InstallOptions } from '../commands/install.ts';
import { EXIT } from '../exit.ts';
import { rows } from '../findings.ts';
import { isOnPath, onPath } from '../shell.ts';
import { complain, paint, plain, print, printJson } from '../terminal.ts';
import { nobodyToAsk } from './ask.ts';
import { canary, duration } from './canary.ts';
import { carryOut, codeOf, type SetupOptions } from './carry-out.ts';
import { hookTrust } from './codex-trust.ts';
import { findingsOf, installationProblems } from './checks.ts';
import { foundAt, oursHere, placeHere, setupsNamed, short, unwrittenDatabase } from './here.ts';

/** Runs `earpiece install`; resolves with the exit code. */
export async function runInstall(names: readonly string[], options: InstallOptions): Promise<number> {
  checkNames(names, options);
  const unwritten = unwrittenDatabase(options);
  if (unwritten !== undefined) complain(unwritten);
  const book = installBook({ env: process.env });
  book.check();
  const place = placeHere(options.scope);
  const setups = names.length > 0 ? setupsNamed(names) : SETUPS.filter((setup) => foundAt(setup, place) !== undefined);
  if (setups.length === 0) {
    complain(nobodyHere(place));
    return EXIT.nobody.code;
  }
  const missing = setups.filter((setup) => foundAt(setup, place) === undefined);
  if (!options.json) print(`${whoIsHere(setups, place)}\n`);
  const ours = { ...oursHere(options), wrap: options.wrap === true, statusLine: options.statusLine === true };
  if (ours.wrap && !options.json) for (const setup of setups) print(unwrapped(setup, place, ours));
  const withPlugin = setups.filter((setup) => setup.hooks?.enabledPlugin(place) !== undefined);
  const hosts = setups
    .filter((setup) => !withPlugin.includes(setup))
    .map((setup) => ({ setup, files: planInstall(setup, place, ours, book) }));
  const outcome = await carryOut(hosts, place, options, {
    question: 'Change these files? [y/N] ',
    write: install,
  });
  if (outcome.asked === 'refused') print('nothing was changed');
  if (outcome.asked === 'nobody') complain(nobodyToAsk('nothing was changed', 'make the changes'));
  if (options.json) for (const setup of withPlugin) printJson(pluginLine(setup, place));
  if (outcome.asked !== undefined || options.json) return codeOf(outcome);
  const wrong: Setup[] = [];
  for (const setup of withPlugin) if (!(await provesPlugin(setup, place, options))) wrong.push(setup);
  for (const setup of outcome.done) if (!(await proves(setup, place, missing.includes(setup), options))) wrong.push(setup);
  const ready = [...withPlugin, ...outcome.done].filter((setup) => !wrong.includes(setup));
  const unchanged = hosts.flatMap(({ setup, files }) => (files.some(changes) ? [] : [setup]));
  const first: Setup[] = [];
  for (const setup of ready) if (!unchanged.includes(setup) || !(await runsHooks(setup, place))) first.push(setup);
  if (ready.length > 0) print(`\n${nextStep(ready, { missing, first, ours })}`);
  return wrong.length > 0 ? EXIT.problems.code : codeOf(outcome);
}

/** Describes an unchanged agent with a plugin. An installation beside the plugin would run each hook twice. */
function pluginLine({ name, hooks }: Setup, place: Place): Readonly<Record<string, unknown>> {
  const file = hooks?.file(place);
  return { agent: name, file, scope: place.scope, change: 'none', written: false, plugin: hooks?.enabledPlugin(place)?.name };
}

/** Prints that an enabled plugin replaces the installation, and the findings of `doctor`. Returns false if there is a problem. */
async function provesPlugin(setup: Setup, place: Place, options: InstallOptions): Promise<boolean> {
  const { name, title, hooks } = setup;
  const plugin = plain(hooks?.enabledPlugin(place)?.name ?? '');
  const given = [options.wrap === true ? '--wrap' : '', options.statusLine === true ? '--status-line' : ''].filter(Boolean);
  if (given.length > 0) complain(`${given.join(' and ')} cannot change ${title} while its plugin is enabled`);
  print(
    `${title} has the plugin ${plugin}, which contains the same hooks as earpiece install, so earpiece install ${name} changes nothing. ` +
      `For the hooks of earpiece install instead: claude plugin uninstall ${plugin}, then: earpiece install ${name}`,
  );
  const findings = await findingsOf(setup, oursHere(options), options);
  print(rows(findings).join('\n'));
  return findings.every(({ ok }) => ok);
}

/**
 * Checks the installation as `doctor` does, sends a test notification through the installed hook, and prints the result. Returns
 * false if there is a problem, or if the notification did not arrive.
 */
async function proves(setup: Setup, place: Place, missing: boolean, options: InstallOptions): Promise<boolean> {
  const { title, hooks, next } = setup;
  const problems = installationProblems(setup, oursHere(options), options);
  if (problems.length > 0) {
    print(rows(problems.map((problem) => ({ ...problem, what: title }))).join('\n'));
    return false;
  }
  const found = hooks?.found(readSettings(hooks.file(place)).text ?? '') ?? [];
  const proof = hooks === undefined ? undefined : await canary(hooks.host, found);
  if (proof?.kind === 'deaf') {
    print(
      `${paint('red', '✗')} ${title}: a test notification did not arrive through the hook at ${proof.event}: the hook ${plain(proof.why)}`,
    );
    return false;
  }
  const proved =
    proof === undefined ? '' : `: a test notification arrived through its hook at ${proof.event} in ${duration(proof)}`;
  const has = hooks === undefined ? 'has the plugin' : 'has its hooks';
  const state = missing ? `${has}, but is not installed yet` : next === undefined && hooks !== undefined ? 'is connected' : has;
  print(`${paint('green', '✓')} ${title} ${state}${proved}`);
  return true;
}

/** Lists the servers that no gateway can wrap, one line each. */
function unwrapped({ title, wraps }: Setup, place: Place, ours: Ours): string {
  if (typeof wraps !== 'function') return `the MCP servers of ${title} stay unchanged: ${wraps.not}`;
  const settings = wraps(place, ours);
  const { taken, left } = wrappingOf(readSettings(settings.file).text ?? '', settings);
  const lines = Object.entries(left).map(([name, why]) => `${title}: ${plain(name)} stays unchanged: ${why}`);
  return [
    ...lines,
    ...(Object.keys(taken).length === 0 && lines.length === 0 ? [`${title}: there is no other MCP server to wrap`] : []),
  ].join('\n');
}

/** Whether an agent that runs only trusted hooks already trusts the hooks of this installation. */
async function runsHooks({ name, commands, hooks }: Setup, place: Place): Promise<boolean> {
  const command = commands.map((each) => onPath(each, place.env)).find((file) => file !== undefined);
  if (name !== 'codex' || command === undefined || hooks === undefined) return false;
  const lines = hooks.found(readSettings(hooks.file(place)).text ?? '').flatMap((hook) => hook.command ?? []);
  return (await hookTrust(command, lines)).kind === 'trusted';
}

type Step = {
  readonly missing: readonly Setup[];
  /** The agents whose step `next` the person may still have to take. */
  readonly first: readonly Setup[];
  readonly ours: Ours;
};

function nextStep(setups: readonly Setup[], { missing, first: needing, ours }: Step): string {
  const own = needing.flatMap(({ next }) => (next === undefined ? [] : [`First ${next}.\n\n`])).join('');
  const earpiece = ours.fetched === undefined && isOnPath('earpiece', ownPath(process.env)) ? 'earpiece' : 'npx earpiece';
  const namesOf = (some: readonly Setup[]): string => some.map(({ title }) => title).join(', ');
  const there = setups.filter((setup) => !missing.includes(setup));
  const first = missing.length === 0 ? '' : `install ${namesOf(missing)}${there.length === 0 ? ', start the agent' : '; '}`;
  const again = there.length === 0 ? '' : `restart ${namesOf(there)}`;
  return `${own}Next: ${first}${again} in this project, give the agent something to do, and type here:\n\n  ${earpiece} send "hello from the terminal"\n`;
}

/** Returns the PATH without the folders that npm adds for its programs: the person's shell does not have these folders. */
const ownPath = ({ PATH = '' }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH: PATH.split(delimiter)
    .filter((folder) => !folder.endsWith(join('node_modules', '.bin')))
    .join(delimiter),
});

/** Runs `earpiece uninstall`; resolves with the exit code. */
export async function runUninstall(names: readonly string[], options: SetupOptions): Promise<number> {
  checkNames(names, options);
  const [user, project] = [placeHere('user'), placeHere('project')];
  const ours = oursHere(options);
  const book = installBook({ env: process.env });
  book.check();
  const setups = names.length > 0 ? setupsNamed(names) : SETUPS;
  const all = setups.map((setup) => ({ setup, files: planUninstall(setup, [user, project], ours, book) }));
  const hosts = all
    .map(({ setup, files }) => ({
      setup,
      files: files.filter(
        (file) =>
          isPending(file) ||
          (file.problem !== undefined && (file.hasEntries ?? book.get(file.file) ?? book.trouble(file.file)) !== undefined),
      ),
    }))
    .filter(({ files }) => files.length > 0);
  if (hosts.length === 0) {
    if (!options.json)
      print(
        `nothing of Earpiece is installed in ${names.length === 0 ? 'any coding agent' : setups.map(({ title }) => title).join(', ')}`,
      );
    return EXIT.ok.code;
  }
  const unrecorded = new Set(hosts.flatMap(({ setup, files }) => (files.some(({ file }) => !book.get(file)) ? [setup] : [])));
  const outcome = await carryOut(hosts, user, options, { question: 'Remove this? [y/N] ', write: uninstall });
  if (outcome.asked === 'refused') print('nothing was changed');
  if (outcome.asked === 'nobody') complain(nobodyToAsk('nothing was changed', 'make the changes'));
  if (outcome.asked === undefined && !options.json && outcome.done.length > 0)
    print(
      outcome.done
        .map((setup) => {
          const part = hosts.some(
            (host) => host.setup === setup && host.files.some(({ unrestored }) => unrestored !== undefined),
          );
          return part
            ? `${paint('yellow', '!')} ${notWhole(setup)}`
            : `${paint('green', '✓')} ${takenOut(setup, unrecorded.has(setup))}`;
        })
        .join('\n'),
    );
  return codeOf(outcome);
}

const notWhole = ({ title }: Setup): string =>
  `the entries of Earpiece are no longer in the settings of ${title}; read the line above that begins with !`;

const takenOut = ({ title }: Setup, unrecorded: boolean): string =>
  unrecorded
    ? `the entries of Earpiece were removed from ${title}; Earpiece has no record of the earlier files`
    : `the settings of ${title} are restored; if the agent is running, restart the agent`;

function checkNames(names: readonly string[], { all }: SetupOptions): void {
  if (all && names.length > 0)
    throw new EarpieceError('bad_argument', `give either agents (${names.join(', ').slice(0, 80)}) or --all, got both`);
}

const whoIsHere = (setups: readonly Setup[], place: Place): string =>
  setups
    .map((setup) => {
      const at = foundAt(setup, place);
      return at === undefined ? `${setup.title} was not found here` : `${setup.title} was found here: ${plain(short(at, place))}`;
    })
    .join('\n');

function nobodyHere(place: Place): string {
  const looked = SETUPS.map(({ commands }) => commands.join(', ')).join(', ');
  const folders = SETUPS.flatMap((setup) => setup.folders(place)).map((folder) => short(folder, place));
  return (
    `no coding agent was found: none of ${looked} is on the PATH, and none of these folders exists: ${folders.join(', ')}. ` +
    'Install an agent, for example with npm install -g @anthropic-ai/claude-code, or name an agent that is installed elsewhere: earpiece install claude'
  );
}
