/**
 * `npm run faults` kills processes that share one database, at random (`--rounds`, 1000) and at each named point of a write
 * (`--points-each`, 20). It checks the data and prints the counts. The last line is the verdict, and the exit code agrees with
 * it. `--thread` gives each database a separate thread. `--bug <name>` adds a deliberate fault to the workers: the verdict must
 * then be bad.
 *
 * `npm run faults -- system` is a different run: the whole product under a storm of kills, with a checker that reads only what
 * clients received. See `e2e/system/command.ts`.
 */
import '../src/node-version.ts';
import { parseArgs } from 'node:util';
import { commandOfSystem } from '../e2e/system/command.ts';
import { BUGS, type Bug } from '../e2e/stores/faults/roles.ts';
import { run } from '../e2e/stores/faults/run.ts';

if (process.argv[2] === 'system') process.exit(await commandOfSystem(process.argv.slice(3)));

const { values } = asked();
const [rounds, pointsEach] = [Number(values.rounds), Number(values['points-each'])];
const { bug } = values;
if (!Number.isInteger(rounds) || rounds < 0 || !Number.isInteger(pointsEach) || pointsEach < 0) {
  console.error(`--rounds ${values.rounds} --points-each ${values['points-each']}: both are whole numbers from 0`);
  process.exit(2);
}
if (bug !== undefined && !BUGS.includes(bug as Bug)) {
  console.error(`--bug ${bug}: there are ${BUGS.join(', ')}`);
  process.exit(2);
}

const started = performance.now();
const { random, points, counts, problems } = await run({
  rounds,
  pointsEach,
  ...(bug === undefined ? {} : { bug: bug as Bug }),
  thread: values.thread,
  onEpoch: (line) => console.log(line),
});

console.log('\nkilled at                 times');
for (const [point, times] of Object.entries({ 'random moments': random, ...points }))
  console.log(`${point.padEnd(24)} ${String(times).padStart(6)}`);
console.log(
  `\n${counts.acknowledged} acknowledged, ${counts.lost} lost, ${counts.twice} twice, ${counts.stuck} stuck; ${counts.reoffered} offered again and flagged`,
);
for (const problem of problems.slice(0, 20)) console.log(`PROBLEM ${problem}`);
if (problems.length > 20) console.log(`… and ${problems.length - 20} more`);

const missed = Object.entries(points).filter(([, times]) => times < pointsEach);
const good = problems.length === 0 && missed.length === 0 && random >= rounds;
const seconds = ((performance.now() - started) / 1000).toFixed(0);
for (const [point, times] of missed) console.log(`MISSED ${point}: ${times} of ${pointsEach}`);
console.log(
  `\nfaults: ${good ? 'ok' : 'FAILED'}: ${random} random kills, ${Object.keys(points).length} points, ${problems.length} problems in ${seconds} s`,
);
process.exitCode = good ? 0 : 1;

function asked() {
  try {
    return parseArgs({
      options: {
        rounds: { type: 'string', default: '1000' },
        'points-each': { type: 'string', default: '20' },
        bug: { type: 'string' },
        thread: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    console.error(
      `${error instanceof Error ? error.message : String(error)}\nusage: npm run faults -- [--rounds N] [--points-each N] [--thread] [--bug NAME]\n   or: npm run faults -- system [--minutes N] [--seed S] [--entry FILE] [--small]`,
    );
    return process.exit(2);
  }
}
