import type { Answer, CommandLine } from '../command-line.ts';
import type { TaskOptions } from '../chat/task.ts';

export function task(command: CommandLine, answer: Answer): void {
  command
    .description(
      "Gives an agent one prompt. The agent's answer goes to stdout, and its actions to stderr. The command ends when the turn and its background work have ended. Exit codes: 0 completed, 1 failed, 130 stopped, " +
        '3 after --timeout, 9 the answer reached its token limit, 10 the model refused. Without a prompt, stdin is the prompt. If the last word is "-", stdin replaces that word.',
    )
    .option(
      '--model <provider:model>',
      'the model, such as anthropic:claude-sonnet-5 or ollama:qwen3 (default: the model of the resumed conversation, otherwise EARPIECE_AGENT_MODEL or agent.model)',
    )
    .option(
      '--as <address>',
      'the address of the agent: agent, project/agent or project/agent#conversation (default: EARPIECE_ADDRESS or `address` in earpiece.toml, otherwise "agent")',
    )
    .option(
      '--resume [conversation]',
      'continue this conversation (default: the last one) with the prompt; without a prompt, continue its interrupted turn',
    )
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
    .option('--timeout <duration>', 'stop the turn after this time (default: no limit)')
    .example(
      `earpiece run "run the tests and tell me which fail" > report.txt
git diff | earpiece run --no-tools "write a commit message for this diff:" -
earpiece run --json --timeout 10m "update the changelog"`,
    )
    .action(async (words: string[], options: TaskOptions) => {
      const { runTask } = await import('../chat/task.ts');
      answer(await runTask(words, options));
    });
}
