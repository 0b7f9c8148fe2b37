import { didYouMean, EarpieceError } from '../../core/errors.ts';
import type { CommandLine } from '../command-line.ts';
import { print } from '../terminal.ts';

export function completion(command: CommandLine): void {
  command
    .description('Prints a script that lets bash, zsh or fish complete commands, options and their values.')
    .example(
      `mkdir -p ~/.local/share/bash-completion/completions
earpiece completion bash > ~/.local/share/bash-completion/completions/earpiece
echo 'source <(earpiece completion zsh)' >> ~/.zshrc
mkdir -p ~/.config/fish/completions
earpiece completion fish > ~/.config/fish/completions/earpiece.fish`,
    )
    .action(async (given: string) => {
      const { completionFor, SHELLS } = await import('../completion.ts');
      const shell = SHELLS.find((each) => each === given);
      if (shell !== undefined) return print((await completionFor(shell)).trimEnd());
      const near = didYouMean(given, SHELLS);
      throw new EarpieceError(
        'bad_argument',
        `${JSON.stringify(given.slice(0, 80))} is not a supported shell; choose one of ${SHELLS.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
      );
    });
}
