import { merge, type JsonObject } from '../../model/json.ts';
import { commandHooks, write, type Client, type McpServer } from './client.ts';

const events = {
  afterTool: 'AfterTool',
  beforeTool: 'BeforeTool',
  prompt: 'BeforeAgent',
  stop: 'AfterAgent',
  start: 'SessionStart',
};

export const gemini: Client = {
  tool: (server, tool) => ({ name: `mcp_${server}_${tool}` }),
  // Gemini CLI refuses commands with `$(...)`.
  shell: (command) => ({ name: 'run_shell_command', args: { command } }),
  prepare({ home, url, prompt, mcpServers, hooks, settings, resume }) {
    // From its 30th call in a turn on, Gemini asks its model whether the turn is a loop. A scripted model has no answer, and
    // Gemini then waits for minutes.
    const model = { disableLoopDetection: true };
    const own = { mcpServers: geminiServers(mcpServers), hooks: commandHooks(hooks, '*', events), model };
    write(home, '.gemini/settings.json', merge(merge(geminiSettings('gemini-api-key'), own), settings));
    return {
      args: [
        '--skip-trust',
        '-m',
        'gemini-3-pro',
        '--approval-mode',
        'yolo',
        ...(resume ? ['--resume', 'latest'] : []),
        '-p',
        prompt,
      ],
      env: { GEMINI_API_KEY: 'dummy', GOOGLE_GEMINI_BASE_URL: url },
    };
  },
};

/** Returns settings of Gemini CLI that its fork Qwen Code accepts too. */
export const geminiSettings = (auth: string): JsonObject => ({
  general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  security: { auth: { selectedType: auth }, folderTrust: { enabled: false } },
  hooksConfig: { enabled: true },
});

export const geminiServers = (servers: Readonly<Record<string, McpServer>>): JsonObject =>
  Object.fromEntries(
    Object.entries(servers).map(([name, server]) => [
      name,
      'url' in server ? { httpUrl: server.url, headers: server.headers, trust: true } : { ...server, trust: true },
    ]),
  );
