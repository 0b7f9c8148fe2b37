import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { checkConfigText, explain, formatProblem, readConfig, type Problem } from '../../config/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import { EXIT } from '../exit.ts';
import type { GlobalOptions } from '../context.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function config(program: Command, answer: (code: number) => void): void {
  const group = program.command('config').description('check earpiece.toml, or ask who decided a value');
  group
    .command('check [file]')
    .description('every problem with its line and column (default: the files that count here)')
    .action((file: string | undefined, _options: unknown, command: Command) => {
      const { json } = command.optsWithGlobals<GlobalOptions>();
      const { problems, files } =
        file === undefined ? ofHere() : { problems: checkConfigText(read(file), file).problems, files: [file] };
      if (json) for (const problem of problems) printJson(problem);
      else {
        for (const problem of problems) print(formatProblem(problem));
        if (problems.length === 0)
          print(
            files.length === 0
              ? 'no earpiece.toml counts here; the defaults do'
              : `${files.map((f) => plain(f)).join(', ')}: fine`,
          );
      }
      if (problems.length > 0) answer(EXIT.problems.code);
    });
  group
    .command('explain [key]')
    .description('the value of a key and who decided it; without a key, all')
    .action((key: string | undefined, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<GlobalOptions>();
      const { config: current } = readConfig({
        cwd: process.cwd(),
        env: process.env,
        ...(options.db === undefined ? {} : { flags: { db: options.db } }),
      });
      const answer = explain(current, key);
      if (answer.kind === 'unknown') throw new EarpieceError('bad_argument', answer.message);
      for (const said of answer.kind === 'table' ? answer.settings : [answer]) {
        if (options.json) {
          const { kind: _kind, ...rest } = said;
          printJson(rest);
          continue;
        }
        print(`${said.key} = ${plain(said.text)}  ${paint('dim', plain(said.decidedBy))}`);
        for (const other of said.overridden) print(paint('dim', `  instead of ${plain(other.text)}  ${plain(other.decidedBy)}`));
      }
    });
}

function ofHere(): { problems: readonly Problem[]; files: readonly string[] } {
  const { config: current, problems } = readConfig({ cwd: process.cwd(), env: process.env });
  return { problems, files: current.files.map((f) => f.file) };
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new EarpieceError('not_found', `${file} cannot be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`);
  }
}
