import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { checkConfigText, explain, formatProblem, readConfig, type Problem } from '../../config/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { CommandLine } from '../command-line.ts';
import type { GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import type { Answer } from '../program.ts';
import { table } from '../table.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function config(program: CommandLine, answer: Answer): void {
  const group = program
    .command('config')
    .summary('check earpiece.toml, ask who decided')
    .description('Checks earpiece.toml, or tells who decided a value.')
    .usage('<command> [options]')
    .helpCommand(false);
  group
    .command('check [file]')
    .summary('every problem with its place')
    .description(
      'Every problem with its line and column (default: of the files and variables that count here). Exit code 8 when there is one.',
    )
    .action((file: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const { problems, files } =
        file === undefined ? ofHere(options) : { problems: checkConfigText(read(file), file).problems, files: [file] };
      if (options.json) problems.forEach((problem) => printJson(problem));
      else if (problems.length > 0) problems.forEach((problem) => print(plain(formatProblem(problem))));
      else
        print(
          files.length === 0
            ? 'no earpiece.toml counts here; the defaults do'
            : files.map((f) => `${plain(f)} is fine`).join('\n'),
        );
      if (problems.length > 0) answer(EXIT.problems.code);
    });
  group
    .command('explain [key]')
    .summary('a value and who decided it')
    .description('The value of a key, or of all keys of a table, and who decided it; without a key, of everything.')
    .example(`earpiece config explain budget.max_items
earpiece config explain db
earpiece config explain conversation.notifications`)
    .action((key: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const answered = explain(readConfig(here(options)).config, key);
      if (answered.kind === 'unknown') throw new EarpieceError('bad_argument', answered.message);
      const said = answered.kind === 'table' ? answered.settings : [answered];
      if (options.json) return said.forEach(({ kind: _kind, ...rest }) => printJson({ ...rest, value: rest.value ?? null }));
      const rows = said.flatMap((each) => [
        [plain(each.key), plain(each.text), paint('dim', plain(each.decidedBy))],
        ...each.overridden.map((other) => [
          paint('dim', '  instead of'),
          paint('dim', plain(other.text)),
          paint('dim', plain(other.decidedBy)),
        ]),
      ]);
      print(rows.length === 0 ? paint('dim', 'nothing is set there') : table(rows, [{}, {}, {}]));
    });
}

const here = (options: GlobalOptions): Parameters<typeof readConfig>[0] => ({
  cwd: process.cwd(),
  env: process.env,
  ...(options.db === undefined ? {} : { flags: { db: options.db } }),
});

function ofHere(options: GlobalOptions): { problems: readonly Problem[]; files: readonly string[] } {
  const { config: current, problems } = readConfig(here(options));
  return { problems, files: current.files.map((f) => f.file) };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new EarpieceError('not_found', `${file} cannot be read (${code}); name the earpiece.toml that you mean`);
  }
}
