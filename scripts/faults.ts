/**
 * `npm run faults -- <engine>` runs schedules of faults from a seed. Processes that share one store are killed at random moments
 * and at each named point of a write, are suspended, and get wrong clocks. Servers and disks fail too. A checker then judges the
 * store and the journal of the workers. The last line is the verdict, and the exit code agrees with the verdict. `--bug <name>`
 * adds a deliberate fault to the workers: the verdict must then be bad.
 *
 * `npm run faults -- system` is a different run: the whole product under a storm of kills, with a checker that never reads the
 * logs of the product. See `e2e/system/command.ts`.
 */
import '../src/node-version.ts';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { built } from '../e2e/built-setup.ts';

const args = process.argv.slice(2);
if (args[0] === 'system') {
  const { commandOfSystem } = await import('../e2e/system/command.ts');
  process.exit(await commandOfSystem(args.slice(1)));
}
// The script that has the engine's name installs the database server, or prints how to install the server.
if (args[0] === 'postgres' || args[0] === 'nats') {
  const { status } = spawnSync(process.execPath, [join(import.meta.dirname, `${args[0]}.ts`)], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
// The workers start often, and a bundle starts in half the time.
process.env['EARPIECE_TEST_CLI'] = await built();
const { commandOfSchedules } = await import('../e2e/stores/faults/command.ts');
process.exit(await commandOfSchedules(args));
