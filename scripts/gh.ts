/** Provides the `gh` of the tests: `node scripts/gh.ts` finds `gh`, or installs Debian's package. */
import { spawnSync } from 'node:child_process';
import { aptInstall } from './apt.ts';

export const WAY_OUT = 'install gh (apt-get install gh, brew install gh), the command line of GitHub';

/** Returns the first line of `gh --version`; undefined if `gh` is not installed. */
export function findGh(): string | undefined {
  const { status, stdout } = spawnSync('gh', ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.split('\n', 1)[0] : undefined;
}

if (import.meta.main) {
  const why = findGh() === undefined ? aptInstall('gh') : undefined;
  const found = findGh();
  if (found === undefined) {
    process.stderr.write(`no gh for the tests of pull requests${why === undefined ? '' : `: ${why}`}\n  ${WAY_OUT}\n`);
    process.exitCode = 1;
  } else process.stdout.write(`${found}\n`);
}
