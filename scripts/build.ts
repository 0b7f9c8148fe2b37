/** `npm run build` builds the package with its console into `dist`, unless `dist` was built from the same sources. */
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
  // The steps run in order, because the second step writes into the output of the first.
  const failed = STEPS.find(
    ([command, ...args]) => spawnSync(join(bin, command), args, { cwd: root, env, stdio: 'inherit' }).status !== 0,
  );
  if (failed === undefined) noteBuild();
  else process.exitCode = 1;
}
