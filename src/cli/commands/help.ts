import type { Command } from 'commander';
import { didYouMean, EarpieceError } from '../../core/errors.ts';
import type { CommandLine } from '../command-line.ts';
import type { GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { print, printJson } from '../terminal.ts';

export function help(program: CommandLine): void {
  program
    .command('help [topic...]')
    .summary('explain a command, or exit-codes')
    .description('Explains a command, or what the exit codes mean.')
    .action((topic: string[], _options: unknown, command: Command) => {
      if (topic[0] === 'exit-codes') {
        if (topic.length > 1)
          throw new EarpieceError(
            'bad_argument',
            `help exit-codes takes no more words, got ${JSON.stringify(topic.slice(1).join(' ').slice(0, 80))}; leave them out`,
          );
        const codes = Object.entries(EXIT).map(([name, { code, means }]) => ({ code, name, means }));
        if (command.optsWithGlobals<GlobalOptions>().json) return codes.forEach((code) => printJson(code));
        return print(codes.map(({ code, means }) => `${code}  ${means}`).join('\n'));
      }
      commandOf(program, topic).outputHelp();
    });
}

function commandOf(program: Command, topic: readonly string[]): Command {
  let at = program;
  for (const [i, word] of topic.entries()) {
    const found = at.commands.find((each) => each.name() === word);
    if (found === undefined) {
      const near = didYouMean(word, [...at.commands.map((each) => each.name()), ...(i === 0 ? ['exit-codes'] : [])]);
      throw new EarpieceError(
        'bad_argument',
        `there is no command ${JSON.stringify(topic.slice(0, i + 1).join(' '))}${near === undefined ? '' : `; did you mean ${near}?`} (see earpiece help)`,
      );
    }
    at = found;
  }
  return at;
}
