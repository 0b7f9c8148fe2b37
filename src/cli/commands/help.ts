import { didYouMean, EarpieceError } from '../../core/errors.ts';
import type { CommandLine, GlobalOptions } from '../command-line.ts';
import { EXIT } from '../exit.ts';
import { print, printJson } from '../terminal.ts';

export function help(command: CommandLine): void {
  command
    .description('Explains a command, or the exit codes.')
    .action(async (topic: readonly string[], options: GlobalOptions) => {
      if (topic[0] === 'exit-codes') {
        if (topic.length > 1)
          throw new EarpieceError(
            'bad_argument',
            `help exit-codes takes no other arguments, got ${JSON.stringify(topic.slice(1).join(' ').slice(0, 80))}; write: earpiece help exit-codes`,
          );
        const codes = Object.entries(EXIT).map(([name, { code, means }]) => ({ code, name, means }));
        if (options.json) return codes.forEach((code) => printJson(code));
        return print(codes.map(({ code, means }) => `${code}  ${means}`).join('\n'));
      }
      const { programWith } = await import('../commander.ts');
      outputHelp(await programWith(topic), topic);
    });
}

type Topic = {
  readonly commands: readonly Topic[];
  name(): string;
  outputHelp(): void;
};

function outputHelp(program: Topic, topic: readonly string[]): void {
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
  at.outputHelp();
}
