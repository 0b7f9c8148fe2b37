import type { Answer, CommandLine } from '../command-line.ts';
import type { GlobalOptions } from '../context.ts';

export function inTerminal(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Runs a coding agent in a terminal of Earpiece, for agents with hooks that cannot be woken otherwise (Gemini CLI, Qwen Code). ' +
        'When a notification may wake the idle agent, it types one line; the agent reads the notification by its own hook. ' +
        'It types nothing while the agent works, asks for a permission, or after you have pressed a key: then it rings the bell. ' +
        'Without the hooks of earpiece install it types nothing at all.',
    )
    .onMistake('what belongs to the agent itself stands behind --: earpiece in -- <agent>')
    .example('earpiece in -- gemini\nearpiece in -- qwen --continue')
    .action(async (words: string[], options: GlobalOptions) => {
      const { runIn } = await import('../in.ts');
      answer(await runIn(words, options));
    });
}
