/**
 * `node scripts/test.ts [processes|console|engines] [vitest's arguments…]` runs the named stage of the tests, or the tests that
 * belong to no stage. The script prepares the programs that the tests need in addition to `npm ci`, or names the missing
 * programs. The last line is `N passed, N failed`.
 */
import '../src/node-version.ts';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const bin = join(import.meta.dirname, '../node_modules/.bin');
const env = { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` };

/** A program that the tests start, with advice if it cannot be started. */
type Need = { readonly command: string; readonly args: readonly string[]; readonly way: string };

const BASH: Need = { command: 'bash', args: ['-c', 'exit 0'], way: 'install bash: apt-get install bash, brew install bash' };
// Tests of the package and of older Nodes pack `dist`, as users get it. The console's page is a part of `dist`.
const BUILD: Need = { command: 'node', args: ['scripts/build.ts'], way: 'run npm ci, then npm run build to see the problem' };
const BROWSER: Need = {
  command: 'node',
  args: ['scripts/browsers.ts'],
  way: 'the console is tested in a real browser; its tests are not skipped without one',
};

type Stage = { readonly projects: readonly string[]; readonly needs: readonly Need[] };

const MAIN: Stage = {
  projects: ['unit', 'whole'],
  needs: [BASH, { command: 'tar', args: ['--version'], way: 'install tar: apt-get install tar' }, BUILD],
};
const STAGES = new Map<string | undefined, Stage>([
  [
    'processes',
    {
      projects: ['processes'],
      needs: [
        BASH,
        BUILD,
        {
          command: 'node',
          args: ['scripts/shells.ts'],
          way: 'install zsh and fish: apt-get install zsh fish, brew install zsh fish',
        },
        {
          command: 'node',
          args: ['scripts/gh.ts'],
          way: 'pull requests are followed through the real gh, and not skipped without it',
        },
      ],
    },
  ],
  ['console', { projects: ['console'], needs: [BASH, BUILD, BROWSER] }],
  [
    'engines',
    {
      projects: ['engines'],
      needs: [
        BASH,
        BUILD,
        BROWSER,
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
      ],
    },
  ],
]);

const [first, ...rest] = process.argv.slice(2);
const named = STAGES.get(first);
const { projects, needs } = named ?? MAIN;
const given = named === undefined ? process.argv.slice(2) : rest;
const title = `npm ${named === undefined ? 'test' : `run test:${first}`}`;

const missing = needs.filter(({ command, args, way }) => {
  const { status, error, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  if (status === 0) return false;
  process.stderr.write(`${title} needs ${command}: ${error?.message ?? `${stdout}${stderr}`.trim()}\n  ${way}\n`);
  return true;
});

if (missing.length > 0) {
  process.stdout.write(`0 passed, ${missing.length} failed\n`);
  process.exitCode = 1;
} else {
  const { status } = spawnSync('vitest', ['run', ...projects.map((name) => `--project=${name}`), ...given], {
    env,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 1;
}
