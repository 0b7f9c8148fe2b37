import path from 'node:path';
import type { Target } from './target.ts';

/**
 * Returns the command of the gateway as a user starts it. Run the command with the folder and the environment of `where`, which
 * name a separate database.
 */
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
