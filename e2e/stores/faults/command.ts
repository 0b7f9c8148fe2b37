/** Runs `npm run faults -- <engine>`: schedules of faults from a seed, their table and the verdict. */
import { parseArgs } from 'node:util';
import { didYouMean } from '../../../src/core/errors.ts';
import { startEngine } from './engines/index.ts';
import { BUGS, type Bug, ENGINES, type EngineName, pointsOf } from './roles.ts';
import { run, type Verdict } from './run.ts';
import { describe, ENGINE_FAULTS, type Wanted } from './schedule.ts';

const USAGE = `usage: npm run faults -- <engine> [--schedules N] [--seed S] [--schedule N] [--thread] [--bug NAME]
   or: npm run faults -- system [--minutes N] [--seed S] [--entry FILE] [--small]

  engine       ${ENGINES.join(', ')} (default: sqlite)
  --schedules  how many schedules (default: 200). From 100 on, every fault and every named point must happen
  --seed       repeats the schedules of a run (default: one from the time, printed)
  --schedule   only the schedule of this number, as a run with --seed printed it
  --thread     SQLite: every worker opens its file in a separate thread (default: in half of the schedules)
  --bug        adds a deliberate fault to the workers: ${Object.keys(BUGS).join(', ')}`;

/** The maximum number of printed problems. */
const PRINTED = 20;
/** The number of schedules that together reach every point and every fault. */
const REACHES_ALL = 100;

type Asked = Wanted & { readonly numbers: readonly number[] };

/**
 * Resolves with the exit code: 0 if there was no problem and every required fault happened, 2 if the command line is wrong,
 * otherwise 1.
 */
export async function commandOfSchedules(args: readonly string[]): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    console.error(`${asked}\n${USAGE}`);
    return 2;
  }
  const alone = asked.numbers.length === 1;
  const engine = await startEngine(asked.engine);
  // An interrupted run ends after its schedule, and leaves no server and no mounted disk.
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  try {
    for (const lack of engine.lacks) console.log(`this machine has ${lack}`);
    const total = await run(engine, {
      ...asked,
      signal: stop.signal,
      onSchedule: (schedule) => alone && console.log(`${describe(schedule)}\n`),
      onVerdict: (schedule, { counts, problems, seconds }) => {
        console.log(
          `schedule ${String(schedule.number).padStart(3)}: ${counts.acknowledged} acknowledged, ${counts.shown} shown, ${counts.refused} refused, ${problems.length} problems, ${seconds.toFixed(1)} s`,
        );
        if (problems.length === 0) return;
        if (!alone) console.log(describe(schedule));
        for (const problem of problems.slice(0, PRINTED)) console.log(`PROBLEM ${problem}`);
      },
    });
    return print(asked, total, engine.lacks.length > 0);
  } finally {
    await engine.close();
  }
}

function print(
  { engine, seed, numbers }: Asked,
  { schedules, counts, happened, problems, seconds }: Verdict,
  lacking: boolean,
): number {
  const row = (times: number, what: string): void => console.log(`${String(times).padStart(7)}  ${what}`);
  console.log('');
  for (const [what, times] of Object.entries(happened).toSorted(([a], [b]) => a.localeCompare(b))) row(times, what);
  console.log('');
  row(counts.acknowledged, 'notifications acknowledged');
  row(counts.shown, 'shown in frames and transcripts');
  row(counts.reoffered, 'offered again and flagged as repeated');
  row(counts.refused, 'calls that were refused for a temporary reason');
  row(counts.lost, 'acknowledged and lost');
  row(counts.twice, 'delivered twice in our own transcript, or after their withdrawal');
  row(counts.unflagged, 'shown again without a flag');
  row(counts.stuck, 'not delivered in the end');
  row(counts.unread, 'records that a reader missed, or got twice');
  const missed =
    schedules < REACHES_ALL
      ? []
      : [...pointsOf(engine, 'producer', 'carrier', 'opener'), ...ENGINE_FAULTS[engine]].filter(
          (what) => !happened[what] && !(lacking && what.startsWith('disk.')),
        );
  for (const what of missed) console.log(`MISSED ${what}: it never happened`);
  if (schedules < numbers.length) console.log(`INTERRUPTED after ${schedules} of ${numbers.length} schedules`);
  const good = problems.length === 0 && missed.length === 0 && schedules === numbers.length;
  console.log(
    `\nfaults: ${good ? 'ok' : 'FAILED'}: ${engine}, seed ${seed}, ${schedules} schedules, ${problems.length} problems in ${seconds.toFixed(0)} s`,
  );
  return good ? 0 : 1;
}

function readArguments(args: readonly string[]): Asked | string {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        schedules: { type: 'string', default: '200' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        schedule: { type: 'string' },
        thread: { type: 'boolean' },
        bug: { type: 'string' },
      },
    });
    const [engine = 'sqlite', ...more] = positionals;
    if (!ENGINES.includes(engine as EngineName) || more.length > 0) {
      const near = didYouMean(engine, [...ENGINES, 'system']);
      return `${positionals.join(' ')}: must be one of ${[...ENGINES, 'system'].join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`;
    }
    const [schedules, only] = [Number(values.schedules), Number(values.schedule ?? 0)];
    if (!Number.isInteger(schedules) || schedules < 1) return `--schedules ${values.schedules}: must be a whole number from 1`;
    if (!Number.isInteger(only) || only < 0) return `--schedule ${values.schedule}: must be a whole number from 0`;
    const { bug } = values;
    if (bug !== undefined && !(bug in BUGS)) return `--bug ${bug}: must be one of ${Object.keys(BUGS).join(', ')}`;
    return {
      engine: engine as EngineName,
      seed: values.seed,
      numbers: values.schedule === undefined ? Array.from({ length: schedules }, (_, n) => n) : [only],
      ...(values.thread === undefined ? {} : { thread: values.thread }),
      ...(bug === undefined ? {} : { bug: bug as Bug }),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
