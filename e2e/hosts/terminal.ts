import fs from 'node:fs';
import path from 'node:path';
import { once } from 'node:events';
import pty from '@lydell/node-pty';
import xterm from '@xterm/headless';
import type { JsonObject } from '../model/json.ts';
import { startMock } from '../model/mock.ts';
import type { Script } from '../model/script.ts';
import { startTap, type Recorded } from '../model/tap.ts';
import { clients } from './clients/index.ts';
import { write, type Hooks, type McpServer } from './clients/client.ts';
import { binaryOf, requireInstalled } from './pins.ts';
import { end, guarded, processesOf } from './processes.ts';
import { environment, makeHome, native } from './run.ts';

export interface TerminalOptions {
  /** The script, which restarts with each cleared context, because the mock counts the steps of each request. */
  readonly script: Script;
  readonly mcpServers: Readonly<Record<string, McpServer>>;
  readonly hooks?: Hooks;
  readonly env?: Readonly<Record<string, string>>;
  /** The beginning of the command line, after which the agent's own command follows. */
  readonly under?: readonly string[];
  readonly onToolStep?: (step: number, home: string) => void | Promise<void>;
  /** Settings that are merged into the settings file. */
  readonly settings?: JsonObject;
  /** Called for each request. The request reaches the model when the promise has resolved. */
  readonly onRequest?: (request: Recorded) => Promise<undefined>;
  /** Whether Codex asks before it runs hooks. Without the question, Codex does not use its shared server. Default: no. */
  readonly asksForHooks?: boolean;
}

/** The screen and the keys of one terminal. */
export interface Screen {
  /** The visible rows. */
  readonly screen: () => string;
  /** Resolves when `like` accepts the screen. Rejects after two minutes with the screen. */
  readonly shows: (like: (screen: string) => boolean) => Promise<void>;
  /** Types without Enter. */
  readonly type: (keys: string) => void;
  /** Types a line, waits until it is on the screen, and presses Enter. */
  readonly enter: (line: string) => Promise<void>;
  /** Closes the terminal, as a closing window does. */
  readonly close: () => void;
  /** Resolves when the agent's program has ended. */
  readonly ended: Promise<void>;
}

/** An agent's real terminal, as a person uses it. */
export interface AgentTerminal extends Screen {
  readonly home: string;
  /** Requests to the model that offer tools, in order. */
  readonly main: readonly Recorded[];
  /** Opens one more terminal of the agent in the same folder. The words are appended to the agent's command line. */
  readonly another: (...words: readonly string[]) => Screen;
}

export type TerminalClient = 'claude' | 'codex' | 'gemini';

export type ClaudeTerminal = AgentTerminal;

const COLUMNS = 120;
const WAIT_MS = 120_000;

/** Starts an agent in a terminal with its own HOME, answers every first-run dialog, and ends it after `use`. */
export async function inTerminal(
  client: TerminalClient,
  options: TerminalOptions,
  use: (terminal: AgentTerminal) => Promise<void>,
): Promise<void> {
  requireInstalled(client);
  const home = makeHome(client, undefined);
  try {
    await using mock = await startMock({
      script: options.script.map(({ calls, ...step }) => ({ ...step, calls: (calls ?? []).map((each) => native(each, client)) })),
      onToolStep: (step) => options.onToolStep?.(step, home),
    });
    await using tap = await startTap({
      upstream: mock.url,
      log: path.join(home, 'requests.jsonl'),
      onRequest: options.onRequest,
    });
    const stop = (): void => {
      for (const { pid } of processesOf(home)) end(pid, 'SIGKILL');
    };
    await guarded(stop, async () => {
      const { args, env } = clients[client].prepare({
        home,
        url: tap.url,
        prompt: '',
        resume: false,
        mcpServers: options.mcpServers,
        hooks: options.hooks ?? {},
        settings: options.settings ?? {},
      });
      answerDialogs(home, env['ANTHROPIC_API_KEY'] ?? '');
      const [program = '', ...words] = [...(options.under ?? []), binaryOf(client), ...forTerminal(args, client, options)];
      const open = (...more: readonly string[]): Screen =>
        screenOf(program, [...words, ...more], {
          cwd: path.join(home, 'work'),
          env: environment(home, tap.url, { args, env }, { TERM: 'xterm-256color', ...options.env }),
        });
      const first = open();
      const all: Screen[] = [first];
      try {
        await use({
          home,
          get main() {
            return tap.requests.filter(
              ({ method, body }) => method === 'POST' && Array.isArray(body?.['tools']) && body['tools'].length > 0,
            );
          },
          ...first,
          another: (...more) => {
            const screen = open(...more);
            all.push(screen);
            return screen;
          },
        });
      } finally {
        stop();
        await Promise.all(all.map(({ ended }) => ended));
      }
    });
  } finally {
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Starts the program in a new terminal. */
function screenOf(
  program: string,
  words: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Record<string, string> },
): Screen {
  const child = pty.spawn(program, [...words], { name: 'xterm-256color', cols: COLUMNS, rows: 50, cwd, env });
  const ended = new Promise<void>((resolve) => child.onExit(() => resolve()));
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: 50, allowProposedApi: true });
  const changes = new EventTarget();
  child.onData((data) => terminal.write(data, () => changes.dispatchEvent(new Event('change'))));
  terminal.onData((reply) => child.write(reply));
  const screen = (): string => {
    const { active } = terminal.buffer;
    const rows = Array.from({ length: terminal.rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true));
    return rows.join('\n').trimEnd();
  };
  const shows = async (like: (screen: string) => boolean, waitMs = WAIT_MS): Promise<void> => {
    const signal = AbortSignal.timeout(waitMs);
    while (!like(screen())) {
      await once(changes, 'change', { signal }).catch((cause: unknown) => {
        throw new Error(`the terminal does not come to this:\n${like.toString()}\nit shows:\n${screen()}`, { cause });
      });
    }
  };
  return {
    screen,
    shows: (like) => shows(like),
    type: (keys) => child.write(keys),
    enter: async (line) => {
      child.write(line);
      await shows((now) => now.includes(line));
      child.write('\r');
      // A busy agent may take this Enter for a part of a paste, and then the line stays in the input.
      for (let tries = 0; tries < 5; tries++) {
        const sent = await shows((now) => !isInInput(now, line), 5_000).then(
          () => true,
          () => false,
        );
        if (sent) return;
        child.write('\r');
      }
    },
    // The declared type lacks this method, which closes the terminal's file.
    close: () => (child as unknown as { destroy: () => void }).destroy(),
    ended,
  };
}

/** Whether the line is in the agent's input, which is the last row that begins with the mark of a prompt. */
const isInInput = (screen: string, line: string): boolean =>
  screen
    .split('\n')
    .findLast((row) => /^[│ ]*[❯›>] /.test(row))
    ?.includes(line) === true;

export const inClaudeTerminal = (options: TerminalOptions, use: (terminal: ClaudeTerminal) => Promise<void>): Promise<void> =>
  inTerminal('claude', options, use);

/** Removes the arguments for a single turn and its prompt. */
const forTerminal = (
  args: readonly string[],
  client: TerminalClient,
  { asksForHooks = false }: TerminalOptions,
): readonly string[] =>
  client === 'claude'
    ? args.slice(2)
    : client === 'gemini'
      ? args.filter((arg) => arg !== '-p' && arg !== '')
      : args.filter(
          (arg) =>
            arg !== 'exec' &&
            arg !== '--skip-git-repo-check' &&
            arg !== '' &&
            (arg !== '--dangerously-bypass-hook-trust' || !asksForHooks),
        );

/** Writes the person's answers at the first start: the theme, the key, and the trust in the folder. */
function answerDialogs(home: string, key: string): void {
  write(home, '.claude.json', {
    hasCompletedOnboarding: true,
    theme: 'dark',
    customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
    projects: { [path.join(home, 'work')]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
  });
  const config = path.join(home, '.codex/config.toml');
  if (fs.existsSync(config))
    fs.appendFileSync(config, `\n[projects.${JSON.stringify(path.join(home, 'work'))}]\ntrust_level = "trusted"\n`);
}
