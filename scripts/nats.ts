/**
 * Provides the nats-server of the tests: `node scripts/nats.ts` finds a server of version 2.10 or newer, or unpacks Debian's
 * package into `.cache` without installing it. Debian 12 has 2.9, so the package comes from Debian 13, through separate package
 * lists.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export const WAY_OUT =
  'install nats-server 2.10 or newer (apt-get install nats-server on Debian 13, brew install nats-server), or set NATS_SERVER to its executable';

const CACHE = join(import.meta.dirname, '../.cache/nats-server');
const UNPACKED = join(CACHE, 'root/usr/sbin/nats-server');
const LEAST = [2, 10];

/** Returns the executable of a server that is new enough. Undefined without such a server. */
export function findNats(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env['NATS_SERVER'];
  if (named) return isNewEnough(named) ? named : undefined;
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/opt/homebrew/bin'].filter(Boolean);
  return [...folders.map((folder) => join(folder, 'nats-server')), UNPACKED].find(
    (path) => existsSync(path) && isNewEnough(path),
  );
}

function isNewEnough(path: string): boolean {
  const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  const [, major = 0, minor = 0] = (/v?(\d+)\.(\d+)/u.exec(stdout ?? '') ?? []).map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST;
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

/** Unpacks Debian's package without installing it. Returns the reason of a failure. Undefined if the package was unpacked. */
function unpack(): string | undefined {
  const made = `${CACHE}.${process.pid}`;
  for (const folder of ['lists/partial', 'archives/partial', 'root']) mkdirSync(join(made, folder), { recursive: true });
  const sources = join(made, 'sources.list');
  writeFileSync(sources, `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror()} trixie main\n`);
  const own = Object.entries({
    'Dir::Etc::SourceList': sources,
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': join(made, 'lists'),
    'Dir::Cache::Archives': join(made, 'archives'),
    'Dir::Cache::pkgcache': '',
    'Dir::Cache::srcpkgcache': '',
    'APT::Sandbox::User': '',
  }).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  const run = (command: string, ...args: readonly string[]): string | undefined => {
    const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: made, encoding: 'utf8', timeout: 300_000 });
    return status === 0 ? undefined : (error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-5).join('\n'));
  };
  try {
    const why = run('apt-get', ...own, 'update') ?? run('apt-get', ...own, 'download', 'nats-server/trixie');
    if (why !== undefined) return why;
    const [file = ''] = readdirSync(made).filter((name) => name.endsWith('.deb'));
    const failed = run('dpkg', '-x', file, 'root');
    if (failed !== undefined) return failed;
    rmSync(CACHE, { recursive: true, force: true });
    renameSync(made, CACHE);
    rmSync(join(CACHE, 'lists'), { recursive: true });
    return undefined;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Returns the Debian mirror that this machine uses; the default mirror if none is configured. */
function mirror(): string {
  const folder = '/etc/apt/sources.list.d';
  const files = ['/etc/apt/sources.list', ...(existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [])];
  const text = files
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  return /^(?:deb\s+(?:\[.*\]\s+)?|URIs:\s*)(\S+\/debian)\/?(?:\s|$)/mu.exec(text)?.[1] ?? 'http://deb.debian.org/debian';
}

if (import.meta.main) {
  const why = findNats() === undefined ? unpack() : undefined;
  const found = findNats();
  if (found === undefined) {
    process.stderr.write(
      `no nats-server for the tests of the JetStream store${why === undefined ? '' : `: ${why}`}\n  ${WAY_OUT}\n`,
    );
    process.exitCode = 1;
  } else process.stdout.write(`${found}\n`);
}
