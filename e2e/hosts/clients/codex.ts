import path from 'node:path';
import { commandHooks, toml, write, type Client, type McpServer } from './client.ts';

export const codex: Client = {
  tool: (server, tool) => ({ name: tool, namespace: `mcp__${server}` }),
  shell: (command) => ({ name: 'exec_command', args: { cmd: command } }),
  prepare({ home, url, prompt, mcpServers, hooks, settings, resume }) {
    write(
      home,
      '.codex/config.toml',
      [
        // The name is unknown on purpose: with a known name, Codex hides the MCP tools behind tool_search.
        'model = "mock-model"',
        'model_provider = "mock"',
        'approval_policy = "never"',
        'sandbox_mode = "danger-full-access"',
        'check_for_update_on_startup = false',
        '[analytics]',
        'enabled = false',
        '[features]',
        'hooks = true',
        '[model_providers.mock]',
        'name = "mock"',
        `base_url = "${url}/v1"`,
        'env_key = "MOCK_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 0',
        'stream_max_retries = 0',
        ...Object.entries(mcpServers).flatMap(([name, server]) => [`[mcp_servers.${name}]`, ...serverSettings(server)]),
        '',
      ].join('\n'),
    );
    write(home, '.codex/hooks.json', { hooks: commandHooks(hooks, '.*') });
    const overrides = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${toml(value)}`]);
    return {
      args: [
        'exec',
        ...(resume ? ['resume', '--last'] : []),
        '--skip-git-repo-check',
        '--dangerously-bypass-hook-trust',
        ...overrides,
        prompt,
      ],
      env: { CODEX_HOME: path.join(home, '.codex'), MOCK_KEY: 'dummy' },
    };
  },
};

function serverSettings(server: McpServer): string[] {
  // Without `required` Codex asks the model before the tools of a slow server exist.
  if ('url' in server) return ['required = true', `url = ${toml(server.url)}`, `http_headers = ${toml(server.headers ?? {})}`];
  const { command, args = [], env = {} } = server;
  return ['required = true', `command = ${toml(command)}`, `args = ${toml(args)}`, `env = ${toml(env)}`];
}
