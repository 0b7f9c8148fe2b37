/**
 * A command as data: its options, its words, its work. A line that is plainly right is read by `plain.ts`; for help and for
 * whatever is wrong `commander.ts` makes commander's tree of the same data. So most commands never load commander.
 */

/** Says what a command answers with, other than 0. */
export type Answer = (code: number) => void;

export type GlobalOptions = { readonly db?: string; readonly json?: boolean };

/** `flags` as commander writes them: `--to <address>`, `--all`, `--no-tools`, `--fork [conversation]`. */
export type OptionSpec = {
  readonly flags: string;
  readonly description: string;
  readonly fallback?: string;
  /** The only values that it takes. */
  readonly words?: readonly string[];
  /** A command line without it is wrong. */
  readonly mandatory?: boolean;
};

/** Called with the arguments in their order, `undefined` for those left out, and behind them the options. */
type Work = (...given: never[]) => unknown;

export class CommandLine {
  readonly name: string;
  /** Behind the name: `<id>`, `[agent]`, `[message...]`. */
  readonly arguments: readonly string[];
  readonly options: OptionSpec[] = [];
  readonly commands: CommandLine[] = [];
  readonly about: { summary: string; description: string; example: string; mistake: string };
  work: Work | undefined;

  /** `term`: the name and its arguments, as in `send [message...]`. */
  constructor(term: string, summary = '') {
    const [name = '', ...words] = term.split(' ');
    this.name = name;
    this.arguments = words;
    this.about = { summary, description: '', example: '', mistake: '' };
  }

  /** One of a group, as `check` of `db`. */
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
    return this.addOption({ flags, description, ...(fallback === undefined ? {} : { fallback }) });
  }

  addOption(option: OptionSpec): this {
    this.options.push(option);
    return this;
  }

  /** Extra advice for an unknown option, because the person most likely meant this. */
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

/** An option that takes one of some words. */
export const choice = (
  flags: string,
  words: readonly string[],
  description: string,
  more: Pick<OptionSpec, 'fallback' | 'mandatory'> = {},
): OptionSpec => ({ flags, description, words, ...more });

/** Before or behind every command. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  {
    flags: '--db <path>',
    description: 'the database (default: EARPIECE_DB, what earpiece.toml says, else one for the user)',
  },
  { flags: '--json', description: 'for programs: one JSON value a line' },
];
