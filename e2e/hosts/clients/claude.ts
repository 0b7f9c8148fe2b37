import { merge } from '../../model/json.ts';
import { commandHooks, write, type Client, type McpServer } from './client.ts';

export const claude: Client = {
  tool: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
  shell: (command) => ({ name: 'Bash', args: { command, description: 'run it' } }),
  prepare({ home, url, prompt, mcpServers, ownServers, hooks, settings, resume }) {
    write(home, '.claude/settings.json', merge({ hooks: commandHooks(hooks, '*') }, settings));
    const servers = Object.fromEntries(Object.entries(mcpServers).map(([name, server]) => [name, serverSettings(server)]));
    const mcp = write(home, 'mcp.json', { mcpServers: servers });
    const tools = [...Object.keys(mcpServers).map((name) => `mcp__${name}`), 'Bash', 'Read', 'Edit', 'Write', 'Glob', 'Grep'];
    return {
      args: [
        '-p',
        prompt,
        ...(resume ? ['--continue'] : []),
        '--mcp-config',
        mcp,
        ...(ownServers ? [] : ['--strict-mcp-config']),
        '--allowedTools',
        tools.join(','),
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'dummy',
        DISABLE_AUTOUPDATER: '1',
        DISABLE_TELEMETRY: '1',
        DISABLE_ERROR_REPORTING: '1',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    };
  },
};

const serverSettings = (server: McpServer) => ('url' in server ? { type: 'http', ...server } : { ...server });
