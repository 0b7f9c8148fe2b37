import { readLimited } from '../../input/index.ts';
import {
  checkConfigText,
  deciderOf,
  explain,
  formatProblem,
  readConfig,
  untrustedTold,
  type Config,
  type Problem,
} from '../../config/index.ts';
import { configWriter, type Asked } from '../../config/change.ts';
import { takesEffect } from '../../config/changeable.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { onlyAPerson, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { matcherProblems } from '../matchers.ts';
import { secretProblems } from '../webhooks.ts';
import { table } from '../table.ts';
import { paint, plain, print, printJson } from '../terminal.ts';

export function config(group: CommandLine, answer: Answer): void {
  group.description('Checks earpiece.toml, shows the source of a value, or changes a value.');
  group
    .command('check [file]')
    .summary('list every problem with its place')
    .description(
      'Lists every problem with its line and column (default: in the files and variables that apply here). The exit code is 8 if there is a problem.',
    )
    .action((file: string | undefined, options: GlobalOptions) => {
      const { problems, files, untrusted } =
        file === undefined
          ? ofHere(options)
          : { problems: checkConfigText(read(file), file).problems, files: [file], untrusted: [] };
      if (options.json) problems.forEach((problem) => printJson(problem));
      else if (problems.length > 0) problems.forEach((problem) => print(plain(formatProblem(problem))));
      else
        print(
          files.length === 0
            ? 'no earpiece.toml applies here, so the defaults apply'
            : files.map((f) => `${plain(f)} has no problems`).join('\n'),
        );
      if (!options.json) untrusted.forEach((each) => print(plain(untrustedTold(each))));
      if (problems.length > 0) answer(EXIT.problems.code);
    });
  group
    .command('explain [key]')
    .summary('show a value and its source')
    .description(
      'Shows the value of a key, or of all keys of a table, and the source of each value. Without a key, the command shows all settings.',
    )
    .example(`earpiece config explain budget.max_items
earpiece config explain db
earpiece config explain conversation.notifications`)
    .action((key: string | undefined, options: GlobalOptions) => {
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
      print(rows.length === 0 ? paint('dim', 'no source sets a value in this table') : table(rows, [{}, {}, {}]));
    });
  group
    .command('set <key> <value>')
    .summary('change a value in your file')
    .description(
      "Changes one value in your own file, which applies to all projects, or with --project in the project's file. Comments and layout are kept. " +
        'The value is checked before it is written. Most changes reach running agents with the next carrier.',
    )
    .option('--project', "change the project's file, which applies to everybody in the project")
    .example(`earpiece config set budget.max_items 5
earpiece config set wake.error auto --project
earpiece config set 'conversation.notifications.kinds."mcp.reconnected"' false
earpiece config set redact '["sk-[A-Za-z0-9]{20,}"]'`)
    .action((key: string, value: string, options: ChangeOptions) => change({ key, to: { kind: 'text', text: value } }, options));
  group
    .command('unset <key>')
    .summary('remove a value from your file')
    .description(
      "Removes one key from your own file, or with --project from the project's file. The source with the next lower priority then sets the value.",
    )
    .option('--project', "remove the key from the project's file")
    .example(`earpiece config unset budget.max_items
earpiece config unset wake.error --project`)
    .action((key: string, options: ChangeOptions) => change({ key, to: { kind: 'unset' } }, options));
}

type ChangeOptions = GlobalOptions & { readonly project?: boolean };

/**
 * Changes a key. Reports the effective value, and when the change takes effect. A source with higher priority may still set
 * another value.
 */
async function change(asked: Asked, options: ChangeOptions): Promise<void> {
  onlyAPerson('to change the configuration');
  const scope = options.project ? 'project' : 'user';
  const { file, keys, written } = await configWriter(here(options)).change(scope, [asked]);
  const [key = asked.key] = keys;
  const { config: now } = readConfig(here(options));
  const said = explain(now, key);
  const counts = takesEffect(key);
  const set = asked.to.kind !== 'unset';
  if (said.kind !== 'setting') {
    if (options.json) return printJson({ key, file, written });
    return print(`${plain(key)} was removed from ${plain(file)}`);
  }
  const { value, text, decidedBy } = said;
  if (options.json) return printJson({ key, file, written, value: value ?? null, decidedBy, takesEffect: counts });
  print(`${plain(key)} is ${plain(text)} ${paint('dim', `(${plain(decidedBy)})`)}`);
  const decider = deciderOf(now, key);
  const own = decider?.kind === 'file' && decider.file === file;
  if (set && now.held.some((each) => each.key === key))
    print(`${plain(file)} has the value, which has no effect until you run: earpiece trust`);
  else if (set && !own) print(`${plain(file)} has the value, but ${plain(decidedBy)} has higher priority and applies here`);
  else if (!written)
    print(paint('dim', set ? `${plain(file)} already had this value` : `${plain(file)} has no value for ${plain(key)}`));
  else if (counts !== undefined) print(paint('dim', `The change takes effect ${counts}.`));
}

const here = (options: GlobalOptions): Parameters<typeof readConfig>[0] => ({
  cwd: process.cwd(),
  env: process.env,
  ...(options.db === undefined ? {} : { flags: { db: options.db } }),
});

type Checked = {
  readonly problems: readonly Problem[];
  readonly files: readonly string[];
  readonly untrusted: Config['untrusted'];
};

function ofHere(options: GlobalOptions): Checked {
  const { config: current, problems } = readConfig(here(options));
  return {
    problems: [...problems, ...secretProblems(current, process.env), ...matcherProblems(current)],
    files: current.files.map((f) => f.file),
    untrusted: current.untrusted,
  };
}

function read(file: string): string {
  try {
    return readLimited(file, 1_048_576).toString('utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new EarpieceError(
      code === 'ENOENT' ? 'not_found' : 'bad_argument',
      `${file} cannot be read (${code}); name a readable earpiece.toml`,
    );
  }
}
