// Runs the bench: `node bench/main.ts [row…] [--quick] [--strict] [--json FILE] [--profile FOLDER] [--list]`. Each row runs in a
// separate process, so that the heap and the compiled code of one row do not affect another row.
import { fork } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { didYouMean } from '../src/core/errors.ts';
import { machine } from './machine.ts';
import { install } from './peers/install.ts';
import type { Row } from './row.ts';
import { isMissed, table, type Line, type Described, type Outcome } from './table.ts';

const usage = 'usage: node bench/main.ts [row…] [--quick] [--strict] [--json FILE] [--profile FOLDER] [--list]';
const ROW_WITHIN_MS = 15 * 60_000;
const here = import.meta.dirname;
// The bench uses the disk of the checkout, because the system's temporary folder may be in memory, where a sync takes no time.
const workFolder = path.resolve(process.env['EARPIECE_BENCH_FOLDER'] || path.join(here, '..', '.cache', 'bench'));
const names = fs
  .readdirSync(path.join(here, 'rows'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -3))
  .sort();

const { values: flags, positionals: asked } = readArguments();
const unknown = asked.find((name) => !names.some((known) => known.startsWith(name)));
if (unknown !== undefined) {
  const near = didYouMean(unknown, names);
  fail(`no row is named ${JSON.stringify(unknown)}${near ? `; did you mean "${near}"?` : ''}\nrows: ${names.join(', ')}`);
}
// A name selects all rows that begin with it: `gateway` runs every gateway row.
const chosen = names.filter((name) => asked.length === 0 || asked.some((prefix) => name.startsWith(prefix)));

if (flags.list) for (const name of chosen) console.log(`${name.padEnd(24)} ${(await load(name)).what}`);
else await measure();

async function measure(): Promise<void> {
  fs.mkdirSync(workFolder, { recursive: true });
  const about = machine(workFolder);
  console.log(`${about.text}\n`);
  const lines: Line[] = [];
  for (const name of chosen) {
    const row = describe(await load(name));
    const line = { row, outcome: await runRow(row) };
    lines.push(line);
    process.stderr.write(
      `${name}: ${line.outcome.kind === 'failed' ? `FAILED: ${line.outcome.why}` : `${line.outcome.seconds.toFixed(1)} s`}\n`,
    );
  }
  console.log(table(lines));
  for (const { row, outcome } of lines)
    if (outcome.kind === 'measured' && outcome.note) console.log(`${row.name}: ${outcome.note}`);
  if (flags.quick) console.log('\n--quick: too little work for valid figures.');
  if (flags.json !== undefined)
    fs.writeFileSync(flags.json, `${JSON.stringify({ quick: flags.quick, machine: about, rows: lines.map(json) }, null, 2)}\n`);
  if (flags.strict && lines.some(isMissed)) process.exitCode = 1;
}

function describe({ name, what, bar, peers }: Row): Described {
  return { name, what, bar, ...(peers && { peers }) };
}

function json(line: Line): object {
  return { ...line.row, ...line.outcome, ok: !isMissed(line) };
}

async function runRow(row: Described): Promise<Outcome> {
  const folder = fs.mkdtempSync(path.join(workFolder, 'row-'));
  const start = performance.now();
  try {
    for (const peer of row.peers ?? []) install(peer);
    const measured = await runInChild(row.name, folder);
    return { kind: 'measured', seconds: (performance.now() - start) / 1000, ...measured };
  } catch (error) {
    return { kind: 'failed', why: error instanceof Error ? error.message : String(error) };
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function runInChild(name: string, folder: string): ReturnType<Row['run']> {
  const profile = flags.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${path.resolve(flags.profile, name)}`];
  const child = fork(path.join(here, 'child.ts'), [name, folder, ...(flags.quick ? ['quick'] : [])], {
    execArgv: ['--expose-gc', ...profile],
    // The row has a separate process group, so that all its children can be ended, too.
    detached: true,
  });
  return new Promise((resolve, reject) => {
    let answer: { measured: Awaited<ReturnType<Row['run']>> } | { error: string } | undefined;
    const late = setTimeout(() => killGroup(child.pid), ROW_WITHIN_MS);
    const stopped = (): void => {
      killGroup(child.pid);
      process.exit(130);
    };
    process.once('SIGINT', stopped);
    child.on('message', (message) => (answer = message as typeof answer));
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(late);
      process.off('SIGINT', stopped);
      killGroup(child.pid);
      if (answer === undefined) reject(new Error(`the row's process ended with ${code ?? signal} and no result`));
      else if ('error' in answer) reject(new Error(answer.error));
      else resolve(answer.measured);
    });
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // All processes of the group have already ended.
  }
}

async function load(name: string): Promise<Row> {
  const { row } = (await import(`./rows/${name}.ts`)) as { row: Row };
  if (row.name !== name)
    throw new Error(`bench/rows/${name}.ts calls itself ${JSON.stringify(row.name)}: the two names must be equal`);
  return row;
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        strict: { type: 'boolean', default: false },
        list: { type: 'boolean', default: false },
        json: { type: 'string' },
        profile: { type: 'string' },
      },
    });
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
