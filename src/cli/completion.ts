/**
 * Makes the scripts with which a shell completes the command line. A script contains all names of commands and options, so that
 * no key press starts a process.
 */
import { CommandLine, GLOBAL_OPTIONS, type OptionSpec } from './command-line.ts';
import { COMMANDS } from './commands.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type ShellName = (typeof SHELLS)[number];

export async function completionFor(shell: ShellName): Promise<string> {
  const commands = await Promise.all(
    Object.values(COMMANDS)
      .flat()
      .map(async (entry) => {
        const command = new CommandLine(entry.term, entry.summary);
        (await entry.load())(command, () => {});
        return command;
      }),
  );
  if (shell === 'fish') return fishOf(commands);
  return shell === 'bash' ? bashOf(commands) : `${ZSH}${bashOf(commands)}`;
}

/** Zsh can run completion functions of bash, so the script for zsh contains the script for bash. */
const ZSH = `autoload -Uz compinit bashcompinit
(( $+functions[compdef] )) || compinit
bashcompinit
`;

type Place = { readonly path: string; readonly commands: readonly CommandLine[]; readonly options: readonly OptionSpec[] };

const placesOf = (commands: readonly CommandLine[]): Place[] => [
  { path: '', commands, options: [...GLOBAL_OPTIONS, VERSION_OPTION, HELP_OPTION] },
  ...commands.flatMap((command) => below(command, command.name, wordsAfter(command, commands))),
];
/** Returns what may follow a command: its subcommands, or the words that its argument may be. */
const wordsAfter = ({ name, commands }: CommandLine, all: readonly CommandLine[]): readonly CommandLine[] => {
  if (name === 'help') return [...all, EXIT_CODES];
  return name === 'completion' ? SHELLS.map((shell) => new CommandLine(shell, `print the script for ${shell}`)) : commands;
};
const below = (command: CommandLine, path: string, commands: readonly CommandLine[]): Place[] => [
  { path, commands, options: [...command.options.filter(({ hidden }) => !hidden), ...GLOBAL_OPTIONS, HELP_OPTION] },
  ...command.commands.flatMap((each) => below(each, `${path} ${each.name}`, each.commands)),
];
const EXIT_CODES = new CommandLine('exit-codes', 'explain the exit codes');
const HELP_OPTION: OptionSpec = { flags: '-h, --help', description: 'explain a command' };
const VERSION_OPTION: OptionSpec = { flags: '-V, --version', description: 'print the version' };

const longOf = ({ flags }: OptionSpec): string => /--[\w-]+/u.exec(flags)?.[0] ?? '';
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function bashOf(commands: readonly CommandLine[]): string {
  const places = placesOf(commands);
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => quoted(path.includes(' ') ? path : ` ${path}`));
  const values = places.flatMap(({ path, options }) =>
    options
      .filter(({ words }) => words !== undefined)
      .map((option) => `    ${quoted(`${path} ${longOf(option)}`)}) offered=${quoted(option.words!.join(' '))} ;;`),
  );
  const words = places.map(
    (place) =>
      `      ${quoted(place.path)}) below=${quoted(place.commands.map(({ name }) => name).join(' '))} flags=${quoted(place.options.map(longOf).join(' '))} ;;`,
  );
  return `_earpiece() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" at='' offered='' below='' flags='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      --) return ;;
      --db) ((i += 1)); continue ;;
    esac
    case "$at \${COMP_WORDS[i]}" in
      ${paths.join('|')}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $before" in
${values.join('\n')}
  esac
  if [ -z "$offered" ]; then
    case "$at" in
${words.join('\n')}
    esac
    case "$current" in
      -*) offered="$flags" ;;
      *) offered="$below" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$current"))
}
complete -o default -F _earpiece earpiece
`;
}

function fishOf(commands: readonly CommandLine[]): string {
  const lines = placesOf(commands).flatMap(({ path, commands: next, options }) => {
    const seen = path === '' ? [] : path.split(' ').map((word) => `__fish_seen_subcommand_from ${word}`);
    const none =
      path === '' ? '__fish_use_subcommand' : `not __fish_seen_subcommand_from ${next.map(({ name }) => name).join(' ')}`;
    // `help` is itself one of the names that may follow `help`, so the condition `none` would be false on each line with `help`.
    const first = path === 'help' ? seen : [...seen, none];
    const optionsAt = path === '' ? ['__fish_use_subcommand'] : seen;
    return [
      ...next.map(({ name, about }) => line(first, `-f -a ${name}`, about.summary)),
      ...options.map((option) => line(optionsAt, fishOption(option), option.description)),
    ];
  });
  return `${lines.join('\n')}\n`;
}

const line = (when: readonly string[], what: string, description: string): string =>
  `complete -c earpiece -n ${quoted(when.join('; and '))} ${what} -d ${quoted(description)}`;

function fishOption(option: OptionSpec): string {
  const short = /^-(\w),/u.exec(option.flags)?.[1];
  const takes =
    option.words === undefined ? (/<[^>]+>$/u.test(option.flags) ? ' -r' : '') : ` -x -a ${quoted(option.words.join(' '))}`;
  return `-l ${longOf(option).slice(2)}${short === undefined ? '' : ` -s ${short}`}${takes}`;
}
