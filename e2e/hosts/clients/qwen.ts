import { merge } from '../../model/json.ts';
import { commandHooks, write, type Client } from './client.ts';
import { geminiServers, geminiSettings } from './gemini.ts';

export const qwen: Client = {
  tool: (server, tool) => ({ name: `mcp__${server}__${tool}` }),
  shell: (command) => ({ name: 'run_shell_command', args: { command, is_background: false } }),
  prepare({ home, url, prompt, mcpServers, hooks, settings, resume }) {
    const own = { mcpServers: geminiServers(mcpServers), hooks: commandHooks(hooks, '*'), $version: 4 };
    write(home, '.qwen/settings.json', merge(merge(geminiSettings('openai'), own), settings));
    return {
      args: ['--approval-mode', 'yolo', ...(resume ? ['--continue'] : []), '-p', prompt],
      env: { OPENAI_API_KEY: 'dummy', OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'mock-model' },
    };
  },
};
