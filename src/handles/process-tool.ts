/**
 * Makes stateful tools that run a shell command, with pipes or in a terminal. `run` is such a tool, and a program may make
 * further tools.
 */
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { defined } from '../core/defined.ts';
import { HANDLE_OF_VARIABLE } from '../inbox/index.ts';

import { Output } from './output.ts';
import { startProcess, within, type Exit, type RunningProcess } from './process.ts';
import { startTerminal, type Terminal } from './pty.ts';
import type { Args, HandleSide, Range, Reading, StatefulTool } from './stateful-tool.ts';
import { ToolFailure, type Ending } from './state.ts';
import { lastLineOf } from './text.ts';

/**
 * The command to run. Earpiece ends the command after `timeoutMs`, or after `callTimeoutMs` if a call still waits for the
 * command. With `stdin`, the command accepts input without a terminal.
 */
export type CommandLine = {
  readonly command: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Names of variables that the process gets although they look like provider keys or Earpiece tokens. */
  readonly passEnv?: readonly string[];
  readonly shell?: string;
  readonly pty?: boolean;
  readonly stdin?: boolean;
  readonly timeoutMs?: number;
  readonly callTimeoutMs?: number;
};

export type ProcessToolOptions = Omit<StatefulTool, 'run'> & {
  /** Returns the command for these arguments. Throws `ToolFailure` if the command cannot run. */
  commandOf(args: Args): CommandLine;
  /**
   * The maximum number of characters of output in an answer. Longer output is cut in the middle, and the model can read the
   * missing part by range. Default 16,000.
   */
  readonly maxChars?: number;
  /** The maximum size of the output on disk for each handle. Default 64 MiB. */
  readonly maxOutputBytes?: number;
  /** The time from SIGTERM to SIGKILL. Default 2 s. */
  readonly graceMs?: number;
  /** In a terminal: the time without output after which the screen counts as steady. Default 100 ms. */
  readonly settleMs?: number;
  /** In a terminal: the time without output after which a line that looks like a prompt counts as a prompt. Default 300 ms. */
  readonly promptMs?: number;
};

export function processTool(options: ProcessToolOptions): StatefulTool {
  const { maxChars = 16_000, maxOutputBytes, graceMs, settleMs, promptMs, ...definition } = options;
  const limits = {
    ...defined({ graceMs, settleMs, promptMs }),
  };
  return {
    ...definition,
    async run(args, handle) {
      const line = options.commandOf(args);
      const output = new Output({
        path: join(handle.folder, 'output'),
        ...defined({ maxBytes: maxOutputBytes }),
        how: (from) => JSON.stringify({ action: 'fetch', id: handle.id, ...inArguments(from) }),
      });
      let running: RunningProcess | undefined;
      let screen: Terminal['screen'] | undefined;
      let settle: (() => Promise<void>) | undefined;
      const begun = Promise.withResolvers<void>();
      const show = (): string => shorten(screen?.text() ?? output.text(maxChars), maxChars);
      handle.serve({
        read: async (range): Promise<Reading> => (range === undefined ? { content: show() } : output.read(range, maxChars)),
        input: (input) => {
          if (running === undefined) throw new ToolFailure('the process is not running');
          running.input(input);
        },
        settle: async () => {
          await begun.promise;
          await settle?.();
        },
      });

      const toPerson = new StringDecoder('utf8');
      const shared = {
        ...line,
        ...limits,
        // A program may set another `EARPIECE_ADDRESS` for its commands, but each command still acts for its agent.
        env: { EARPIECE_ADDRESS: handle.address, ...line.env, [HANDLE_OF_VARIABLE]: handle.address },
        mark: handle.uid,
        // A background process may outlive a crash. The conversation's next run ends such a process and reports the end.
        endsWithUs: !handle.background,
        output,
        produced: (chunk: Buffer) => {
          handle.progress(toPerson.write(chunk));
          handle.produced(() => output.lastLine());
        },
      };
      try {
        if (line.pty === true) {
          const terminal = await startTerminal({
            ...shared,
            prompted: (question) => (question === undefined ? handle.resumed() : handle.waiting(question)),
          });
          ({ screen } = terminal);
          settle = () => terminal.settle();
          running = terminal;
        } else running = await startProcess(shared);
        handle.owns({ pid: running.pid });
      } finally {
        begun.resolve();
      }

      const timedOutMs = await timeOver(running, line, handle);
      const exit = await running.ended;
      output.close();
      const text = screen === undefined ? output.text(maxChars) : shorten(screen.all(), maxChars);
      screen?.dispose();
      screen = undefined;
      return endingOf({
        exit,
        text,
        more: output.bytes > maxChars,
        ...defined({ timedOutMs }),
      });
    },
  };
}

/**
 * Waits for the end of the process. Ends the process if its handle is aborted or a time limit is reached. Returns the reached
 * limit in ms, or undefined.
 */
async function timeOver(running: RunningProcess, line: CommandLine, handle: HandleSide): Promise<number | undefined> {
  const { signal } = handle;
  const aborted = Promise.withResolvers<void>();
  const onAbort = (): void => aborted.resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  const first = Promise.race([running.ended, aborted.promise]);
  try {
    const limits: readonly { readonly ms: number; readonly ends: () => boolean }[] = [
      ...(line.timeoutMs === undefined ? [] : [{ ms: line.timeoutMs, ends: () => true }]),
      ...(line.callTimeoutMs === undefined ? [] : [{ ms: line.callTimeoutMs, ends: () => !handle.background }]),
    ].toSorted((a, b) => a.ms - b.ms);
    let passed = 0;
    for (const { ms, ends } of limits) {
      if ((await within(first, ms - passed)) || signal.aborted) break;
      passed = ms;
      if (!ends()) continue;
      await running.stop();
      return ms;
    }
    await first;
    if (signal.aborted) await running.stop();
    return undefined;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Returns the ending of a successful process. Throws `ToolFailure` for a failed process. */
function endingOf({ exit, text, more, timedOutMs }: { exit: Exit; text: string; more: boolean; timedOutMs?: number }): Ending {
  const lastLine = lastLineOf(text) ?? '';
  const behind =
    exit.leftBehind > 0
      ? `; ended ${exit.leftBehind} process${exit.leftBehind > 1 ? 'es' : ''} that the command left running`
      : '';
  const how =
    timedOutMs !== undefined
      ? `ended after ${timedOutMs / 1000} s, the time limit`
      : exit.signal === null
        ? `exit code ${exit.code}`
        : `ended by ${exit.signal}`;
  const body = `${text === '' ? '(no output)' : text.replace(/\n$/u, '')}\n[${how}${behind}]`;
  const ending: Ending = {
    text: body,
    ...(exit.code === null ? {} : { exitCode: exit.code }),
    lastLine,
    more,
  };
  if (timedOutMs === undefined && exit.code === 0) return ending;
  const message =
    timedOutMs !== undefined
      ? `timed out after ${timedOutMs / 1000} s`
      : exit.signal === null
        ? `exited with code ${exit.code}`
        : `was ended by ${exit.signal}`;
  throw new ToolFailure(message, {
    ...ending,
    ...(timedOutMs === undefined ? {} : { transient: true, timeoutMs: timedOutMs }),
  });
}

const inArguments = (range: Range): Readonly<Record<string, number>> =>
  'fromByte' in range ? { from_byte: range.fromByte, bytes: range.bytes ?? 8_000 } : { ...range };

function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const part = Math.floor(maxChars / 2);
  return `${text.slice(0, part).toWellFormed()}\n[… ${(text.length - 2 * part).toLocaleString('en')} characters are left out …]\n${text.slice(-part).toWellFormed()}`;
}
