/** The agents that `earpiece install` knows. */
import { join } from 'node:path';
import { HOOK_HOSTS, type HookHost } from '../index.ts';
import { hooksPart, type Group } from './hook-settings.ts';
import { isOurHook, programOf, shellLine, type Program } from './ours.ts';
import { jsonServerPart, tomlServerPart } from './servers.ts';
import type { Part, Place, Setup } from './setup.ts';

/** How a host with hooks of the common shape keeps its settings. */
type HookSetup = Omit<Setup, 'name' | 'title' | 'parts'> & {
  hooksFile(place: Place): string;
  /** Milliseconds or seconds, as the host counts them. */
  timeout(seconds: number): number;
  server(place: Place, program: Program): Part;
};

const inHome = (place: Place, variable: string, folder: string): string => place.env[variable] || join(place.home, folder);
const claudeFolder = (place: Place): string => inHome(place, 'CLAUDE_CONFIG_DIR', '.claude');
const codexFolder = (place: Place): string =>
  place.scope === 'project' ? join(place.project, '.codex') : inHome(place, 'CODEX_HOME', '.codex');
const geminiFolder = (place: Place): string =>
  join(place.scope === 'project' ? place.project : inHome(place, 'GEMINI_CLI_HOME', ''), '.gemini');
const qwenFolder = (place: Place): string =>
  place.scope === 'project' ? join(place.project, '.qwen') : inHome(place, 'QWEN_HOME', '.qwen');

const seconds = (s: number): number => s;
const milliseconds = (s: number): number => s * 1_000;

const HOOK_SETUPS: Readonly<Record<string, HookSetup>> = {
  claude: {
    commands: ['claude'],
    folders: (place) => [claudeFolder(place)],
    // What is in settings.json of a project goes to everybody who clones it; the paths of this machine do not belong there.
    hooksFile: (place) =>
      place.scope === 'user' ? join(claudeFolder(place), 'settings.json') : join(place.project, '.claude', 'settings.local.json'),
    timeout: seconds,
    server: (place, program) =>
      jsonServerPart({
        file: join(place.env['CLAUDE_CONFIG_DIR'] || place.home, '.claude.json'),
        path: place.scope === 'user' ? ['mcpServers'] : ['projects', place.project, 'mcpServers'],
        entry: { type: 'stdio', ...program },
      }),
  },
  codex: {
    commands: ['codex'],
    folders: (place) => [codexFolder({ ...place, scope: 'user' })],
    hooksFile: (place) => join(codexFolder(place), 'hooks.json'),
    timeout: seconds,
    server: (place, program) =>
      tomlServerPart({ file: join(codexFolder(place), 'config.toml'), path: ['mcp_servers'], entry: program }),
    next: 'start codex once and choose "Trust all and continue": Codex runs no hook before that',
  },
  gemini: {
    commands: ['gemini'],
    folders: (place) => [geminiFolder({ ...place, scope: 'user' })],
    hooksFile: (place) => join(geminiFolder(place), 'settings.json'),
    timeout: milliseconds,
    server: (place, program) =>
      jsonServerPart({ file: join(geminiFolder(place), 'settings.json'), path: ['mcpServers'], entry: program }),
  },
  qwen: {
    commands: ['qwen'],
    folders: (place) => [qwenFolder({ ...place, scope: 'user' })],
    hooksFile: (place) => join(qwenFolder(place), 'settings.json'),
    timeout: seconds,
    server: (place, program) =>
      jsonServerPart({ file: join(qwenFolder(place), 'settings.json'), path: ['mcpServers'], entry: program }),
  },
};

/** Where it ends with the host's limit, the next end of a turn starts a new one. */
const WAITS_S = 7 * 24 * 3_600;

const waiter = (command: string, setup: HookSetup): Group['hooks'][number] => ({
  type: 'command',
  command,
  timeout: setup.timeout(WAITS_S),
  asyncRewake: true,
});

const withHooks = (host: HookHost, setup: HookSetup): Setup => ({
  name: host.name,
  title: host.title,
  commands: setup.commands,
  folders: setup.folders,
  ...(setup.next === undefined ? {} : { next: setup.next }),
  parts: (place, ours) => [
    hooksPart({
      file: setup.hooksFile(place),
      wanted: Object.fromEntries(
        Object.entries(host.events).map(([event, { matcher, timeoutS, waits }]): [string, Group] => [
          event,
          {
            ...(matcher === undefined ? {} : { matcher }),
            hooks: [
              { type: 'command', command: shellLine(ours, ['hook', host.name]), timeout: setup.timeout(timeoutS) },
              ...(waits ? [waiter(shellLine(ours, ['hook', host.name, '--wait']), setup)] : []),
            ],
          },
        ]),
      ),
      isOurs: (handler) => isOurHook(handler, host.name),
    }),
    setup.server(place, programOf(ours, ['mcp'])),
  ],
});

export const SETUPS: readonly Setup[] = HOOK_HOSTS.flatMap((host) => {
  const setup = HOOK_SETUPS[host.name];
  return setup === undefined ? [] : [withHooks(host, setup)];
});
