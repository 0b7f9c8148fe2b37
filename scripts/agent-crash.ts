/**
 * `node scripts/agent-crash.ts [kills] [seed]` kills an agent at random moments (default: 300 times). Each conversation has 20
 * tool calls, and uses the next of the model APIs. In each conversation, the script also kills the agent at the next of the named
 * points. The script resumes the agent after each kill, and checks the agent's promises at the end of each conversation.
 */
import '../src/node-version.ts';
import { APIS } from '../e2e/agent/apis.ts';
import { randomKill, runKilled, seeded, type Kill } from '../e2e/agent/crash/run.ts';
import { AGENT_FAULT_POINTS, type FaultPoint } from '../src/core/faults.ts';

const wanted = Number(process.argv[2] ?? 300);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
if (!Number.isInteger(wanted) || wanted < 1 || !Number.isInteger(seed)) {
  process.stderr.write('usage: node scripts/agent-crash.ts [kills] [seed], both whole numbers\n');
  process.exit(2);
}
const POINTS: readonly FaultPoint[] = [
  ...AGENT_FAULT_POINTS,
  'append.begun',
  'append.record_written',
  'append.items_written',
  'append.committed',
  'touch.committed',
];

const chance = seeded(seed);
process.stdout.write(`${wanted} kills and every named point, seed ${seed}\n`);
let passed = 0;
let failed = 0;
for (let talk = 0, left = wanted; left > 0; talk++) {
  const api = APIS[talk % APIS.length] ?? 'openai-chat';
  const point = POINTS[talk % POINTS.length] ?? 'agent.carried';
  const named: Kill = { kind: 'point', point, times: 1 + Math.floor(chance() * 6) };
  const random = Array.from({ length: Math.min(left, 8) }, () => randomKill(chance));
  const { problems, killed, requests, queued } = await runKilled(api, [named, ...random]);
  left -= Math.max(1, killed - 1);
  const about = `${api}, ${point}:${named.times}, ${killed} kills, ${requests} requests, ${queued} notifications`;
  process.stdout.write(`${problems.length === 0 ? 'ok    ' : 'FAILED'} ${about}\n`);
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
  if (problems.length === 0) passed++;
  else failed++;
}
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
