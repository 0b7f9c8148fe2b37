import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { binaryOf, cacheFolder, folderOf, isInstalled, packageOf, pins, type ClientName } from './pins.ts';

export interface SetupLine {
  readonly client: ClientName;
  readonly package: string;
  readonly kind: 'present' | 'installed';
  readonly seconds: number;
}

/** Installs the pinned CLI into the cache if it is missing. Throws with the package, npm's last lines and advice. */
export function setup(client: ClientName): SetupLine {
  const start = performance.now();
  const present = isInstalled(client);
  if (!present) install(client);
  return {
    client,
    package: packageOf(client),
    kind: present ? 'present' : 'installed',
    seconds: (performance.now() - start) / 1000,
  };
}

// npm installs into a temporary folder, which is then renamed. So an interrupted install never looks finished, and two parallel
// setups leave one complete folder.
function install(client: ClientName): void {
  const target = folderOf(client);
  const work = makeWorkFolder(client);
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-npm-'));
  try {
    fs.writeFileSync(path.join(work, 'package.json'), JSON.stringify({ name: `earpiece-host-${client}`, private: true }));
    npmInstall(client, work, home);
    fs.rmSync(target, { recursive: true, force: true });
    try {
      fs.renameSync(work, target);
    } catch (error) {
      if (!isInstalled(client)) throw error;
    }
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
    fs.rmSync(home, { recursive: true, force: true });
  }
  if (!isInstalled(client)) throw new Error(failure(client, `npm succeeded but left no ${binaryOf(client)}`, ''));
}

function makeWorkFolder(client: ClientName): string {
  const cache = cacheFolder();
  try {
    fs.mkdirSync(cache, { recursive: true });
    return fs.mkdtempSync(path.join(cache, `.${client}-`));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(
      `the cache for agent CLIs, ${cache}, cannot be written (${why}). Set EARPIECE_HOSTS_CACHE to a folder that can.`,
      {
        cause,
      },
    );
  }
}

// The variables that npm needs to reach its registry, and no others.
const passed =
  /^(npm_config_(registry|cafile|proxy|https[_-]proxy|noproxy|strict[_-]ssl)|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR))$/i;

function npmInstall(client: ClientName, cwd: string, home: string): void {
  const env: NodeJS.ProcessEnv = {
    PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter),
    // The packages' scripts write to HOME, but npm itself still reads its user's registry settings.
    HOME: home,
    TMPDIR: home,
    LANG: 'C.UTF-8',
    CI: '1',
    npm_config_userconfig: process.env['npm_config_userconfig'] ?? path.join(os.homedir(), '.npmrc'),
    npm_config_cache: path.join(home, '.npm'),
    npm_config_update_notifier: 'false',
  };
  for (const [name, value] of Object.entries(process.env)) if (passed.test(name)) env[name] = value;

  const scripts = pins[client].installScripts ? [] : ['--ignore-scripts'];
  const npm = spawnSync(
    'npm',
    ['install', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', ...scripts, packageOf(client)],
    { cwd, env, encoding: 'utf8', timeout: 600_000 },
  );
  if (npm.error) throw new Error(failure(client, `npm could not be run (${npm.error.message})`, ''));
  if (npm.status !== 0) throw new Error(failure(client, `npm ended with ${npm.status ?? npm.signal}`, npm.stderr || npm.stdout));
}

function failure(client: ClientName, what: string, output: string): string {
  // npm's own log disappears with the temporary home, and npm's stack does not help.
  const lines = output.split('\n').filter((line) => line.trim() && !/A complete log of this run|^npm error\s+at /.test(line));
  const lastLines = lines.slice(-12).join('\n');
  return [
    `${client} could not be installed: ${what} for ${packageOf(client)} in ${cacheFolder()}.`,
    ...(lastLines ? [lastLines] : []),
    `Check that npm reaches its registry and that there are about 500 MB free, then run \`node scripts/hosts.ts setup ${client}\` again, ` +
      `or let EARPIECE_HOSTS_CACHE name a folder that already has it.`,
  ].join('\n');
}
