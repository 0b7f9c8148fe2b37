/** Commander as we use it: what is wrong with a command line is an error of ours, in one line that ends with where to look. */
import { Command, Option } from 'commander';
import { didYouMean, EarpieceError } from '../core/errors.ts';

export class CommandLine extends Command {
  #mistake = '';

  override createCommand(name?: string): CommandLine {
    return new CommandLine(name);
  }

  /** What to add where an option is unknown, because a person who types it most likely meant this. */
  onMistake(hint: string): this {
    this.#mistake = hint;
    return this;
  }

  override error(message: string, options?: { code?: string }): never {
    const what = message
      .replace(/^error: /, '')
      .replace(/\n\(Did you mean one of (.*)\?\)$/, '; did you mean one of $1?')
      .replace(/\n\(Did you mean (.*)\?\)$/, '; did you mean $1?')
      .replace(/^too many arguments for '(.*)'\. Expected (\d+) arguments? but got \d+: (.*?)\.?$/u, (_, command, most, given) =>
        most === '0'
          ? `${command} takes no arguments, it was given: ${given}`
          : `${command} takes ${most === '1' ? 'one argument' : `at most ${most} arguments`}, it was given: ${given}; put quotes around what is one`,
      )
      .replace(/\.$/, '')
      .replaceAll("'", '"');
    const hint = options?.code === 'commander.unknownOption' && !what.includes('did you mean') ? this.#mistake : '';
    throw new EarpieceError('bad_argument', `${what}${hint === '' ? '' : `; ${hint}`} (see ${this.path('help')})`);
  }

  /** `earpiece help db prune`. */
  path(between: string): string {
    const words = [this.name()];
    for (let above = this.parent; above !== null; above = above.parent) words.unshift(above.name());
    return [words[0], between, ...words.slice(1)].join(' ');
  }

  example(text: string): this {
    return this.addHelpText('after', `\nExamples:\n${text.replaceAll(/^/gm, '  ')}`);
  }
}

/** An option that takes one of some words. */
export function choice(flags: string, words: readonly string[], description: string): Option {
  const option = new Option(flags, description).choices(words);
  return option.argParser((given: string) => {
    if (words.includes(given)) return given;
    const near = didYouMean(given, words);
    throw new EarpieceError(
      'bad_argument',
      `${option.long} ${JSON.stringify(given.slice(0, 80))} is none of ${words.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  });
}
