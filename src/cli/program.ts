/** Runs the command line: finds the command, and reports its errors. */
import { EarpieceError } from '../core/errors.ts';
import { armFaultsFromEnv } from '../stores/fault-env.ts';
import { CommandLine, type Answer } from './command-line.ts';
import { entryOf } from './commands.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { commandAt, readPlainly, type Read } from './plain.ts';
import { complain, endWithReaders, lost, unwritten } from './terminal.ts';

/**
 * Runs one command line; without arguments in a terminal, runs `earpiece install`. Resolves with the exit code, and never throws.
 */
export async function run(args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok.code;
  const answer: Answer = (said) => (code = said);
  endWithReaders(() => code, EXIT.failed.code);
  try {
    checkFolder();
    armFaultsFromEnv(process.env);
    if (args.length === 0 && process.stdin.isTTY && process.stdout.isTTY) {
      const { runInstall } = await import('./setup/install.ts');
      return await runInstall([], { scope: 'user' });
    }
    const read = await plainly(args, answer);
    if (read !== undefined) await read.command.work?.(...(read.given as never[]));
    else {
      const { runCommander } = await import('./commander.ts');
      code = (await runCommander(args, answer)) ?? code;
    }
    return code;
  } catch (error) {
    if (lost(error)) {
      if (error.code === 'EPIPE') return code;
      complain(unwritten(error));
      return EXIT.failed.code;
    }
    complain(
      error instanceof EarpieceError
        ? error.message
        : `something unexpected happened: ${error instanceof Error ? error.message : String(error)}`,
    );
    if (process.env['EARPIECE_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return exitCodeOf(error);
  }
}

async function plainly(args: readonly string[], answer: Answer): Promise<Read | undefined> {
  const at = commandAt(args);
  const entry = at === undefined ? undefined : entryOf(args[at] as string);
  if (at === undefined || entry === undefined) return undefined;
  const command = new CommandLine(entry.term, entry.summary);
  (await entry.load())(command, answer);
  return readPlainly(command, args.toSpliced(at, 1));
}

function checkFolder(): void {
  try {
    process.cwd();
  } catch {
    throw new EarpieceError('bad_argument', 'the working folder no longer exists; change to an existing folder');
  }
}
