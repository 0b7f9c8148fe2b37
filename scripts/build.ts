/** `npm run build`: the package with its console into `dist`, unless that was made of the very same sources. */
import '../src/node-version.ts';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { isFresh, noteBuild } from './sources.ts';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');
const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };

const STEPS = [
  ['tsdown', '--logLevel', 'error'],
  ['vite', 'build', '--config', 'console/vite.config.ts', '--logLevel', 'error'],
] as const;

if (!isFresh()) {
  // The second writes into what the first has made.
  const failed = STEPS.find(
    ([command, ...args]) => spawnSync(join(bin, command), args, { cwd: root, env, stdio: 'inherit' }).status !== 0,
  );
  if (failed === undefined) noteBuild();
  else process.exitCode = 1;
}
