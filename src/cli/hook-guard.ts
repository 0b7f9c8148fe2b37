/**
 * `earpiece hook` never ends with a code by which its host blocks the agent, whatever happens in it. Only an answer in the
 * host's own protocol has another code than 0. The first import of the command line, so an old Node must be able to run it.
 */

/** The first word that is not an option, even if the command line is wrong elsewhere. */
export const commandOf = (args: readonly string[]): string | undefined =>
  args.find((arg, at) => !arg.startsWith('-') && args[at - 1] !== '--db');

function fails(error: unknown): void {
  try {
    const what = JSON.stringify(error instanceof Error ? error.message : String(error));
    process.stderr.write(`earpiece: hook: something unexpected happened: ${what}; the agent goes on\n`);
  } finally {
    process.exit();
  }
}

if (commandOf(process.argv.slice(2)) === 'hook') {
  process.on('exit', () => (process.exitCode = 0));
  process.on('uncaughtException', fails);
}
