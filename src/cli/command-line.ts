/**
 * Describes a command as data: its options, its arguments and its function. `plain.ts` parses simple, valid command lines with
 * this data. `commander.ts` builds commander's tree from the same data, for the help and for all other command lines. So most
 * commands never load commander.
 */
import { defined } from '../core/defined.ts';

/** Sets the exit code of a command. Without a call, the code is 0. */
export type Answer = (code: number) => void;

export type GlobalOptions = { readonly db?: string; readonly json?: boolean };

/** An option of a command. `flags` has commander's notation: `--to <address>`, `--all`, `--no-tools`, `--fork [conversation]`. */
export type OptionSpec = {
  readonly flags: string;
  readonly description: string;
  readonly fallback?: string;
  /** The values that are allowed; undefined allows any value. */
  readonly words?: readonly string[];
  /** Whether the help omits the option, because only Earpiece's own processes use it. */
  readonly hidden?: boolean;
  /** Whether a command line without this option is invalid. */
  readonly mandatory?: boolean;
};

/**
 * The function that runs a command. Its parameters are the arguments in order (`undefined` for an omitted argument), and then the
 * options.
 */
type Work = (...given: never[]) => unknown;

export class CommandLine {
  readonly name: string;
  /** The arguments after the name: `<id>`, `[agent]`, `[message...]`. */
  readonly arguments: readonly string[];
  readonly options: OptionSpec[] = [];
  readonly commands: CommandLine[] = [];
  readonly about: { summary: string; description: string; example: string; mistake: string };
  work: Work | undefined;

  /** `term` is the name with the arguments, as in `send [message...]`. */
  constructor(term: string, summary = '') {
    const [name = '', ...words] = term.split(' ');
    this.name = name;
    this.arguments = words;
    this.about = { summary, description: '', example: '', mistake: '' };
  }

  /** Adds a subcommand, such as `check` of `db`. */
  command(term: string): CommandLine {
    const command = new CommandLine(term);
    this.commands.push(command);
    return command;
  }

  summary(text: string): this {
    this.about.summary = text;
    return this;
  }

  description(text: string): this {
    this.about.description = text;
    return this;
  }

  option(flags: string, description: string, fallback?: string): this {
    return this.addOption({ flags, description, ...defined({ fallback }) });
  }

  addOption(option: OptionSpec): this {
    this.options.push(option);
    return this;
  }

  /** Adds advice, such as where to put `--`, to the error for an unknown option that resembles no option of the command. */
  onMistake(hint: string): this {
    this.about.mistake = hint;
    return this;
  }

  example(text: string): this {
    this.about.example = text;
    return this;
  }

  action(work: Work): this {
    this.work = work;
    return this;
  }
}

/** Makes an option that accepts one of these words. */
export const choice = (
  flags: string,
  words: readonly string[],
  description: string,
  more: Pick<OptionSpec, 'fallback' | 'mandatory'> = {},
): OptionSpec => ({ flags, description, words, ...more });

/** Options that every command accepts, before or after its name. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  {
    flags: '--db <path>',
    description:
      'the database: a file, postgres://… or nats://… (default: EARPIECE_DB, otherwise db in earpiece.toml, otherwise the database of the user)',
  },
  { flags: '--json', description: 'for programs: one JSON value per line' },
];
