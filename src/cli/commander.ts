/** Builds commander's tree of the commands, for help and for command lines that may be invalid. */
import { styleText } from 'node:util';
import { Command, CommanderError, Option } from 'commander';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import { CommandLine, GLOBAL_OPTIONS, type Answer, type OptionSpec } from './command-line.ts';
import { COMMANDS, nameOf, type Entry } from './commands.ts';
import { EXIT } from './exit.ts';
import { VERSION } from './version.ts';

/** Reads a command line and runs its command. Resolves with an exit code if commander itself printed the help or the version. */
export async function runCommander(args: readonly string[], answer: Answer): Promise<number | undefined> {
  const program = await programWith(args, answer);
  try {
    await program.parseAsync(args, { from: 'user' });
    return undefined;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok.code : EXIT.usage.code;
    throw error;
  }
}

/** Makes the tree, with full definitions only of commands that `words` contains. */
export const programWith = (words: readonly string[], answer?: Answer): Promise<Command> =>
  makeProgram((entry) => words.includes(nameOf(entry)), answer);

/** Makes the whole tree, for tests of pages that show commands. */
export const wholeProgram = (): Promise<Command> => makeProgram(() => true);

/** Makes the tree of commands. A command for which `whole` returns false appears in the list of commands, but has no options. */
async function makeProgram(whole: (entry: Entry) => boolean, answer: Answer = () => {}): Promise<Command> {
  const groups: Record<string, CommandLine[]> = {};
  for (const [title, entries] of Object.entries(COMMANDS))
    for (const entry of entries) {
      const line = new CommandLine(entry.term, entry.summary);
      if (whole(entry)) (await entry.load())(line, answer);
      (groups[title] ??= []).push(line);
    }
  return treeOf(groups);
}

/** Makes the tree of these commands, which the help lists under the keys of `groups`. */
export function treeOf(groups: Readonly<Record<string, readonly CommandLine[]>>): Command {
  const program = new Line('earpiece')
    .description(
      "A word in your agent's ear: durable notifications for LLM agents, delivered once, on messages that go to the model anyway.",
    )
    .usage('<command> [options]')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'explain a command')
    .helpCommand(false)
    .exitOverride()
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) =>
        [
          command.name(),
          ...command.registeredArguments.map((arg) => (arg.required ? `<${arg.name()}>` : `[${arg.name()}]`)),
        ].join(' '),
      styleTitle: (title) => styleText('bold', title, { validateStream: false }),
    });
  for (const option of GLOBAL_OPTIONS) program.addOption(optionOf(option));
  const example = `earpiece gateway --print claude -- npx -y @playwright/mcp
earpiece send --level error --kind ci.failed "CI failed on main"
npm test || earpiece send --key tests "npm test failed"
earpiece send --to claude-code --action pause "wait for my review"
earpiece why <id>`;
  program.addHelpText('after', examples(example));
  program.addHelpText('after', '\nMore: earpiece help <command>, earpiece help exit-codes');
  for (const [title, lines] of Object.entries(groups)) {
    program.commandsGroup(title);
    for (const line of lines) add(program, line);
  }
  return program;
}

function add(above: Line, line: CommandLine): void {
  const { summary, description, example, mistake } = line.about;
  const command = above
    .command([line.name, ...line.arguments].join(' '))
    .summary(summary)
    .description(description);
  command.mistake = mistake;
  for (const option of line.options) command.addOption(optionOf(option));
  if (example !== '') command.addHelpText('after', examples(example));
  if (line.commands.length > 0) command.usage('<command> [options]').helpCommand(false);
  for (const sub of line.commands) add(command, sub);
  const { work } = line;
  if (work === undefined) return;
  command.action(async (...given: unknown[]) => {
    await work(...([...given.slice(0, -2), command.optsWithGlobals()] as never[]));
  });
}

const examples = (text: string): string => `\nExamples:\n${text.replaceAll(/^/gm, '  ')}`;

function optionOf({ flags, description, fallback, words, mandatory, hidden }: OptionSpec): Option {
  const option = new Option(flags, description).makeOptionMandatory(mandatory === true).hideHelp(hidden === true);
  if (fallback !== undefined) option.default(fallback);
  if (words === undefined) return option;
  return option.choices(words).argParser((given: string) => {
    if (words.includes(given)) return given;
    const near = didYouMean(given, words);
    throw new EarpieceError(
      'bad_argument',
      `${option.long} ${JSON.stringify(given.slice(0, 80))} must be one of ${words.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  });
}

/** A commander command that throws each mistake as an `EarpieceError` of one line, which names the help to read. */
class Line extends Command {
  mistake = '';

  override createCommand(name?: string): Line {
    return new Line(name);
  }

  override error(message: string, options?: { code?: string }): never {
    const what = message
      .replace(/^error: /, '')
      .replace(/\n\(Did you mean one of (.*)\?\)$/, '; did you mean one of $1?')
      .replace(/\n\(Did you mean (.*)\?\)$/, '; did you mean $1?')
      .replace(/^too many arguments for '(.*)'\. Expected (\d+) arguments? but got \d+: (.*?)\.?$/u, (_, command, most, given) =>
        most === '0'
          ? `${command} takes no arguments, got ${given}`
          : `${command} takes ${most === '1' ? 'one argument' : `at most ${most} arguments`}, got ${given}; quote words that belong together`,
      )
      .replace(/\.$/, '')
      .replaceAll("'", '"');
    const hint = options?.code === 'commander.unknownOption' && !what.includes('did you mean') ? this.mistake : '';
    throw new EarpieceError('bad_argument', `${what}${hint === '' ? '' : `; ${hint}`} (see ${this.path('help')})`);
  }

  /** Returns the words of the command, with `between` after the first word, as in `earpiece help db prune`. */
  path(between: string): string {
    const words = [this.name()];
    for (let above = this.parent; above !== null; above = above.parent) words.unshift(above.name());
    return [words[0], between, ...words.slice(1)].join(' ');
  }
}
