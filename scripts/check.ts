/**
 * `npm run check`: what a change must pass before it is shown to anyone, in under a minute. Every step runs, whatever the
 * others say; the last line is `N passed, N failed`, and what a failed step had to say stands above it.
 */
import '../src/node-version.ts';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type Step = { readonly name: string; readonly command: string; readonly args: readonly string[] };

const root = join(import.meta.dirname, '..');
const env = { ...process.env, PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}` };
const packed = mkdtempSync(join(tmpdir(), 'earpiece-check-'));

const STEPS: readonly Step[] = [
  { name: 'lockfile', command: 'npm', args: ['ci', '--dry-run', '--ignore-scripts'] },
  { name: 'format', command: 'oxfmt', args: ['--check', '.'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--deny-warnings'] },
  // Before the types: examples import the package by its name.
  { name: 'build', command: 'tsdown', args: ['--logLevel', 'error'] },
  { name: 'console', command: 'vite', args: ['build', '--config', 'console/vite.config.ts', '--logLevel', 'error'] },
  { name: 'types', command: 'tsc', args: [] },
  { name: 'types of the console', command: 'tsc', args: ['--project', 'console'] },
  { name: 'unused', command: 'knip', args: [] },
  { name: 'voice', command: 'node', args: ['scripts/voice.ts'] },
  { name: 'pack', command: 'npm', args: ['pack', '--ignore-scripts', '--silent', '--pack-destination', packed] },
  { name: 'publint', command: 'publint', args: ['--strict', '<tarball>'] },
  { name: 'attw', command: 'attw', args: ['--profile', 'esm-only', '<tarball>'] },
  // Layers, promises, snippets, and the rules that need no process, socket or file of another program.
  { name: 'unit', command: 'vitest', args: ['run', '--config', 'scripts/quick.config.ts'] },
];

let failed = 0;
for (const step of STEPS) {
  const started = performance.now();
  const { ok, said } = run(step);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${step.name.padEnd(8)} ${seconds.padStart(5)} s\n`);
  if (ok) continue;
  failed++;
  process.stdout.write(`${said.trimEnd().replaceAll(/^/gmu, '  | ')}\n`);
}
rmSync(packed, { recursive: true, force: true });
process.stdout.write(`${STEPS.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;

function run({ command, args }: Step): { readonly ok: boolean; readonly said: string } {
  const tarball = args.includes('<tarball>') ? readdirSync(packed)[0] : undefined;
  if (args.includes('<tarball>') && tarball === undefined) return { ok: false, said: 'there is no tarball; see pack above' };
  const given = args.map((arg) => (arg === '<tarball>' ? join(packed, tarball ?? '') : arg));
  const { status, error, stdout, stderr } = spawnSync(command, given, {
    cwd: root,
    env,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });
  return { ok: status === 0, said: error ? error.message : `${stdout}${stderr}` };
}
