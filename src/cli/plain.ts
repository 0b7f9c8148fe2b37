/**
 * Reads a simple, valid command line: a known command, known options with values that do not look like options, and the right
 * number of arguments. Commander reads any other line, and reports its errors. Most lines never load commander, because that
 * takes as long as a whole `earpiece send`.
 */
import { GLOBAL_OPTIONS, type CommandLine, type OptionSpec } from './command-line.ts';

/** A command, and the arguments for its work. */
export type Read = { readonly command: CommandLine; readonly given: readonly unknown[] };

/**
 * Finds the position of the command in `args`. Only global options may precede the command. Returns undefined if commander must
 * parse the line.
 */
export function commandAt(args: readonly string[]): number | undefined {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string;
    if (!arg.startsWith('-')) return i;
    const option = optionOf(arg, GLOBAL_OPTIONS);
    if (option === undefined) return undefined;
    if (option.takesNext) i++;
  }
  return undefined;
}

/** Reads `rest`, the command line without the name of `top`. Returns undefined if commander must parse the line. */
export function readPlainly(top: CommandLine, rest: readonly string[]): Read | undefined {
  let command = top;
  const options: Record<string, unknown> = {};
  const words: string[] = [];
  for (let i = 0; i < rest.length; i++) {
    const arg = rest[i] as string;
    if (arg === '--') {
      words.push(...rest.slice(i + 1));
      break;
    }
    if (arg.length > 1 && arg.startsWith('-')) {
      const option = optionOf(arg, [...command.options, ...GLOBAL_OPTIONS]);
      if (option === undefined) return undefined;
      const value = option.takesNext ? rest[++i] : option.value;
      if (value === undefined || (typeof value === 'string' && !isPlainValue(value, option.spec))) return undefined;
      options[option.name] = value;
    } else if (command.commands.length > 0) {
      const sub = command.commands.find(({ name }) => name === arg);
      if (sub === undefined) return undefined;
      command = sub;
    } else words.push(arg);
  }
  if (command.work === undefined || !command.options.every(isPlain)) return undefined;
  for (const spec of command.options) {
    const name = nameOf(spec.flags);
    if (options[name] !== undefined) continue;
    if (spec.mandatory) return undefined;
    if (spec.fallback !== undefined) options[name] = spec.fallback;
  }
  const given = argumentsOf(command, words);
  return given === undefined ? undefined : { command, given: [...given, options] };
}

type Found = { readonly spec: OptionSpec; readonly name: string; readonly takesNext: boolean; readonly value: string | true };

function optionOf(arg: string, specs: readonly OptionSpec[]): Found | undefined {
  const [, flag = arg, value] = /^(--[^=]+)=(.*)$/su.exec(arg) ?? [];
  const spec = specs.find(({ flags }) => flags.split(' ')[0] === flag);
  if (spec === undefined || !isPlain(spec)) return undefined;
  const takes = spec.flags.includes(' ');
  if (!takes && value !== undefined) return undefined;
  return { spec, name: nameOf(spec.flags), takesNext: takes && value === undefined, value: value ?? true };
}

/** Whether an option has the form `--flag` or `--option <value>`. */
const isPlain = ({ flags }: OptionSpec): boolean => /^--(?!no-)[a-z-]+(?: <(?!.*\.\.\.>)[^>]+>)?$/u.test(flags);

const isPlainValue = (value: string, { words }: OptionSpec): boolean =>
  value !== '' && !value.startsWith('-') && (words === undefined || words.includes(value));

/** Returns the name of an option's value: `levelOnFailure` for `--level-on-failure <level>`. */
const nameOf = (flags: string): string =>
  (flags.split(' ')[0] ?? '').slice(2).replaceAll(/-([a-z])/gu, (_, letter: string) => letter.toUpperCase());

function argumentsOf({ arguments: wanted }: CommandLine, words: readonly string[]): readonly unknown[] | undefined {
  const rest = wanted.findIndex((each) => each.endsWith('...>') || each.endsWith('...]'));
  if (words.length < wanted.filter((each) => each.startsWith('<')).length) return undefined;
  if (rest < 0) return words.length > wanted.length ? undefined : wanted.map((_, i) => words[i]);
  return [...wanted.slice(0, rest).map((_, i) => words[i]), words.slice(rest)];
}
