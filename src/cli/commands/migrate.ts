/** `earpiece migrate`: moves the database to another engine. */
import { EarpieceError } from '../../core/errors.ts';
import { loadConfig } from '../../config/index.ts';
import { cancelMove, move, type Moved, wayOn } from '../../stores/moving/move.ts';
import { openEnd } from '../../stores/moving/open.ts';
import { wayBack } from '../../stores/moving/marks.ts';
import type { End, Mark } from '../../stores/moving/port.ts';
import type { Answer, CommandLine } from '../command-line.ts';
import { onlyAPerson, type GlobalOptions } from '../context.ts';
import { EXIT } from '../exit.ts';
import { complain, plain, print, printJson } from '../terminal.ts';
import { mayMigrate } from './migrate-users.ts';
import { progressOf } from './migrate-progress.ts';

type MigrateOptions = GlobalOptions & {
  readonly from?: string;
  readonly to?: string;
  readonly cancel?: boolean;
  readonly yes?: boolean;
};

export function migrate(command: CommandLine, answer: Answer): void {
  command
    .description(
      'Moves the whole database to another engine: a SQLite file, PostgreSQL or NATS JetStream. Every record keeps its position and its time. ' +
        'The target must be empty. The source refuses all writes from the start. If agents or servers use the source, the command therefore asks first. At the end, the command compares both databases. ' +
        'If the migration is interrupted, run the same command again to continue. The exit code is 8 if the target differs from the source.',
    )
    .option('--from <database>', 'the source: a path, postgres://… or nats://… (default: the database that other commands use)')
    .option('--to <database>', 'the target: a path, postgres://… or nats://…')
    .option(
      '--cancel',
      'cancel an unfinished migration: the source accepts writes again, and the target that --to names is removed',
    )
    .option('--yes', 'do not ask, even if agents or servers use the source')
    .example('earpiece migrate --to postgres://ear@db.example/earpiece')
    .action(async ({ from: given, to: wanted, cancel, yes, json, db }: MigrateOptions) => {
      onlyAPerson('to migrate the database');
      if (given !== undefined && db !== undefined)
        throw new EarpieceError('bad_argument', 'give either --from or --db, got both: both options name the source');
      if (wanted === undefined && cancel !== true)
        throw new EarpieceError('bad_argument', '--to is missing; write --to postgres://…, --to nats://… or --to <path>');
      checkTarget(wanted);
      const flags = db === undefined ? {} : { flags: { db } };
      const from = given ?? loadConfig({ cwd: process.cwd(), env: process.env, ...flags }).db;
      await withEnds(from, wanted, async (source, target) => {
        if (cancel === true) return cancelled(source, target, json === true);
        if (target === undefined) return;
        const isAgreed = await mayMigrate({ source, target, from }, { yes: yes === true, json: json === true });
        if (isAgreed) answer(await moved(source, target, json === true));
        else print('nothing was changed');
      });
    });
}

/** Refuses a single word, because a wrong option or a typing error would become a new database file in the working folder. */
function checkTarget(wanted: string | undefined): void {
  if (wanted === undefined || !/^[^/\\.:\s]+$/u.test(wanted)) return;
  const word = JSON.stringify(wanted.slice(0, 80));
  throw new EarpieceError(
    'bad_argument',
    `--to ${word} is neither a URL nor clearly a file. For a file of this folder, write ./${wanted.slice(0, 80)} or ${wanted.slice(0, 80)}.db; for a server, write postgres://… or nats://…`,
  );
}

async function withEnds(
  from: string,
  to: string | undefined,
  work: (source: End, target: End | undefined) => Promise<void>,
): Promise<void> {
  const source = await openEnd(from, '--from');
  try {
    const target = to === undefined ? undefined : await openEnd(to, '--to');
    try {
      await work(source, target);
    } finally {
      await target?.close();
    }
  } finally {
    await source.close();
  }
}

async function cancelled(source: End, target: End | undefined, json: boolean): Promise<void> {
  const { discarded } = await cancelMove(source, target);
  if (json) return printJson({ cancelled: source.name, discarded });
  print(`${plain(source.name)} accepts writes again`);
  print(discarded ? `${plain(target?.name ?? '')} was removed` : '--to did not name the target, so the target stays unchanged');
}

async function moved(source: End, target: End, json: boolean): Promise<number> {
  const stop = new AbortController();
  const onSignal = (): void => stop.abort();
  for (const signal of SIGNALS) process.on(signal, onSignal);
  let mark: Mark | undefined;
  const progress = progressOf({ json });
  const started = performance.now();
  try {
    const result = await move(source, target, {
      signal: stop.signal,
      onMarked: (now) => (mark = now),
      onProgress: progress.show,
    });
    progress.end();
    return told(result, { source, target, json, ms: performance.now() - started });
  } catch (error) {
    progress.end();
    if (stop.signal.aborted && mark === undefined) {
      complain('stopped before anything was changed');
      return EXIT.stopped.code;
    }
    if (mark !== undefined && error instanceof EarpieceError) complain(`the migration was interrupted: ${wayOn(mark)}`);
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Told = { readonly source: End; readonly target: End; readonly json: boolean; readonly ms: number };

function told(result: Moved, { source, target, json, ms }: Told): number {
  const names = { from: source.name, to: target.name };
  switch (result.kind) {
    case 'stopped': {
      const { mark, copied, of } = result;
      if (json) printJson({ ...names, stopped: true, copied, records: of });
      complain(`stopped at ${number(copied)} of ${number(of)} records: ${wayOn(mark)}`);
      return EXIT.stopped.code;
    }
    case 'differs': {
      const { problems, mark } = result;
      if (json) printJson({ ...names, verified: false, problems });
      else for (const problem of problems.slice(0, MOST_SHOWN)) print(plain(problem));
      complain(
        `the target differs from the source (${number(problems.length)} problems), so no other command can open the target: ${wayOn(mark)}; the source is complete`,
      );
      return EXIT.problems.code;
    }
    case 'moved': {
      const { kind: _kind, ...counts } = result;
      if (json) printJson({ ...names, verified: true, seconds: Math.round(ms / 100) / 10, ...counts });
      else summary(result, { source, target, ms });
      return EXIT.ok.code;
    }
  }
}

const MOST_SHOWN = 20;

function summary(
  { records, copiedBefore, logs, rows, fingerprint }: Extract<Moved, { kind: 'moved' }>,
  { source, target, ms }: Pick<Told, 'source' | 'target' | 'ms'>,
): void {
  const words = { presence: 'conversations', binding: 'bindings', withheld: 'withheld results', setting: 'settings' };
  const others = Object.entries(words).map(([kind, word]) => `${number(rows[kind] ?? 0)} ${word}`);
  const before = copiedBefore > 0 ? `, ${number(copiedBefore)} of these records in earlier runs` : '';
  print(`${plain(source.name)} was migrated to ${plain(target.name)} in ${(ms / 1_000).toFixed(1)} s`);
  print(`  ${number(records)} records in ${number(logs)} logs${before}; ${others.join(', ')}`);
  print(`  both databases have the checksum ${fingerprint}, and the target is intact`);
  print(
    `Set the new database for all programs: EARPIECE_DB=${plain(target.address)}${target.address.startsWith('sqlite:') ? '' : ' (add the password, if any)'}, or db in earpiece.toml.`,
  );
  print('The source refuses writes from now on. Its data stays, but Earpiece cannot open the source again: remove it later.');
  print(`To go back, with all later changes: ${plain(wayBack({ from: source.address, to: target.address }))}`);
}

const number = (n: number): string => n.toLocaleString('en');
