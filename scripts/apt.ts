/** Installs Debian packages that tests need. */
import { spawnSync } from 'node:child_process';

/** Installs packages with apt. Returns the reason of a failure. Undefined if the packages were installed. */
export function aptInstall(...names: readonly string[]): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can install packages with apt-get';
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args: readonly string[]): { status: number | null; said: string } => {
    const { status, error, stdout, stderr } = spawnSync('apt-get', args, { env, encoding: 'utf8', timeout: 300_000 });
    return { status, said: error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n') };
  };
  const install = ['install', '-y', '--no-install-recommends', ...names];
  if (apt(...install).status === 0) return undefined;
  // The package lists of a new machine are empty or old, so they are updated before a second try.
  apt('update');
  const again = apt(...install);
  return again.status === 0 ? undefined : again.said;
}
