/** Runs `npm run faults -- system`: one storm, its table and its verdict. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { RULES, type Rule, type Verdict } from './checker/check.ts';
import { MOMENTS, type Moment } from './checker/reach.ts';
import { storm } from './storm.ts';

const USAGE = `usage: npm run faults -- system [--minutes N] [--seed S] [--entry FILE] [--small] [--keep]

  --minutes  how long processes are killed (default: 2); the calm afterwards takes about half a minute more.
             From 5 minutes on, a storm without --small must reach every counted moment
  --seed     repeats the decisions of a storm (default: one from the time, printed)
  --entry    the command line's main of another build, such as /elsewhere/dist/cli/main.js (default: src/cli/main.ts)
  --small    three windows instead of six
  --keep     keep the folder with the taps, also when nothing is wrong`;

/** The maximum number of printed problems per rule. */
const PRINTED = 15;

/** A storm of all windows reaches each moment within this time, in seconds. */
const REACHES_ALL_S = 300;

/**
 * Resolves with the exit code: 0 if no rule is broken and every required moment was reached, 2 if the command line is wrong,
 * otherwise 1.
 */
export async function commandOfSystem(args: readonly string[]): Promise<number> {
  const asked = readArguments(args);
  if (typeof asked === 'string') {
    console.error(`${asked}\n${USAGE}`);
    return 2;
  }
  const started = performance.now();
  const { verdict, folder, remove } = await storm({ ...asked, onProgress: (line) => console.log(line) });
  print(verdict);
  const unreached = asked.seconds < REACHES_ALL_S || asked.small ? [] : momentsMissed(verdict);
  for (const moment of unreached) console.log(`MISSED ${moment}: no ${MOMENTS[moment]}`);
  const failed = [...rulesBroken(verdict), ...unreached];
  const seconds = Math.round((performance.now() - started) / 1_000);
  if (failed.length === 0 && !asked.keep) remove();
  else console.log(`\nthe taps and the database: ${folder}`);
  console.log(`\nseed ${asked.seed}, ${seconds} s: ${failed.length === 0 ? 'every rule holds' : `BROKEN: ${failed.join(', ')}`}`);
  console.log(`${Object.keys(RULES).length + Object.keys(MOMENTS).length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}

export const rulesBroken = ({ problems }: Verdict): readonly Rule[] =>
  (Object.keys(RULES) as Rule[]).filter((rule) => problems[rule].length > 0);

export const momentsMissed = ({ reached }: Verdict): readonly Moment[] =>
  (Object.keys(MOMENTS) as Moment[]).filter((moment) => reached[moment] === 0);

function print({ counts, kills, reached, problems }: Verdict): void {
  const row = (what: string, count: number): void => console.log(`${String(count).padStart(7)}  ${what}`);
  console.log('');
  row(
    'kills',
    Object.values(kills).reduce((sum, count) => sum + count, 0),
  );
  for (const [what, count] of Object.entries(kills).toSorted(([a], [b]) => a.localeCompare(b))) row(`  ${what}`, count);
  row('notifications acknowledged', counts.acknowledged);
  row('  shown to a model', counts.delivered);
  row('tool calls', counts.calls);
  row('  refused by a gate', counts.refused);
  row('  passed while the store was out of reach', counts.excused);
  row('broadcasts to a window whose store was out of reach', counts.unknown);
  row('frames that say repeated', counts.repeats);
  row('pulled', counts.pulled);
  console.log('');
  for (const [moment, what] of Object.entries(MOMENTS)) row(what, reached[moment as Moment]);
  console.log('');
  for (const [rule, what] of Object.entries(RULES)) row(what, problems[rule as Rule].length);
  for (const [rule, each] of Object.entries(problems)) {
    for (const problem of each.slice(0, PRINTED)) console.log(`PROBLEM ${rule}: ${problem}`);
    if (each.length > PRINTED) console.log(`… and ${each.length - PRINTED} more of ${rule}`);
  }
}

type Asked = {
  readonly seed: string;
  readonly seconds: number;
  readonly entry: string;
  readonly keep: boolean;
  readonly small?: true;
};

function readArguments(args: readonly string[]): Asked | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        minutes: { type: 'string', default: '2' },
        seed: { type: 'string', default: String(Date.now() % 1_000_000) },
        entry: { type: 'string', default: join(import.meta.dirname, '../../src/cli/main.ts') },
        small: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    });
    const minutes = Number(values.minutes);
    if (!(minutes > 0) || minutes > 24 * 60) return `--minutes ${values.minutes}: must be above 0 and at most 1440`;
    if (!existsSync(values.entry)) return `--entry ${values.entry}: there is no such file`;
    return {
      seed: values.seed,
      seconds: minutes * 60,
      entry: values.entry,
      keep: values.keep,
      ...(values.small ? { small: true } : {}),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
