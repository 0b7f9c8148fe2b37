/** Provides an agent's hooks as `earpiece install` sets them, and the shared parts of their tests. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { HOOK_HOSTS } from '../../src/hosts/index.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import type { JsonObject } from '../model/json.ts';
import type { Hooks } from './clients/client.ts';
import { address, hookCommand } from './earpiece.ts';
import type { ClientName } from './pins.ts';

export type Place = Disposable & {
  readonly folder: string;
  readonly database: string;
  /** Returns the hooks. `around` replaces the command of an event by shell text, in which `HOOK` is the hook command. */
  readonly hooks: (around?: Readonly<Record<string, string>>) => Hooks;
  /** Claude Code's complete settings, including the background waiter. */
  readonly settings: () => JsonObject;
  readonly env: Readonly<Record<string, string>>;
  readonly open: () => Promise<LoadedInbox>;
};

export function place(client: ClientName = 'claude'): Place {
  const host = HOOK_HOSTS.find(({ name }) => name === client);
  if (host === undefined) throw new Error(`${client} has no table of hooks`);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hooks-'));
  const database = path.join(folder, 'earpiece.db');
  const command = hookCommand(client, database);
  return {
    folder,
    database,
    hooks: (around = {}) => ({
      commands: Object.fromEntries(
        Object.keys(host.events).map((event) => [event, (around[event] ?? 'HOOK').replaceAll('HOOK', command)]),
      ),
    }),
    settings: () => ({
      hooks: Object.fromEntries(
        Object.entries(host.events).map(([event, { matcher, waits }]) => {
          const handlers: JsonObject[] = [{ type: 'command', command }];
          if (waits) handlers.push({ type: 'command', command: `${command} --wait`, asyncRewake: true, timeout: 86_400 });
          return [event, [{ ...(matcher === undefined ? {} : { matcher }), hooks: handlers }]];
        }),
      ),
    }),
    env: { EARPIECE_ADDRESS: address },
    open: () => openLoadedInbox({ db: database, cwd: folder, env: { HOME: folder } }),
    [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }),
  };
}
