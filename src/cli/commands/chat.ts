import type { Answer, CommandLine } from '../command-line.ts';
import type { ChatOptions } from '../chat/lead.ts';

export function chat(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Talks with an agent in this terminal. Notifications arrive with your messages and with tool results, or interrupt the agent. ' +
        'A message after the command is sent at once. Without a terminal, each line of stdin is a message. With --json, the output is one event per line, and the input is messages or {"type": "send" | "reply" | "stop" | "wake" | "quit"}. ' +
        "If a signal ends the command, the exit code is 128 plus the signal's number: 130 for SIGINT, 143 for SIGTERM, 129 for SIGHUP.",
    )
    .option(
      '--model <provider:model>',
      'the model, such as anthropic:claude-sonnet-5 or ollama:qwen3 (default: the model of the resumed conversation, otherwise EARPIECE_AGENT_MODEL or agent.model)',
    )
    .option(
      '--as <address>',
      'the address of the agent: agent, project/agent or project/agent#conversation (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise "agent")',
    )
    .option('--resume [conversation]', 'continue this conversation (default: the last one)')
    .option(
      '--fork [conversation]',
      'begin a copy of this conversation (default: the last one); open notifications are open in both conversations',
    )
    .option('--turns <n>', 'fork only the first n turns')
    .option('--system <text>', 'the system prompt (default: that of the resumed conversation, otherwise agent.system)')
    .option(
      '--purpose <purpose>',
      'the purpose of the conversation: task (work) or chat (default: EARPIECE_PURPOSE, otherwise that of the resumed conversation, otherwise both)',
    )
    .option('--no-tools', 'give the agent no tools: no commands, no files, no MCP servers')
    .example(
      `earpiece chat --model anthropic:claude-sonnet-5
earpiece chat --resume "and now the tests"
earpiece send --to agent --level critical "stop"   # from another terminal
echo "What is in this folder?" | earpiece chat --json`,
    )
    .action(async (words: string[], options: ChatOptions) => {
      // The agent is loaded only when the command runs, because most other commands do not need the agent.
      const { lead } = await import('../chat/lead.ts');
      answer(await lead(words.join(' ').trim(), options));
    });
}
