import path from 'node:path';
import type { Target } from './target.ts';

/** Returns the command of the gateway as a user starts it, with a separate database and the shipped configuration. */
export const gateway = ({ server }: Target, ...options: readonly string[]): readonly string[] => [
  process.execPath,
  path.join(import.meta.dirname, '../../src/cli/main.ts'),
  'gateway',
  '--as',
  'bench/agent#main',
  ...options,
  '--',
  ...server,
];

export const where = (folder: string): { cwd: string; env: NodeJS.ProcessEnv } => ({
  cwd: folder,
  env: {
    EARPIECE_DB: path.join(folder, 'gateway.db'),
    XDG_CONFIG_HOME: path.join(folder, 'config'),
    XDG_STATE_HOME: path.join(folder, 'state'),
  },
});
