// Measures steady work: `node bench/steady.ts [--minutes 15] [--every SECONDS] [--calls 40] [--notifications 2]`. `--calls` and
// `--notifications` are numbers per second.
// One gateway wraps one server, and tool calls and notifications arrive at a steady rate. The script prints memory and times each
// minute (`--every`). At the end, the script prints whether memory and times stayed flat, and whether each notification arrived
// once. The exit code is 1 if memory or times grew, or if a notification did not arrive exactly once.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { stdioClient, type Client } from './gateway/client.ts';
import { gateway, where } from './gateway/ours.ts';
import { bare } from './gateway/target.ts';
import { AGENT, openInbox } from './log/ours.ts';
import { machine } from './machine.ts';
import { percentile } from './rounds.ts';
import { verdictOf, type Stretch } from './steady/verdict.ts';

const usage = 'usage: node bench/steady.ts [--minutes 15] [--every 60] [--calls 40] [--notifications 2]';
const { minutes, every, calls, notifications } = readArguments();
/** The maximum number of calls in flight. With more, the machine does not keep up, and the work is not steady. */
const MOST_IN_FLIGHT = 64;
const ARRIVES_WITHIN_MS = 20_000;

const work = path.resolve(process.env['EARPIECE_BENCH_FOLDER'] || path.join(import.meta.dirname, '..', '.cache', 'bench'));
fs.mkdirSync(work, { recursive: true });
console.log(`${machine(work).text}\n${calls} calls and ${notifications} notifications a second for ${minutes} minutes\n`);
const folder = fs.mkdtempSync(path.join(work, 'steady-'));
/** Rejects when work in the background fails. */
const trouble = Promise.withResolvers<never>();
trouble.promise.catch(() => {});
async function run(): Promise<boolean> {
  const { cwd, env } = where(folder);
  const memory = path.join(folder, 'memory.jsonl');
  const [node = '', ...args] = gateway(bare);
  const preload = ['--expose-gc', '--import', path.join(import.meta.dirname, 'steady/memory.ts')];
  const client = await stdioClient([node, ...preload, ...args], bare, {
    cwd,
    env: { ...env, EARPIECE_BENCH_MEMORY: memory },
  });
  const inbox = await openInbox(folder, { file: path.basename(env['EARPIECE_DB'] ?? '') });
  const told = new Told();
  const caller = new Caller(client, told);
  const stretches: Stretch[] = [];
  const timers: NodeJS.Timeout[] = [];
  try {
    console.log('second   RSS MB  heap MB    calls   p50 ms   p99 ms  carried   p50 ms   p99 ms');
    const start = performance.now();
    timers.push(
      setInterval(() => void caller.call(), 1_000 / calls),
      setInterval(() => void inbox.queue(AGENT, told.next()).catch(trouble.reject), 1_000 / notifications),
    );
    for (let n = 1; n <= Math.round((minutes * 60) / every); n++) {
      await Promise.race([trouble.promise, sleep(start + n * every * 1_000 - performance.now())]);
      const { rss, heap } = await memoryOf(client.pid, memory);
      const { plain, carrying } = caller.took();
      const [p50, p99] = [percentile(plain, 50), percentile(plain, 99)];
      stretches.push({ rss, heap, p50, p99 });
      const cells = [
        rss / 1e6,
        heap / 1e6,
        plain.length,
        p50,
        p99,
        carrying.length,
        percentile(carrying, 50),
        percentile(carrying, 99),
      ];
      console.log([`${n * every}`.padStart(6), ...cells.map(cell)].join(' '));
    }
    timers.splice(0).forEach((timer) => clearInterval(timer));
    for (const until = performance.now() + ARRIVES_WITHIN_MS; told.missing > 0 && performance.now() < until; await sleep(20))
      await caller.call();
  } finally {
    timers.forEach((timer) => clearInterval(timer));
    await inbox.close();
    await client.close();
  }
  const { kind, lines } = verdictOf(stretches);
  const isWhole = told.missing === 0 && told.twice === 0;
  console.log(`\n${lines.join('\n')}\n${told.count} notifications: ${told.missing} did not arrive, ${told.twice} came twice`);
  console.log({ flat: 'flat', grown: 'NOT FLAT', 'too short': 'no verdict' }[kind]);
  return isWhole && kind !== 'grown';
}

/** Keeps the queued notifications, and counts how often each was read in an answer. */
class Told {
  readonly #seen = new Map<number, number>();

  next(): { kind: string; message: string; data: { run: number } } {
    const n = this.#seen.size + 1;
    this.#seen.set(n, 0);
    return { kind: 'tool.stopped', message: `steady run ${n}. ended: ${n % 400} passed, ${n % 7} failed`, data: { run: n } };
  }

  /** Counts the notifications in an answer, and returns whether there were any. */
  read(answer: string): boolean {
    const found = [...answer.matchAll(/steady run (\d+)\. ended/gu)].map(([, n]) => Number(n));
    for (const n of found) this.#seen.set(n, (this.#seen.get(n) ?? 0) + 1);
    return found.length > 0;
  }

  get count(): number {
    return this.#seen.size;
  }
  get missing(): number {
    return [...this.#seen.values()].filter((times) => times === 0).length;
  }
  get twice(): number {
    return [...this.#seen.values()].filter((times) => times > 1).length;
  }
}

/** Makes calls that may overlap, so that a slow call does not delay the next call. */
class Caller {
  readonly #client: Client;
  readonly #told: Told;
  #inFlight = 0;
  #took: { plain: number[]; carrying: number[] } = { plain: [], carrying: [] };

  constructor(client: Client, told: Told) {
    this.#client = client;
    this.#told = told;
  }

  async call(): Promise<void> {
    if (this.#inFlight >= MOST_IN_FLIGHT)
      return trouble.reject(new Error(`${this.#inFlight} calls in flight: this machine does not keep up`));
    this.#inFlight++;
    const start = performance.now();
    try {
      const answer = await this.#client.call();
      this.#took[this.#told.read(answer) ? 'carrying' : 'plain'].push(performance.now() - start);
    } catch (error) {
      trouble.reject(error);
    } finally {
      this.#inFlight--;
    }
  }

  /** Returns the times that were measured since the last call of this method, in milliseconds. */
  took(): { readonly plain: readonly number[]; readonly carrying: readonly number[] } {
    const took = this.#took;
    this.#took = { plain: [], carrying: [] };
    return took;
  }
}

async function memoryOf(pid: number, file: string): Promise<{ rss: number; heap: number }> {
  const lines = (): string[] => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trimEnd().split('\n') : []);
  const before = lines().length;
  process.kill(pid, 'SIGUSR2');
  for (let tries = 0; tries < 500 && lines().length === before; tries++) await sleep(10);
  if (lines().length === before) throw new Error('the gateway did not report its memory within 5 s');
  return JSON.parse(lines().at(-1) ?? '') as { rss: number; heap: number };
}

function cell(value: number): string {
  return (Number.isInteger(value) ? String(value) : value.toFixed(2)).padStart(8);
}

function readArguments(): Record<'minutes' | 'every' | 'calls' | 'notifications', number> {
  try {
    const { values } = parseArgs({
      options: {
        minutes: { type: 'string', default: '15' },
        every: { type: 'string', default: '60' },
        calls: { type: 'string', default: '40' },
        notifications: { type: 'string', default: '2' },
      },
    });
    const numbers = Object.entries(values).map(([name, text]) => {
      if (!(Number(text) > 0)) throw new Error(`--${name} must be a number above 0, got ${JSON.stringify(text)}`);
      return [name, Number(text)] as const;
    });
    return Object.fromEntries(numbers) as Record<keyof typeof values, number>;
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return process.exit(2);
  }
}

// This code is at the end of the file, because a class can be used only after its definition has run.
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
