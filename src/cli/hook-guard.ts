/**
 * Ensures that `earpiece hook` never ends with an exit code that makes its host block the agent. Only an answer in the protocol
 * of the host has an exit code other than 0. The command line imports this file first, so an old Node must be able to run it.
 */

/** Finds the first word that is neither an option nor the value of `--db`, even if the rest of the command line is invalid. */
export const commandOf = (args: readonly string[]): string | undefined =>
  args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '--db');

function fails(error: unknown): void {
  try {
    const what = JSON.stringify(error instanceof Error ? error.message : String(error));
    process.stderr.write(`earpiece: hook: something unexpected happened: ${what}; the agent continues\n`);
  } finally {
    process.exit();
  }
}

if (commandOf(process.argv.slice(2)) === 'hook') {
  process.on('exit', () => (process.exitCode = 0));
  process.on('uncaughtException', fails);
}
