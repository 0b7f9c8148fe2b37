/**
 * `npm test` runs everything except the stage with real agent CLIs (`npm run test:hosts`). It prepares what the tests need beyond
 * `npm ci`, or prints what is missing, and ends with one line `N passed, N failed`. Arguments go to vitest.
 */
import '../src/node-version.ts';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const bin = join(import.meta.dirname, '../node_modules/.bin');
const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };

/** Programs that the tests start, with advice if one cannot be started. */
const NEEDED = [
  { command: 'bash', args: ['-c', 'exit 0'], way: 'install bash: apt-get install bash, brew install bash' },
  { command: 'tar', args: ['--version'], way: 'install tar: apt-get install tar' },
  // Tests of the package and of older Nodes pack `dist`, as users get it.
  { command: 'node', args: ['scripts/build.ts'], way: 'run npm ci, then npm run build to see the problem' },
  // Finds a browser, or installs one.
  {
    command: 'node',
    args: ['scripts/browsers.ts'],
    way: 'the console is tested in a real browser; its tests are not skipped without one',
  },
  {
    command: 'node',
    args: ['scripts/shells.ts'],
    way: 'install zsh and fish: apt-get install zsh fish, brew install zsh fish',
  },
  {
    command: 'node',
    args: ['scripts/postgres.ts'],
    way: 'the store of PostgreSQL is tested on a real server; its tests are not skipped without one',
  },
  {
    command: 'node',
    args: ['scripts/nats.ts'],
    way: 'the store of NATS JetStream is tested on real servers; its tests are not skipped without them',
  },
  { command: 'node', args: ['scripts/gh.ts'], way: 'pull requests are followed through the real gh, and not skipped without it' },
] as const;

const missing = NEEDED.filter(({ command, args, way }) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  if (status === 0) return false;
  process.stderr.write(`npm test needs ${command}: ${error?.message ?? `${stdout}${stderr}`.trim()}\n  ${way}\n`);
  return true;
});

if (missing.length > 0) {
  process.stdout.write(`0 passed, ${missing.length} failed\n`);
  process.exitCode = 1;
} else {
  const { status } = spawnSync('vitest', ['run', ...process.argv.slice(2)], { env, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
