/** The command line: what there is, and how it fails. Each command is a file in `commands/`. */
import { styleText } from 'node:util';
import { CommanderError } from 'commander';
import { EarpieceError } from '../core/errors.ts';
import { armFaultsFromEnv } from '../stores/fault-env.ts';
import { CommandLine } from './command-line.ts';
import { agents } from './commands/agents.ts';
import { mute, requeue, withdraw } from './commands/change.ts';
import { chat } from './commands/chat.ts';
import { config } from './commands/config.ts';
import { db } from './commands/db.ts';
import { doctor } from './commands/doctor.ts';
import { emit } from './commands/emit.ts';
import { gateway } from './commands/gateway.ts';
import { help } from './commands/help.ts';
import { hook } from './commands/hook.ts';
import { inTerminal } from './commands/in.ts';
import { mcp } from './commands/mcp.ts';
import { importing } from './commands/import.ts';
import { inbox } from './commands/inbox.ts';
import { log, watch } from './commands/log.ts';
import { remind } from './commands/remind.ts';
import { resume } from './commands/resume.ts';
import { task } from './commands/run.ts';
import { runAndTell } from './commands/run-and-tell.ts';
import { send } from './commands/send.ts';
import { serve } from './commands/serve.ts';
import { tasks } from './commands/tasks.ts';
import { token } from './commands/token.ts';
import { sources } from './commands/sources.ts';
import { subscribers } from './commands/subscribers.ts';
import { trust } from './commands/trust.ts';
import { why } from './commands/why.ts';
import { EXIT, exitCodeOf } from './exit.ts';
import { complain, endWithReaders } from './terminal.ts';
import { VERSION } from './version.ts';

/** Runs one command line. Never throws; resolves with the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  let code: number = EXIT.ok.code;
  endWithReaders(() => code, EXIT.failed.code);
  try {
    checkFolder();
    armFaultsFromEnv(process.env);
    await makeProgram((answer) => (code = answer)).parseAsync(args, { from: 'user' });
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

/** Says what a command answers with, other than 0. */
export type Answer = (code: number) => void;

const GROUPS = {
  'Work with an agent:': [chat, task, inTerminal, tasks],
  'Tell an agent:': [send, remind, runAndTell, emit, withdraw, resume, requeue, mute],
  'See what became of it:': [inbox, log, watch, why, agents],
  'Set up:': [gateway, mcp, hook, serve, token, doctor, config, sources, subscribers, trust, db, importing],
} as const satisfies Record<string, readonly ((program: CommandLine, answer: Answer) => void)[]>;

/** Also for the tests of the pages that show commands. */
export function makeProgram(answer: Answer): CommandLine {
  const program = new CommandLine('earpiece')
    .description(
      "A word in your agent's ear: durable notifications that ride to LLM agents on the messages that go to the model anyway, once.",
    )
    .usage('<command> [options]')
    .version(VERSION, '-V, --version', 'print the version')
    .option('--db <path>', 'the database (default: EARPIECE_DB, what earpiece.toml says, else one for the user)')
    .option('--json', 'for programs: one JSON value a line')
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
    })
    .example(
      `earpiece gateway --print claude -- npx -y @modelcontextprotocol/server-filesystem .
earpiece send --level error --kind ci.failed "CI failed on main"
npm test || earpiece send --key tests "npm test failed"
earpiece send --to claude-code --action pause "wait for my review"
earpiece why <id>`,
    )
    .addHelpText('after', '\nMore: earpiece help <command>, earpiece help exit-codes');
  for (const [title, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(title);
    for (const add of commands) add(program, answer);
  }
  program.commandsGroup('Help:');
  help(program);
  return program;
}

function checkFolder(): void {
  try {
    process.cwd();
  } catch {
    throw new EarpieceError('bad_argument', 'the working folder does not exist any more; change to one that does');
  }
}
