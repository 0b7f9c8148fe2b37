import type { Answer, CommandLine } from '../command-line.ts';
import type { GatewayOptions } from '../gateway.ts';

export function mcp(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Serves the tools of Earpiece over MCP on stdio: get_notifications, tell_agent, list_agents, tell_me_when, follow, and the task tools. ' +
        'The command earpiece install registers this server in addition to the hooks of a coding agent. With these tools, an agent without wrapped servers reads its notifications and sends messages to other agents.',
    )
    .option('--as <address>', 'the conversation of the client: agent, project/agent or project/agent#conversation')
    .option('--purpose <purpose>', "the purpose of the client's conversations: task (work) or chat (default: EARPIECE_PURPOSE)")
    .example('claude mcp add earpiece -- earpiece mcp')
    .action(async (options: GatewayOptions) => {
      const { serveMcp } = await import('../mcp.ts');
      answer(await serveMcp(options));
    });
}
