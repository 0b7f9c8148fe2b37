/** Makes the built-in tool `run`, which runs a shell command in the foreground or the background, with or without a terminal. */
import { resolve } from 'node:path';
import { defined, withoutNulls } from '../core/defined.ts';

import { processTool, type ProcessToolOptions } from './process-tool.ts';
import type { OnTurnEnd, StatefulTool } from './stateful-tool.ts';

export type RunOptions = Pick<ProcessToolOptions, 'maxChars' | 'maxOutputBytes' | 'graceMs' | 'settleMs' | 'promptMs'> & {
  /** The folder in which commands start, and the base of the argument `cwd`. Default: the folder of this process. */
  readonly cwd?: string;
  /** Variables that commands get in addition to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The names of variables with a provider's key or an Earpiece token that commands get. Default: none. */
  readonly passEnv?: readonly string[];
  readonly shell?: string;
  /**
   * The time limit of a command in the foreground, unless the call sets another limit. Default 300 s. A command in the
   * background has only the limit that the call sets.
   */
  readonly timeoutSecs?: number;
  readonly onTurnEnd?: OnTurnEnd;
  readonly turnEndSecs?: number;
};

const LONGEST_SECS = 1_000_000;

export function runTool(options: RunOptions = {}): StatefulTool {
  const { cwd, env, passEnv, shell, timeoutSecs = 300, ...rest } = options;
  return processTool({
    ...rest,
    name: 'run',
    description:
      'Runs a shell command and returns its output and exit code. With "background": true, run returns a handle at once, and you are notified when the command stops or waits for input: no need to poll. With "pty": true, the command gets a terminal of 24 x 80, for programs that ask questions; answer a question with {"action":"apply","id":…,"input":…}. Too long output is cut in the middle; read the rest by range with fetch.',
    parameters: {
      properties: {
        command: { type: 'string', description: 'The command line, in bash or sh syntax.' },
        background: { type: 'boolean', description: 'Return a handle at once; give an id.' },
        pty: { type: 'boolean', description: 'Run in a terminal.' },
        stdin: { type: 'boolean', description: 'Keep stdin open for apply. By default stdin is empty, except with pty.' },
        cwd: { type: 'string', description: 'The folder to run in.' },
        timeout_secs: {
          type: 'number',
          description: `End after this many seconds. Default ${timeoutSecs}, none in the background.`,
        },
      },
      required: ['command'],
    },
    actions: ['fetch', 'apply', 'abort'],
    spawns: (args) => args['background'] === true,
    check: (given) => {
      const { command } = given;
      const { cwd: folder, timeout_secs: secs, ...args } = withoutNulls(given);
      if (typeof command !== 'string' || command.trim() === '')
        return `command must be a command line, got ${JSON.stringify(command)}`;
      for (const flag of ['background', 'pty', 'stdin'])
        if (args[flag] !== undefined && typeof args[flag] !== 'boolean')
          return `${flag} must be true or false, got ${JSON.stringify(args[flag])}`;
      if (folder !== undefined && (typeof folder !== 'string' || folder === ''))
        return `cwd must be a folder, got ${JSON.stringify(folder)}`;
      if (secs !== undefined && !(typeof secs === 'number' && secs > 0 && secs <= LONGEST_SECS))
        return `timeout_secs must be a number of seconds above 0, at most 1,000,000, got ${JSON.stringify(secs)}`;
      return undefined;
    },
    commandOf: (args) => {
      const { timeout_secs: secs } = args;
      return {
        command: args['command'] as string,
        cwd: resolve(cwd ?? process.cwd(), typeof args['cwd'] === 'string' ? args['cwd'] : '.'),
        ...defined({ env, passEnv, shell }),
        pty: args['pty'] === true,
        stdin: args['stdin'] === true,
        ...(typeof secs === 'number' ? { timeoutMs: secs * 1000 } : { callTimeoutMs: timeoutSecs * 1000 }),
      };
    },
  });
}
