import type { Answer, CommandLine } from '../command-line.ts';
import type { GlobalOptions } from '../context.ts';

export function inTerminal(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Runs a coding agent in a terminal of Earpiece, for agents that have hooks but cannot be woken otherwise (Gemini CLI, Qwen Code). ' +
        'When a notification may wake the idle agent, Earpiece types one line, and the hook of the agent delivers the notification. ' +
        'While the agent works or asks for a permission, Earpiece types nothing. If you have pressed a key since the agent became idle, or if the input box contains unsent text, Earpiece only rings the bell. ' +
        'Without the hooks of earpiece install, Earpiece types nothing. Earpiece also types nothing for Claude Code, Codex, opencode and pi, because their hooks or plugins wake them. ' +
        'When the terminal closes, the agent ends, too.',
    )
    .onMistake('put the options of the agent after --: earpiece in -- <agent>')
    .example('earpiece in -- gemini\nearpiece in -- qwen --continue')
    .action(async (words: string[], options: GlobalOptions) => {
      const { runIn } = await import('../in.ts');
      answer(await runIn(words, options));
    });
}
