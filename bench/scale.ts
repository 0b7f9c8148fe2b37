// Measures how costs grow: `node bench/scale.ts [--engine sqlite,postgres,nats] [--callers 1,8,64] [--records 1e3,1e4,…]
// [--agents 1e2,…] [--subscribers 9,100,…] [--json FILE]`. Each engine is real, in a temporary folder. The curve of subscribers
// uses a log in memory. `--json` writes the figures to a file, in which they replace earlier figures of the same curve and
// engine.
// `bench/scale/page.ts` writes the tables and plots of docs/scale.md from bench/scale/figures.json.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { OF_THE_FIRST_DESIGN } from './bus/stage.ts';
import { agentCurve, callerCurve, recordCurve, subscriberCurve, type Point } from './scale/curves.ts';
import { ENGINES, start, type Engine } from './scale/engines.ts';
import type { Measurements } from './scale/page.ts';
import { machine } from './machine.ts';

const usage = `usage: node bench/scale.ts [--engine ${ENGINES.join(',')}] [--callers 1,8,64] [--records 1e3,1e4,1e5,1e6] [--agents 1e2,1e3,1e4,1e5] [--subscribers 9,100,1000] [--json FILE]`;
const { engines, callers, records, agents, subscribers, json } = readArguments();

const work = path.resolve(process.env['EARPIECE_BENCH_FOLDER'] || path.join(import.meta.dirname, '..', '.cache', 'bench'));
fs.mkdirSync(work, { recursive: true });
const { text } = machine(work);
console.log(text);
const points: Point[] = [];
const digits = (value: number): number => Number(value.toPrecision(4));
const report = (point: Point): void => {
  points.push({
    ...point,
    figures: Object.fromEntries(Object.entries(point.figures).map(([name, value]) => [name, digits(value)])),
  });
  const figures = Object.entries(point.figures).map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`);
  console.log(`${point.curve} ${point.engine} ${point.at.toLocaleString('en-US')}: ${figures.join(', ')}`);
};
for (const engine of engines) {
  const folder = fs.mkdtempSync(path.join(work, 'scale-'));
  const started = await start(engine, folder);
  try {
    await callerCurve(engine, started, callers, report);
    await recordCurve(engine, started, records, report);
    await agentCurve(engine, started, agents, report);
  } finally {
    await started.remove();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
if (subscribers.length > 0) await subscriberCurve(subscribers, report);
if (json !== undefined) keep(json);

function keep(file: string): void {
  const { machine: machines, points: earlier } = fs.existsSync(file)
    ? (JSON.parse(fs.readFileSync(file, 'utf8')) as Measurements)
    : { machine: {}, points: [] };
  const measured = new Set(points.map(({ curve, engine }) => `${curve} ${engine}`));
  const all = [...earlier.filter(({ curve, engine }) => !measured.has(`${curve} ${engine}`)), ...points];
  const order = [...ENGINES, 'memory'];
  all.sort((a, b) => a.curve.localeCompare(b.curve) || order.indexOf(a.engine) - order.indexOf(b.engine) || a.at - b.at);
  const machine = { ...machines, ...Object.fromEntries(points.map(({ engine }) => [engine, text])) };
  fs.writeFileSync(file, `${JSON.stringify({ machine, points: all }, undefined, 1)}\n`);
}

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        engine: { type: 'string', default: ENGINES.join(',') },
        callers: { type: 'string', default: '1,8,64' },
        records: { type: 'string', default: '1e3,1e4,1e5,1e6' },
        agents: { type: 'string', default: '1e2,1e3,1e4,1e5' },
        subscribers: { type: 'string', default: '9,100,1000' },
        json: { type: 'string' },
      },
    });
    const wanted = values.engine.split(',').filter(Boolean);
    const unknown = wanted.find((each) => !ENGINES.includes(each as Engine));
    if (unknown !== undefined) throw new Error(`--engine ${unknown}: there are ${ENGINES.join(', ')}`);
    return {
      engines: wanted as Engine[],
      callers: numbers('--callers', values.callers),
      records: numbers('--records', values.records),
      agents: numbers('--agents', values.agents),
      subscribers: numbers('--subscribers', values.subscribers, {
        from: OF_THE_FIRST_DESIGN,
        why: `from ${OF_THE_FIRST_DESIGN} on, because each measurement has the ${OF_THE_FIRST_DESIGN} subscribers of the first design`,
      }),
      json: values.json,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return process.exit(2);
  }
}

function numbers(option: string, text: string, least = { from: 1, why: 'above 0, such as 1e3,1e4' }): number[] {
  return text
    .split(',')
    .filter(Boolean)
    .map((each) => {
      const n = Number(each);
      if (!Number.isSafeInteger(n) || n < least.from) throw new Error(`${option} ${each}: must be whole numbers ${least.why}`);
      return n;
    });
}
