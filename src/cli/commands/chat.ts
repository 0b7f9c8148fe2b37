import type { Answer, CommandLine } from '../command-line.ts';
import type { ChatOptions } from '../chat/lead.ts';

export function chat(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Talks with an agent in this terminal. Notifications ride on its messages and on the results of its tools, or interrupt it. ' +
        'With a message it begins with that. Without a terminal each line of stdin is a message; with --json one event a line comes out, and messages or {"type": "send" | "reply" | "stop" | "wake" | "quit"} go in. ' +
        'A signal that ends it gives 128 and its number: 130 for Ctrl+C, 143 for SIGTERM, 129 for SIGHUP.',
    )
    .option(
      '--model <provider:model>',
      'such as anthropic:claude-sonnet-5 or ollama:qwen3 (default: agent.model, EARPIECE_AGENT_MODEL)',
    )
    .option(
      '--as <address>',
      'who the agent is: agent, project/agent or project/agent#conversation (default: what `address` says, else "agent")',
    )
    .option('--resume [conversation]', 'go on with this conversation, or with the last one')
    .option('--fork [conversation]', 'a new conversation that begins as this one is, or the last one; both have what is open')
    .option('--turns <n>', 'of what is forked, only the first n turns')
    .option('--system <text>', 'the words before the conversation (default: agent.system)')
    .option('--purpose <purpose>', 'what the conversation is for: task (work) or chat (default: EARPIECE_PURPOSE, else both)')
    .option('--no-tools', 'only talk: no commands, no MCP servers')
    .example(
      `earpiece chat --model anthropic:claude-sonnet-5
earpiece chat --resume "and now the tests"
earpiece send --to agent --level critical "stop"   # from another terminal
echo "What is in this folder?" | earpiece chat --json`,
    )
    .action(async (words: string[], options: ChatOptions) => {
      // Loaded only here: no other command needs an agent.
      const { lead } = await import('../chat/lead.ts');
      answer(await lead(words.join(' ').trim(), options));
    });
}
