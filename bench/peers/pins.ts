import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * The peers of the bench, which are not dependencies of the repository. The first package is the peer itself. Each set of pins
 * has its own folder, so checkouts with different pins can share one cache.
 */
export const pins = {
  mastra: ['@mastra/libsql@1.23.1', '@mastra/core@1.71.0', '@libsql/client@0.18.0', 'zod@4.6.7'],
  'pg-boss': ['pg-boss@12.38.0'],
  'graphile-worker': ['graphile-worker@0.18.0'],
  bullmq: ['bullmq@6.7.0', 'ioredis@5.11.1'],
} as const satisfies Record<string, readonly [string, ...string[]]>;

export type PeerName = keyof typeof pins;
export const peerNames = Object.keys(pins) as readonly PeerName[];

export const folderOf = (peer: PeerName): string =>
  path.join(cacheFolder(), `${peer}-${pins[peer].map((pin) => pin.slice(pin.lastIndexOf('@') + 1)).join('-')}`);

/** Returns the path of the file that proves a finished install: the file is written last. */
export const markerOf = (peer: PeerName): string => path.join(folderOf(peer), 'installed.json');
export const isInstalled = (peer: PeerName): boolean => fs.existsSync(markerOf(peer));

export function cacheFolder(): string {
  const own = process.env['EARPIECE_PEERS_CACHE'];
  if (own) return path.resolve(own);
  return path.join(process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache'), 'earpiece', 'peers');
}
