// How costs grow: `node bench/scale.ts [--engine sqlite,postgres,nats] [--records 1e3,1e4,…] [--agents 1e2,…] [--json FILE]`.
// Each engine is real, in a temporary folder. Each line shows one measurement, and `--json` writes all figures to a file.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { agentCurve, recordCurve, subscriberCurve, type Point } from './scale/curves.ts';
import { ENGINES, start, type Engine } from './scale/engines.ts';
import { machine } from './machine.ts';

const usage = `usage: node bench/scale.ts [--engine ${ENGINES.join(',')}] [--records 1e3,1e4,1e5,1e6] [--agents 1e2,1e3,1e4,1e5] [--subscribers 1,10,100,1000] [--json FILE]`;
const { engines, records, agents, subscribers, json } = readArguments();

const work = path.resolve(process.env['EARPIECE_BENCH_FOLDER'] || path.join(import.meta.dirname, '..', '.cache', 'bench'));
fs.mkdirSync(work, { recursive: true });
const { text } = machine(work);
console.log(text);
const points: Point[] = [];
const report = (point: Point): void => {
  points.push(point);
  const figures = Object.entries(point.figures).map(([name, value]) => `${name} ${Number(value.toPrecision(3))}`);
  console.log(`${point.curve} ${point.engine} ${point.at.toLocaleString('en-US')}: ${figures.join(', ')}`);
};
for (const engine of engines) {
  const folder = fs.mkdtempSync(path.join(work, 'scale-'));
  const started = await start(engine, folder);
  try {
    await recordCurve(engine, started, records, report);
    await agentCurve(engine, started, agents, report);
  } finally {
    await started.remove();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
await subscriberCurve(subscribers, report);
if (json !== undefined) fs.writeFileSync(json, `${JSON.stringify({ machine: text, points }, undefined, 1)}\n`);

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        engine: { type: 'string', default: ENGINES.join(',') },
        records: { type: 'string', default: '1e3,1e4,1e5,1e6' },
        agents: { type: 'string', default: '1e2,1e3,1e4,1e5' },
        subscribers: { type: 'string', default: '1,10,100,1000' },
        json: { type: 'string' },
      },
    });
    const wanted = values.engine.split(',').filter(Boolean);
    const unknown = wanted.find((each) => !ENGINES.includes(each as Engine));
    if (unknown !== undefined) throw new Error(`--engine ${unknown}: there are ${ENGINES.join(', ')}`);
    return {
      engines: wanted as Engine[],
      records: numbers('--records', values.records),
      agents: numbers('--agents', values.agents),
      subscribers: numbers('--subscribers', values.subscribers),
      json: values.json,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return process.exit(2);
  }
}

function numbers(option: string, text: string): number[] {
  return text
    .split(',')
    .filter(Boolean)
    .map((each) => {
      const n = Number(each);
      if (!Number.isSafeInteger(n) || n <= 0)
        throw new Error(`${option} ${each}: must be whole numbers above 0, such as 1e3,1e4`);
      return n;
    });
}
