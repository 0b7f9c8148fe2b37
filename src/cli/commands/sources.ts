import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig, type Config } from '../../config/index.ts';
import { SOURCES, type SourceEntry, type SourceSwitch } from '../../sources/table.ts';
import type { CommandLine } from '../command-line.ts';
import type { GlobalOptions } from '../context.ts';
import { table } from '../table.ts';
import { paint, print, printJson } from '../terminal.ts';

export function sources(command: CommandLine): void {
  command
    .description(
      'Lists the event sources around an agent: the events of each source, where the source runs, and whether it is on in this project. ' +
        'Subscribers turn events into notifications: see earpiece subscribers list.',
    )
    .action((options: GlobalOptions) => {
      const config = loadConfig({ cwd: process.cwd(), env: process.env });
      const all = Object.entries<SourceEntry>(SOURCES).map(([name, entry]) => ({
        name,
        ...entry,
        state: stateOf(entry, config),
      }));
      if (options.json) {
        for (const { name, what, emits, runs, state } of all)
          printJson({ name, what, runs, on: state.on, because: state.because ?? null, emits });
        return;
      }
      const rows = all.map(({ name, what, emits, runs, state }) => [name, shown(state), PLACES[runs], what, emits.join(', ')]);
      print(
        table(rows, [
          { head: 'name' },
          { head: 'state' },
          { head: 'runs in', spare: 2 },
          { head: 'sees', spare: 1 },
          { head: 'events' },
        ]),
      );
    });
}

const PLACES: Readonly<Record<SourceEntry['runs'], string>> = {
  agent: 'chat, run',
  gateway: 'gateway',
  server: 'serve',
  command: 'a command',
};

type State = { readonly on: boolean; readonly because?: string };

const stateOf = (source: SourceEntry, config: Config): State =>
  source.switch === undefined ? { on: true } : SWITCHES[source.switch](config);

const SWITCHES: Readonly<Record<SourceSwitch, (config: Config) => State>> = {
  'sources.files': (config) => ofSwitch('sources.files.enable', config.sources.files.enable, config, false),
  'sources.git': (config) => ofSwitch('sources.git.enable', config.sources.git.enable, config, true),
  'agent.budget': ({ agent: { budget } }) => {
    const set = [
      ...(budget.tokens === undefined ? [] : ['tokens']),
      ...(budget.contextTokens === undefined ? [] : ['context']),
      ...(budget.timeoutMs === undefined ? [] : ['timeout']),
    ];
    return set.length === 0 ? { on: false, because: 'no agent.budget' } : { on: true, because: set.join(', ') };
  },
  webhooks: ({ webhooks }) => {
    const names = Object.keys(webhooks);
    return names.length === 0 ? { on: false, because: 'no webhooks.<name>' } : { on: true, because: names.join(', ') };
  },
};

/**
 * Returns the state of a source that the configuration can switch on or off. Without a configured value, the source is on in
 * repositories. With `onlyThere`, the source works only in repositories.
 */
function ofSwitch(key: string, enable: boolean | undefined, { projectRoot }: Config, onlyThere: boolean): State {
  if (enable === false) return { on: false, because: `${key} = false` };
  const inRepository = existsSync(join(projectRoot, '.git'));
  return inRepository || (enable === true && !onlyThere) ? { on: true } : { on: false, because: 'no repository' };
}

function shown({ on, because }: State): string {
  const text = `${on ? 'on' : 'off'}${because === undefined ? '' : ` (${because})`}`;
  return on ? text : paint('dim', text);
}
