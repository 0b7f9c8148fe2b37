/**
 * Runs a shell command in a terminal of 24 rows and 80 columns. The two packages for terminals are optional, and are loaded for
 * the first terminal.
 */
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import type * as NodePty from '@lydell/node-pty';
import { EarpieceError } from '../core/errors.ts';
import { withoutSecrets } from './environment.ts';
import { keyBytes } from './keys.ts';
import { startable, within, type Exit, type ProcessOptions, type RunningProcess } from './process.ts';
import { missing, openScreen, type Screen } from './screen.ts';
import { endAtExit, endSession, GRACE_MS, MARK, membersOf } from './sessions.ts';
import { ToolFailure } from './state.ts';
import { looksLikePrompt } from './text.ts';
import { watchdog } from './watchdog.ts';

export const ROWS = 24;
export const COLUMNS = 80;

export type PtyOptions = Omit<ProcessOptions, 'stdin'> & {
  /** The time without output after which the screen counts as steady. Default 100 ms. */
  readonly settleMs?: number;
  /** The time without output after which a line that looks like a prompt counts as a prompt. Default 300 ms. */
  readonly promptMs?: number;
  /** Called with the question for which the process seems to wait, and with undefined if the process continues without input. */
  readonly prompted?: (question: string | undefined) => void;
};

export interface Terminal extends RunningProcess {
  readonly screen: Screen;
  /** Resolves when the screen is steady, the process waits or has ended, or after 3 s. */
  settle(): Promise<void>;
}

const SETTLE_AT_MOST_MS = 3_000;
/**
 * How long to wait for output after the start and after input, because a program may be slow. The echo of the input does not
 * count as output.
 */
const FIRST_MS = 1_000;
/**
 * The maximum number of bytes that may wait for the screen. Beyond this number, the terminal is not read until the screen has
 * caught up.
 */
const AHEAD_BYTES = 1_048_576;

/** Starts a shell command in a terminal. Throws `ToolFailure` if the command cannot start. */
export async function startTerminal(options: PtyOptions): Promise<Terminal> {
  const { output, graceMs = GRACE_MS, settleMs = 100, promptMs = 300 } = options;
  const shell = startable(options);
  const [{ spawn }, screen] = await Promise.all([loadPty(), openScreen(ROWS, COLUMNS)]);
  let pty: NodePty.IPty;
  const dog = options.endsWithUs ? watchdog() : undefined;
  try {
    pty = spawn(shell, ['-c', options.command], {
      name: 'xterm-256color',
      rows: ROWS,
      cols: COLUMNS,
      cwd: options.cwd,
      env: { ...withoutSecrets(process.env, options.passEnv), ...options.env, [MARK]: options.mark },
      encoding: null,
    });
  } catch (error) {
    dog?.over();
    throw new ToolFailure(`could not be started: ${(error as Error).message}`, { cause: error, transient: true });
  }
  const { pid } = pty;
  dog?.owns(pid);
  const unguard = endAtExit(pid);

  let lastAt = performance.now();
  let waits = false;
  /**
   * The number of bytes of output since the start or the last input. `echo` is the number of these bytes that repeat the input.
   */
  let received = 0;
  let echo = 0;
  let over = false;
  let ahead = 0;
  let timer: NodeJS.Timeout | undefined;
  const checkPrompt = (): void => {
    const line = screen.cursorLine();
    if (over || waits || ahead > 0 || !looksLikePrompt(line)) return;
    waits = true;
    options.prompted?.(line.trim());
  };
  const active = (): void => {
    lastAt = performance.now();
    clearTimeout(timer);
    if (over) return;
    timer = setTimeout(checkPrompt, promptMs);
  };
  const continues = (): void => {
    if (!waits) return;
    waits = false;
    options.prompted?.(undefined);
  };
  const reading = pty.onData((data) => {
    // With `encoding: null` the data are buffers, although the types say text.
    const chunk = data as unknown as Buffer;
    output.append(chunk);
    received += chunk.length;
    ahead += chunk.length;
    if (ahead > AHEAD_BYTES) pty.pause();
    void screen.write(chunk).then(() => {
      ahead -= chunk.length;
      if (ahead <= AHEAD_BYTES / 2) pty.resume();
    });
    continues();
    active();
    options.produced?.(chunk);
  });
  // The terminal answers the program's queries (for example for the cursor position).
  const answering = screen.onAnswer((text) => {
    if (!over) pty.write(text);
  });

  const ended = new Promise<{ exitCode: number; signal?: number }>((resolve) => pty.onExit(resolve)).then(
    async ({ exitCode, signal }): Promise<Exit> => {
      over = true;
      clearTimeout(timer);
      const leftBehind = membersOf(pid).length;
      if (leftBehind > 0) await endSession(pid, graceMs);
      unguard();
      dog?.over();
      await screen.flushed();
      reading.dispose();
      answering.dispose();
      return { code: signal ? null : exitCode, signal: signal ? nameOfSignal(signal) : null, leftBehind };
    },
  );

  return {
    pid,
    ended,
    screen,
    input: ({ text, keys, answers }) => {
      if (over) throw new EarpieceError('bad_argument', 'the process has ended and takes no input');
      const pressed = keys.map(keyBytes).join('');
      // On a terminal, Enter is a carriage return, which completes an answer.
      const entered = text.replaceAll(/\r?\n/gu, '\r');
      const enter = answers && keys.length === 0 && !entered.endsWith('\r') ? '\r' : '';
      waits = false;
      const sent = `${entered}${enter}${pressed}`;
      received = 0;
      // A carriage return is echoed as two characters.
      echo = Buffer.byteLength(sent.replaceAll('\r', '\r\n'));
      active();
      pty.write(sent);
    },
    settle: async () => {
      const deadline = performance.now() + SETTLE_AT_MOST_MS;
      while (!over && !waits && performance.now() < deadline) {
        const needed = received <= echo ? FIRST_MS : looksLikePrompt(screen.cursorLine()) ? promptMs : settleMs;
        const left = Math.max(needed - (performance.now() - lastAt), ahead > 0 ? 5 : 0);
        if (left <= 0) break;
        // The loop waits in steps, because new output changes the remaining time.
        await Promise.race([sleep(Math.min(left, settleMs)), ended]);
      }
      // The timer for prompts may fire at the same moment. Check for a prompt now, so that the answer says `waiting` and not
      // `running`.
      checkPrompt();
      // A process that has just ended must be reported as ended.
      if (!over && membersOf(pid).length === 0) await within(ended, 500);
    },
    stop: async () => {
      await endSession(pid, graceMs);
      return ended;
    },
  };
}

async function loadPty(): Promise<typeof NodePty> {
  try {
    const loaded: typeof NodePty & { default?: typeof NodePty } = await import('@lydell/node-pty');
    return loaded.default ?? loaded;
  } catch (error) {
    throw missing('@lydell/node-pty', error);
  }
}

const nameOfSignal = (number: number): string =>
  Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? `signal ${number}`;
