/** Lists agents with their hooks, and the places at which the model of each agent reads the output of hooks. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { HOOK_HOSTS } from '../../src/hosts/index.ts';
import type { Text } from '../model/texts.ts';
import { address, hookCommand } from './earpiece.ts';
import type { ClientName } from './pins.ts';
import type { RunOptions } from './run.ts';

export type Hooked = {
  readonly client: ClientName;
  /** Whether the model reads the output of a hook after a tool at this place. */
  readonly place: (text: Text) => boolean;
};

/** The agents whose hooks are tested with the real program. */
export const HOOKED: readonly Hooked[] = [
  { client: 'claude', place: ({ role }) => role === 'system' },
  { client: 'codex', place: ({ role }) => role === 'developer' },
  { client: 'gemini', place: ({ result }) => result !== null },
  { client: 'qwen', place: ({ result }) => result !== null },
];

/** Returns options of `run` that give the agent all hooks, under the agent's own names of events. */
export function withHooks(client: ClientName, database: string): Pick<RunOptions, 'hooks' | 'env'> {
  const host = HOOK_HOSTS.find(({ name }) => name === client);
  if (host === undefined) throw new Error(`${client} has no table of hooks`);
  const command = hookCommand(client, database);
  return {
    hooks: { commands: Object.fromEntries(Object.keys(host.events).map((event) => [event, command])) },
    env: { EARPIECE_ADDRESS: address },
  };
}

export function temporaryDatabase(): Disposable & { readonly folder: string; readonly path: string } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hooks-'));
  return {
    folder,
    path: path.join(folder, 'earpiece.db'),
    [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the files that the agent's calls created in its folder. */
export const filesOf = ({ home }: { readonly home: string }): readonly string[] => fs.readdirSync(path.join(home, 'work'));
