import { fileURLToPath } from 'node:url';
import { write, type Client } from './client.ts';

export const pi: Client = {
  tool: (server, tool) => ({ name: `${server}_${tool}` }),
  shell: (command) => ({ name: 'bash', args: { command } }),
  prepare({ home, url, prompt, mcpServers, hooks, settings, resume }) {
    const provider = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'dummy', models: [{ id: 'mock-model' }] };
    write(home, '.pi/agent/models.json', { providers: { mock: provider } });
    write(home, '.pi/agent/settings.json', settings);
    for (const [file, source] of Object.entries(hooks.files ?? {})) write(home, `.pi/agent/extensions/${file}`, source);
    const extension = fileURLToPath(new URL('pi-mcp.ts', import.meta.url));
    write(home, '.pi/agent/extensions/mcp.ts', `export { default } from ${JSON.stringify(extension)};\n`);
    return {
      args: ['--provider', 'mock', '--model', 'mock-model', ...(resume ? ['--continue'] : []), '-p', prompt],
      env: { PI_OFFLINE: '1', PI_TELEMETRY: '0', EARPIECE_PI_MCP: JSON.stringify(mcpServers) },
    };
  },
};
