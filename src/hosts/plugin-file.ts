/**
 * Makes the file that `earpiece install` adds to an agent that loads plugins. The file contains the path of the plugin's code and
 * not the code, so an upgrade of Earpiece upgrades the plugin. If the path no longer exists, the file reports the problem and the
 * agent continues.
 */
import { dirname, join } from 'node:path';
import type { BridgeCommand } from './bridge/client.ts';

export type PluginFile = {
  /** The path below the home folder, if no variable sets another path. */
  readonly user: string;
  /** Environment variables that name the folder of the agent's settings, each with the path of the file below that folder. */
  readonly below: readonly { readonly variable: string; readonly file: string }[];
  /** The path below the root of a project. */
  readonly project: string;
  content(command: BridgeCommand): string;
};

/** Returns the path of the plugin's own code. `entry`: the path of Earpiece's command line, in `dist` or in the sources. */
const codeOf = (entry: string, host: string, source: string): string =>
  entry.endsWith('.ts') ? join(dirname(entry), '../hosts', source) : join(dirname(entry), `../plugins/${host}.js`);

const head = (title: string, name: string): string =>
  `// Earpiece: notifications for ${title}. Written by \`earpiece install ${name}\`; \`earpiece uninstall ${name}\` removes this file.`;

export const PLUGIN_FILES: Readonly<Record<'opencode' | 'pi', PluginFile>> = {
  opencode: {
    user: '.config/opencode/plugins/earpiece.js',
    below: [
      { variable: 'OPENCODE_CONFIG_DIR', file: 'plugins/earpiece.js' },
      { variable: 'XDG_CONFIG_HOME', file: 'opencode/plugins/earpiece.js' },
    ],
    project: '.opencode/plugins/earpiece.js',
    content: (command) => `${head('opencode', 'opencode')}
const command = ${JSON.stringify(command)};
const code = ${JSON.stringify(codeOf(command.entry, 'opencode', 'opencode/plugin.ts'))};

export const Earpiece = async (input) => {
  try {
    const { opencode } = await import(code);
    return opencode(input, command);
  } catch (error) {
    const message = \`earpiece: \${code} cannot be loaded (\${error.message}); opencode continues without notifications; run: earpiece install opencode\`;
    await input.client.app.log({ body: { service: 'earpiece', level: 'error', message } }).catch(() => {});
    return {};
  }
};
`,
  },
  pi: {
    user: '.pi/agent/extensions/earpiece.js',
    below: [{ variable: 'PI_CODING_AGENT_DIR', file: 'extensions/earpiece.js' }],
    project: '.pi/extensions/earpiece.js',
    content: (command) => `${head('pi', 'pi')}
const command = ${JSON.stringify(command)};
const code = ${JSON.stringify(codeOf(command.entry, 'pi', 'pi/extension.ts'))};

export default async function earpiece(pi) {
  try {
    const { pi: extension } = await import(code);
    extension(pi, command);
  } catch (error) {
    console.error(\`earpiece: \${code} cannot be loaded (\${error.message}); pi continues without notifications; run: earpiece install pi\`);
  }
}
`,
  },
};
