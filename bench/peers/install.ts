import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cacheFolder, folderOf, isInstalled, pins, type PeerName } from './pins.ts';

export type Installed = { readonly kind: 'present' | 'installed'; readonly folder: string };

/**
 * Installs the pinned peer into the cache, unless it is already installed. Throws an error with npm's last lines and advice.
 */
export function install(peer: PeerName): Installed {
  const folder = folderOf(peer);
  if (isInstalled(peer)) return { kind: 'present', folder };
  const work = makeWorkFolder(peer);
  try {
    fs.writeFileSync(
      path.join(work, 'package.json'),
      JSON.stringify({ name: `earpiece-peer-${peer}`, private: true, type: 'module' }),
    );
    npmInstall(peer, work);
    fs.writeFileSync(path.join(work, 'installed.json'), JSON.stringify(pins[peer]));
    fs.rmSync(folder, { recursive: true, force: true });
    try {
      fs.renameSync(work, folder);
    } catch (error) {
      // The rename fails if another process has installed the same versions first.
      if (!isInstalled(peer)) throw error;
    }
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
  return { kind: 'installed', folder };
}

function makeWorkFolder(peer: PeerName): string {
  const cache = cacheFolder();
  try {
    fs.mkdirSync(cache, { recursive: true });
    return fs.mkdtempSync(path.join(cache, `.${peer}-`));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the cache for peers, ${cache}, cannot be written (${why}). Set EARPIECE_PEERS_CACHE to a writable folder.`, {
      cause,
    });
  }
}

function npmInstall(peer: PeerName, cwd: string): void {
  const npm = spawnSync(
    'npm',
    // No peer needs the install scripts of its dependencies.
    ['install', '--ignore-scripts', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', ...pins[peer]],
    {
      cwd,
      encoding: 'utf8',
      timeout: 600_000,
      // npm must run with this Node: with an older Node, npm silently installs older major versions.
      env: { ...process.env, PATH: [path.dirname(process.execPath), process.env['PATH']].join(path.delimiter) },
    },
  );
  if (npm.error) throw new Error(failure(peer, `npm could not be run (${npm.error.message})`, ''));
  if (npm.status !== 0) throw new Error(failure(peer, `npm ended with ${npm.status ?? npm.signal}`, npm.stderr || npm.stdout));
}

function failure(peer: PeerName, what: string, output: string): string {
  const lastLines = output.trim().split('\n').slice(-12).join('\n');
  return [
    `the peer ${peer} could not be installed into ${cacheFolder()}: ${what} for ${pins[peer].join(' ')}.`,
    ...(lastLines ? [lastLines] : []),
    `Check that npm reaches its registry and that about 200 MB are free, then run \`node scripts/peers.ts ${peer}\` again. ` +
      `Or set EARPIECE_PEERS_CACHE to a cache that already contains the peer.`,
  ].join('\n');
}
