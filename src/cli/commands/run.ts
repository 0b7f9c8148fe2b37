import type { Answer, CommandLine } from '../command-line.ts';
import type { TaskOptions } from '../chat/task.ts';

export function task(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Gives an agent one task. Its words go to stdout and its actions to stderr. The command ends with the turn: 0 when it completed, 1 when it failed, 130 when it was stopped, ' +
        '3 after --timeout, 9 when the answer reached its token limit, 10 when the model refused. It waits for background work. Without a task stdin is the task; "-" at its end adds stdin to it.',
    )
    .option(
      '--model <provider:model>',
      'such as anthropic:claude-sonnet-5 or ollama:qwen3 (default: agent.model, EARPIECE_AGENT_MODEL)',
    )
    .option(
      '--as <address>',
      'who the agent is: agent, project/agent or project/agent#conversation (default: what `address` says, else "agent")',
    )
    .option('--resume [conversation]', 'as the next turn of this conversation, or of the last one')
    .option('--fork [conversation]', 'a new conversation that begins as this one is, or the last one; both have what is open')
    .option('--turns <n>', 'of what is forked, only the first n turns')
    .option('--system <text>', 'the words before the conversation (default: agent.system)')
    .option('--purpose <purpose>', 'what the conversation is for: task (work) or chat (default: EARPIECE_PURPOSE, else both)')
    .option('--no-tools', 'only talk: no commands, no MCP servers')
    .option('--timeout <duration>', 'stop the turn after this time')
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
