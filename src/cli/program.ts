/** The command line: what there is, and how it fails. Each command is a file in `commands/`. */
import { Command, CommanderError, Option } from 'commander';
import { EarpieceError } from '../core/errors.ts';
import { armFaultsFromEnv } from '../stores/fault-env.ts';
import { agents } from './commands/agents.ts';
import { config } from './commands/config.ts';
import { db } from './commands/db.ts';
import { doctor } from './commands/doctor.ts';
import { gateway } from './commands/gateway.ts';
import { inbox } from './commands/inbox.ts';
import { log, watch } from './commands/log.ts';
import { mute, requeue, withdraw } from './commands/change.ts';
import { send } from './commands/send.ts';
import { trust } from './commands/trust.ts';
import { why } from './commands/why.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { complain, print } from './terminal.ts';
import { VERSION } from './version.ts';

/** Runs one command line. Never throws; resolves with the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  armFaultsFromEnv(process.env);
  let code: number = EXIT.ok.code;
  // A reader that goes away (`earpiece log | head`) is no error.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(code);
    throw error;
  });
  const program = makeProgram((answer) => (code = answer));
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok.code : EXIT.usage.code;
    complain(
      error instanceof EarpieceError
        ? error.message
        : `something unexpected happened: ${error instanceof Error ? error.message : String(error)}`,
    );
    if (process.env['EARPIECE_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
    return exitCodeOf(error);
  }
}

/** For help, and for the pages that show commands: `answer` gets the exit code of one that ran. */
export function makeProgram(answer: (code: number) => void): Command {
  const program = new Command('earpiece')
    .description(
      "A word in your agent's ear: durable notifications that ride to LLM agents on the messages that go to the model anyway, once.",
    )
    .version(VERSION, '-V, --version', 'print the version')
    .addOption(
      new Option('--db <path>', "the log's database (default: one for the user, see `earpiece doctor`)").env('EARPIECE_DB'),
    )
    .option('--json', 'machine-readable output, one JSON value a line')
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, 'earpiece: ')),
    })
    .exitOverride()
    .showHelpAfterError('(earpiece help shows what there is)')
    .addHelpText(
      'after',
      `
Examples:
  $ earpiece gateway --print claude -- npx -y @modelcontextprotocol/server-filesystem .
  $ earpiece send "CI failed on main" --level error --kind ci.failed
  $ npm test || earpiece send --key tests "npm test failed"
  $ earpiece send --to claude-code --action pause "wait for my review"
  $ earpiece why <id>

More: earpiece help <command>, earpiece help exit-codes`,
    );
  for (const add of [send, inbox, log, why, watch, withdraw, requeue, mute, agents, gateway, doctor, db, config, trust])
    add(program, answer);
  program.helpCommand(false);
  program
    .command('help [topic]')
    .description('explain a command, or exit-codes')
    .action((topic: string | undefined) => {
      if (topic === 'exit-codes')
        return print(
          Object.values(EXIT)
            .map(({ code, means }) => `${code}  ${means}`)
            .join('\n'),
        );
      const found = topic === undefined ? program : program.commands.find((command) => command.name() === topic);
      if (!found)
        throw new EarpieceError('bad_argument', `there is no command ${JSON.stringify(topic)}; earpiece help lists them`);
      print(found.helpInformation());
    });
  for (const command of program.commands) command.exitOverride().configureOutput(program.configureOutput());
  return program;
}
