import { merge, type JsonObject } from '../../model/json.ts';
import { write, type Client, type McpServer } from './client.ts';

export const opencode: Client = {
  tool: (server, tool) => ({ name: `${server}_${tool}` }),
  shell: (command) => ({ name: 'bash', args: { command, description: 'run it' } }),
  prepare({ home, url, prompt, mcpServers, hooks, settings, resume }) {
    for (const [file, source] of Object.entries(hooks.files ?? {})) write(home, `.config/opencode/plugins/${file}`, source);
    const own: JsonObject = {
      autoupdate: false,
      share: 'disabled',
      model: 'mock/mock-model',
      small_model: 'mock/mock-model',
      permission: { '*': 'allow' },
      provider: {
        mock: {
          npm: '@ai-sdk/openai-compatible',
          name: 'mock',
          options: { baseURL: `${url}/v1`, apiKey: 'dummy' },
          models: { 'mock-model': { name: 'mock', limit: { context: 100_000, output: 8000 }, tool_call: true } },
        },
      },
      mcp: Object.fromEntries(Object.entries(mcpServers).map(([name, server]) => [name, serverSettings(server)])),
    };
    write(home, '.config/opencode/opencode.json', merge(own, settings));
    return {
      args: ['run', ...(resume ? ['--continue'] : []), prompt],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    };
  },
};

const serverSettings = (server: McpServer): JsonObject =>
  'url' in server
    ? { type: 'remote', url: server.url, headers: server.headers, enabled: true }
    : { type: 'local', command: [server.command, ...(server.args ?? [])], environment: server.env, enabled: true };
