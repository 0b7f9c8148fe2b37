import type { Command } from 'commander';
import type { CommandLine } from '../command-line.ts';
import type { GlobalOptions } from '../context.ts';
import type { Answer } from '../program.ts';

export function inTerminal(program: CommandLine, answer: Answer): void {
  program
    .command('in <command...>')
    .summary('run a coding agent in a terminal that wakes it')
    .description(
      'Runs a coding agent in a terminal of ours, for an agent that has hooks and no way to be woken (Gemini CLI, Qwen Code). ' +
        'When a notification may wake the idle agent, it types one line; the agent reads the notification by its own hook. ' +
        'It types nothing while the agent works, asks for a permission, or after you have pressed a key: then it rings the bell. ' +
        'Without the hooks of earpiece install it types nothing at all.',
    )
    .onMistake('what belongs to the agent itself stands behind --: earpiece in -- <agent>')
    .example('earpiece in -- gemini\nearpiece in -- qwen --continue')
    .action(async (words: string[], _options: unknown, command: Command) => {
      const { runIn } = await import('../in.ts');
      answer(await runIn(words, command.optsWithGlobals<GlobalOptions>()));
    });
}
