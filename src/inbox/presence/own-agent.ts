/**
 * Recognizes the agent of Earpiece by its command line, `earpiece chat` or `earpiece run`. A command of the agent cannot change
 * this command line.
 */
import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { Process } from './processes.ts';

const AGENT_COMMANDS: readonly string[] = ['chat', 'run'];
const INTERPRETER = /^(node|nodejs|bun)(\.exe)?$/u;
/** Matches a shell, one of whose arguments may contain a whole command line. */
const SHELL = /^(ba|da|z|k|fi)?sh$/u;
/**
 * `ps` separates the words of a command line by blanks, so a path with blanks becomes several words. At most this many words are
 * joined to a path.
 */
const WORDS_OF_PATH = 8;

/** Whether the process runs `earpiece chat` or `earpiece run`. `folderOf` returns the working folder of a process. */
export function isOwnAgent({ pid, args }: Process, folderOf: (pid: number) => string | undefined = workingFolder): boolean {
  // Without access to the file system, this check already excludes almost every process.
  if (!args.some((arg) => AGENT_COMMANDS.includes(arg))) return false;
  return startsOf(args).some((start) => {
    for (let end = start + 1; end < Math.min(args.length, start + 1 + WORDS_OF_PATH); end++) {
      const command = commandOf(args.slice(end));
      if (command === undefined || !AGENT_COMMANDS.includes(command)) continue;
      if (isOurs(args.slice(start, end).join(' '), () => folderOf(pid))) return true;
    }
    return false;
  });
}

/** Finds the command as the command line itself does: see `commandOf` in src/cli/hook-guard.ts. */
export const commandOf = (args: readonly string[]): string | undefined =>
  args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '--db');

/**
 * Returns the indexes of the words with which the program may begin, after an interpreter and its options. An option may have the
 * next word as its value, so that word and the word after it both count.
 */
function startsOf(args: readonly string[]): readonly number[] {
  const isInterpreter = (arg: string, at: number): boolean =>
    INTERPRETER.test(basename(arg)) && (at === 0 || existsSync(args.slice(0, at + 1).join(' ')));
  const interpreter = args.slice(0, WORDS_OF_PATH).findIndex(isInterpreter);
  if (interpreter === -1 && SHELL.test(basename(args[0] ?? ''))) return [0];
  // Without a known interpreter, the first word is the program, or an interpreter of another name.
  const starts = interpreter === -1 ? [0] : [];
  for (let at = Math.max(interpreter, 0) + 1; at < args.length; at++) {
    const first = at;
    while (args[at]?.startsWith('-')) at++;
    starts.push(at);
    if (at === first || args[at - 1]?.includes('=')) break;
  }
  return starts;
}

/** Whether the program is the entry of Earpiece's command line, such as `dist/cli/main.js` or a link to it. */
function isOurs(program: string, folder: () => string | undefined): boolean {
  // Outside of Linux, `folder` starts another process, which is slow, so the name of `program` is checked first.
  if (process.platform !== 'linux' && !isAbsolute(program) && !/^(main(\.[jt]s)?|earpiece)$/u.test(basename(program)))
    return false;
  try {
    const path = isAbsolute(program) ? program : resolve(folder() ?? '', program);
    // Node also runs a file whose name is given without ".js".
    const file = realpathSync(existsSync(path) ? path : `${path}.js`);
    if (!/^main\.[jt]s$/u.test(basename(file))) return false;
    const manifest = JSON.parse(readFileSync(join(dirname(file), '../../package.json'), 'utf8')) as { readonly name?: unknown };
    return manifest.name === 'earpiece';
  } catch {
    return false;
  }
}

/** Returns the working folder of a process. Undefined if the system does not show the folder. */
export function workingFolder(pid: number): string | undefined {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`);
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const listed = execFileSync('lsof', ['-a', '-d', 'cwd', '-p', String(pid), '-Fn'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return /^n(.*)$/mu.exec(listed)?.[1];
  } catch {
    return undefined;
  }
}
