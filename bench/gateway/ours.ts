import path from 'node:path';
import { server } from './client.ts';

/** The gateway as a user starts it, with a database of its own and no configuration but the shipped one. */
export const gateway = (...options: readonly string[]): readonly string[] => [
  process.execPath,
  path.join(import.meta.dirname, '../../src/cli/main.ts'),
  'gateway',
  ...options,
  '--',
  ...server,
];

export const env = (folder: string): NodeJS.ProcessEnv => ({
  EARPIECE_DB: path.join(folder, 'gateway.db'),
  XDG_CONFIG_HOME: path.join(folder, 'config'),
  XDG_STATE_HOME: path.join(folder, 'state'),
});
