/**
 * `npm run check` runs the checks that each change must pass, in under a minute. Every step runs, even if others fail. The last
 * line is `N passed, N failed`, and the output of a failed step follows the step's line.
 */
import '../src/node-version.ts';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { COMPILED } from '../e2e/compiled.ts';

type Step = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The step that makes the files for this step. */
  readonly after?: string;
};

const root = join(import.meta.dirname, '..');
const env = { ...process.env, ...COMPILED, PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}` };
const packed = mkdtempSync(join(tmpdir(), 'earpiece-check-'));

/** The longest steps are first, so that short steps run next to them. */
const STEPS: readonly Step[] = [
  { name: 'build', command: 'node', args: ['scripts/build.ts'] },
  // The unit tests of some rooms and of the console, and the checks of pages, layers, requirements and snippets.
  { name: 'unit', command: 'vitest', args: ['run', '--config', 'scripts/quick.config.ts'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  // The examples import the built package by its name.
  { name: 'types', command: 'tsc', args: incremental('root'), after: 'build' },
  { name: 'types of the console', command: 'tsc', args: ['--project', 'console', ...incremental('console')], after: 'build' },
  { name: 'pack', command: 'npm', args: ['pack', '--ignore-scripts', '--silent', '--pack-destination', packed], after: 'build' },
  { name: 'publint', command: 'publint', args: ['--strict', '<tarball>'], after: 'pack' },
  { name: 'unused', command: 'knip', args: [], after: 'build' },
  { name: 'api', command: 'node', args: ['scripts/api.ts'], after: 'build' },
  { name: 'voice', command: 'node', args: ['scripts/voice.ts'] },
  { name: 'format', command: 'oxfmt', args: ['--check', '.'] },
  { name: 'lockfile', command: 'npm', args: ['ci', '--dry-run', '--ignore-scripts'] },
];

/** The options with which tsc checks only files that changed since its last run. */
function incremental(name: string): readonly string[] {
  return ['--incremental', '--tsBuildInfoFile', join(root, 'node_modules/.cache/tsc', `${name}.json`)];
}

const waiting = [...STEPS];
const done = new Set<string>();
let failed = 0;
await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
rmSync(packed, { recursive: true, force: true });
process.stdout.write(`${STEPS.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

/** Runs one step after another, as long as a step is ready to run. */
async function work(): Promise<void> {
  for (;;) {
    const next = waiting.findIndex(({ after }) => after === undefined || done.has(after));
    const [step] = next === -1 ? [] : waiting.splice(next, 1);
    // The worker that makes the files for other steps then runs these steps.
    if (step === undefined) return;
    await report(step);
    done.add(step.name);
  }
}

async function report(step: Step): Promise<void> {
  const started = performance.now();
  const { ok, said } = await run(step);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.name.padEnd(8)} ${seconds.padStart(5)} s\n`);
  if (ok) return;
  failed++;
  process.stdout.write(`${said.trimEnd().replaceAll(/^/gmu, '  | ')}\n`);
}

async function run({ command, args }: Step): Promise<{ readonly ok: boolean; readonly said: string }> {
  const tarball = args.includes('<tarball>') ? readdirSync(packed)[0] : undefined;
  if (args.includes('<tarball>') && tarball === undefined) return { ok: false, said: 'there is no tarball; see pack above' };
  const given = args.map((arg) => (arg === '<tarball>' ? join(packed, tarball ?? '') : arg));
  const child = spawn(command, given, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<{ readonly ok: boolean; readonly why: string }>((resolve) => {
    child.once('error', ({ message }) => resolve({ ok: false, why: message }));
    child.once('close', (code) => resolve({ ok: code === 0, why: '' }));
  });
  const [{ ok, why }, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { ok, said: `${stdout}${stderr}${why}` };
}
