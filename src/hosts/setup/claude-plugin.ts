/**
 * Makes the plugin for Claude Code: the hooks and the MCP server of `earpiece install`, in a folder that Claude Code loads as a
 * plugin. The plugin contains no path of a machine. So the shell lines of the plugin search for Earpiece next to the plugin, on
 * the PATH, and with npx.
 */
import { claude } from '../claude/hooks.ts';
import { endsEarly, type Ending } from '../quiet-mark.ts';
import { hookGroups } from './hook-groups.ts';
import { fetching, firstOf, onPath, SERVER_NAME } from './ours.ts';

/** The name of the plugin, and of its marketplace: Claude Code calls the plugin `earpiece@earpiece`. */
export const PLUGIN = 'earpiece';

/** The path of Earpiece's command line, if the plugin is in Earpiece's package. */
const BESIDE = '$CLAUDE_PLUGIN_ROOT/../../dist/cli/main.js';

/**
 * The state folder, as `stateFolder` finds it. With a relative `XDG_STATE_HOME`, a hook finds no quiet mark
 * (`hosts/quiet-mark.ts`), so each hook starts Earpiece.
 */
const STATE = '${XDG_STATE_HOME:-$HOME/.local/state}/earpiece';

/** Returns the files of the plugin, by their paths below the marketplace. */
export function claudePlugin({
  version,
  description,
}: {
  readonly version: string;
  readonly description: string;
}): Readonly<Record<string, unknown>> {
  const author = { name: 'Earpiece contributors' };
  const about = { name: PLUGIN, version, description };
  const line = lines(fetching(version, '"$HOME"').join(' '));
  const groups = hookGroups(claude, { line, timeout: (seconds) => seconds, server: `plugin:${PLUGIN}:${SERVER_NAME}` });
  return {
    '.claude-plugin/marketplace.json': { name: PLUGIN, owner: author, plugins: [{ ...about, source: `./${PLUGIN}` }] },
    [`${PLUGIN}/.claude-plugin/plugin.json`]: { ...about, author, license: 'MIT', keywords: ['notifications', 'events', 'mcp'] },
    [`${PLUGIN}/hooks/hooks.json`]: {
      hooks: Object.fromEntries(Object.entries(groups).map(([event, group]) => [event, [group]])),
    },
    [`${PLUGIN}/.mcp.json`]: { mcpServers: { [SERVER_NAME]: { type: 'stdio', command: 'sh', args: ['-c', line(['mcp'])] } } },
  };
}

/**
 * Makes the shell lines of the hooks and of the MCP server. The shell expands the variables in these lines. If Claude Code
 * expanded the variables, a quote in a path would break the line.
 */
const lines =
  (fetched: string) =>
  (words: readonly string[], ending?: Ending): string => {
    const args = words.join(' ');
    const start = firstOf([
      [`[ -f "${BESIDE}" ] && ${onPath('node')}`, `node "${BESIDE}" ${args}`],
      [onPath('earpiece'), `earpiece ${args}`],
      [onPath('npx'), `npx ${fetched} ${args}`],
    ]);
    return ending === undefined ? start : `${endsEarly(STATE, ending, (word) => `"${word}"`)}; ${start}`;
  };
