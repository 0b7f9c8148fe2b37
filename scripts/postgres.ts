/** The PostgreSQL server and the pooler of the tests: `node scripts/postgres.ts` finds both, or installs Debian's packages. */
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall } from './apt.ts';

export const WAY_OUT =
  'install PostgreSQL 13 or newer and PgBouncer (apt-get install postgresql pgbouncer, brew install postgresql pgbouncer), or set POSTGRES_BIN to the folder of initdb';

const PROGRAMS = ['initdb', 'postgres', 'pg_basebackup'];
/** Debian installs the programs of each version in a separate folder, which is not on the PATH. */
const DEBIAN = '/usr/lib/postgresql';

/** Returns the folder with the programs of the newest server; undefined if no server is installed. */
export function findPostgres(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    env['POSTGRES_BIN'] ?? '',
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
    ...(env['PATH'] ?? '').split(delimiter),
    '/opt/homebrew/opt/postgresql/bin',
  ];
  return folders.filter(Boolean).find((folder) => PROGRAMS.every((program) => existsSync(join(folder, program))));
}

export function findPooler(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/opt/homebrew/bin'].filter(Boolean);
  return folders.map((folder) => join(folder, 'pgbouncer')).find((path) => existsSync(path));
}

if (import.meta.main) {
  const wanted = [...(findPostgres() === undefined ? ['postgresql'] : []), ...(findPooler() === undefined ? ['pgbouncer'] : [])];
  const why = wanted.length > 0 ? aptInstall(...wanted) : undefined;
  const found = findPostgres();
  if (found === undefined || findPooler() === undefined) {
    process.stderr.write(
      `no ${wanted.join(' and no ')} for the tests of the PostgreSQL store${why === undefined ? '' : `: ${why}`}\n  ${WAY_OUT}\n`,
    );
    process.exitCode = 1;
  } else process.stdout.write(`${found}\n`);
}
