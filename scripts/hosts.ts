// Sets up, tests and measures the agent CLIs of the host tests: `node scripts/hosts.ts setup|selftest|cost|starts [client…]`.
import { clientNames, type ClientName } from '../e2e/hosts/pins.ts';
import { setup } from '../e2e/hosts/setup.ts';

const STARTS = 30;

const usage = `usage: node scripts/hosts.ts setup|selftest|cost|starts [${clientNames.join('|')} …]   (default: all)`;

const [command, ...names] = process.argv.slice(2);
const unknown = names.find((name) => !clientNames.includes(name as ClientName));
const clients = names.length ? (names as ClientName[]) : clientNames;

if (unknown !== undefined) fail(`unknown client "${unknown}"\n${usage}`);
else if (command === 'setup') setUp();
else if (command === 'selftest') await selfTest();
else if (command === 'cost') await cost();
else if (command === 'starts') await starts();
else fail(command === undefined ? usage : `unknown command "${command}"\n${usage}`);

function fail(message: string): void {
  console.error(message);
  process.exitCode = 2;
}

function setUp(): void {
  for (const client of clients) {
    try {
      const line = setup(client);
      const how = line.kind === 'present' ? 'present' : `installed in ${line.seconds.toFixed(1)} s`;
      console.log(`${client.padEnd(9)} ${line.package} ${how}`);
    } catch (error) {
      console.error(error instanceof Error ? error.message : String(error));
      process.exitCode = 1;
    }
  }
}

async function selfTest(): Promise<void> {
  const { selfTest: test } = await import('../e2e/hosts/selftest.ts');
  let failed = 0;
  for (const client of clients) {
    const report = await test(client);
    console.log(`${client}: ${report.problems.length ? 'FAIL' : 'ok'}`);
    for (const line of [...report.seen, ...report.problems.map((problem) => `PROBLEM ${problem}`)]) console.log(`  ${line}`);
    if (report.problems.length) failed++;
  }
  console.log(`${clients.length - failed} passed, ${failed} failed`);
  if (failed) process.exitCode = 1;
}

/**
 * Prints a table of the median time of a tool call, in ms: without hooks, with hooks and nothing open, and with one open
 * notification. The figures are valid only on an idle machine.
 */
async function cost(): Promise<void> {
  const { isBuilt, STATES, stepOf } = await import('../e2e/hosts/cost.ts');
  if (!isBuilt()) return fail('dist/ is missing: run npm run build, then try again');
  console.log(`| agent | ${STATES.join(' | ')} |\n|---|${'---:|'.repeat(STATES.length)}`);
  for (const client of clients) {
    const row: string[] = [];
    for (const state of STATES) {
      try {
        row.push(`${await stepOf(client, state)} ms`);
      } catch (error) {
        row.push('–');
        console.error(error instanceof Error ? error.message : String(error));
        process.exitCode = 1;
      }
    }
    console.log(`| ${[client, ...row].join(' | ')} |`);
  }
}

/** Starts each agent 30 times with a wrapped server, and counts the first requests that offer the server's tools. */
async function starts(): Promise<void> {
  const { isBuilt } = await import('../e2e/hosts/cost.ts');
  if (!isBuilt()) return fail('dist/ is missing: run npm run build, then try again');
  const { startOf } = await import('../e2e/hosts/starts.ts');
  for (const client of clients) {
    const seen: Awaited<ReturnType<typeof startOf>>[] = [];
    for (let n = 0; n < STARTS; n++) seen.push(await startOf(client));
    const offered = seen.filter((each) => each.offered).length;
    const ms = seen.map((each) => each.ms).toSorted((a, b) => a - b);
    console.log(
      `${client}: ${offered} of ${STARTS} first requests offer the tools; start to first request ${ms[STARTS / 2]} ms (median), ${ms.at(-1)} ms (longest)`,
    );
    if (offered < STARTS) process.exitCode = 1;
  }
}
