/** Opens the stores of the scale measurements, each on a real engine in a temporary folder. */
import fs from 'node:fs';
import path from 'node:path';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { openStore } from '../../src/stores/open.ts';
import { startNats } from '../../e2e/stores/nats-server.ts';
import { startPostgres } from '../../e2e/stores/postgres-server.ts';

export const ENGINES = ['sqlite', 'postgres', 'nats'] as const;
export type Engine = (typeof ENGINES)[number];

export type Started = {
  /** The URL of the server, without the name of a store. Empty for SQLite. */
  readonly url: string;
  /** Opens an inbox on a new, empty store. */
  readonly open: (name: string) => Promise<Inbox>;
  /** Returns the bytes of all stores of this engine on the disk. */
  readonly bytes: () => number;
  readonly remove: () => Promise<void>;
};

const POLICY: Policy = { ...DEFAULT_POLICY, coalesceMs: { '*': 0 }, maxOpen: 1_000_000 };

export async function start(engine: Engine, folder: string): Promise<Started> {
  const server =
    engine === 'postgres' ? await startPostgres({ durable: true }) : engine === 'nats' ? await startNats() : undefined;
  const files = server === undefined ? folder : 'data' in server ? server.data : server.folder;
  return {
    url: server?.url ?? '',
    open: async (name) => {
      const address = server === undefined ? path.join(folder, `${name}.db`) : addressOf(server.url, engine, name);
      return new Inbox({ store: await openStore(address), policies: { policy: () => POLICY } });
    },
    bytes: () => sizeOf(files),
    remove: async () => server?.remove(),
  };
}

const addressOf = (url: string, engine: Engine, name: string): string =>
  engine === 'nats' ? `${url}/${name}` : `${url}${url.includes('?') ? '&' : '?'}schema=${name}`;

function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of fs.readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) bytes += fs.statSync(path.join(entry.parentPath, entry.name)).blocks * 512;
  return bytes;
}
