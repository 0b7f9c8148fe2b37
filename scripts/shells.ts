/**
 * Provides the shells of the tests of completion: `node scripts/shells.ts` finds zsh and fish, or installs Debian's packages.
 * If the installation fails, the script names the missing shells and fails.
 */
import { spawnSync } from 'node:child_process';
import { aptInstall } from './apt.ts';

const missing = (): string[] => ['zsh', 'fish'].filter((shell) => spawnSync(shell, ['-c', 'true']).error !== undefined);

const wanted = missing();
const why = wanted.length > 0 ? aptInstall(...wanted) : undefined;
const still = missing();
if (still.length > 0) {
  process.stderr.write(`no ${still.join(' and no ')} for the tests of the completion${why === undefined ? '' : `: ${why}`}\n`);
  process.exitCode = 1;
}
