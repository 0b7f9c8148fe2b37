/** Runs an agent as an editor does: Qwen Code over the Agent Client Protocol, and Codex as an app server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import type { JsonObject } from '../model/json.ts';
import { startMock } from '../model/mock.ts';
import type { Script } from '../model/script.ts';
import { startTap, type Recorded } from '../model/tap.ts';
import type { Hooks, McpServer } from './clients/client.ts';
import { clients } from './clients/index.ts';
import { binaryOf, requireInstalled } from './pins.ts';
import { end, guarded, processesOf } from './processes.ts';
import { environment, makeHome, native } from './run.ts';

export interface EditorOptions {
  readonly script: Script;
  readonly hooks?: Hooks;
  readonly mcpServers?: Readonly<Record<string, McpServer>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly onToolStep?: (step: number, home: string) => void | Promise<void>;
}

export interface Editor {
  readonly client: EditorClient;
  readonly home: string;
  /** Requests to the model that offer tools, in order. */
  readonly main: readonly Recorded[];
  /** Opens a session and resolves with its id. */
  readonly open: () => Promise<string>;
  /** Sends a prompt, and resolves when its turn has ended. */
  readonly prompt: (session: string, text: string) => Promise<void>;
}

export type EditorClient = 'qwen' | 'codex';

type Ask = (method: string, params: JsonObject) => Promise<JsonObject>;
/** Resolves when the agent sends a message with this method about this session. */
type Heard = (method: string, session: string) => Promise<void>;

/** The messages between an editor and an agent. */
type Dialect = {
  readonly words: readonly string[];
  readonly hello: JsonObject;
  readonly open: (ask: Ask, work: string) => Promise<unknown>;
  readonly prompt: (ask: Ask, heard: Heard, session: string, text: string) => Promise<unknown>;
};

const DIALECTS: Readonly<Record<EditorClient, Dialect>> = {
  qwen: {
    words: ['--acp', '--approval-mode', 'yolo'],
    hello: { protocolVersion: 1, clientCapabilities: {} },
    open: async (ask, cwd) => (await ask('session/new', { cwd, mcpServers: [] }))['sessionId'],
    prompt: (ask, _, sessionId, text) => ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
  },
  codex: {
    words: ['app-server'],
    hello: { clientInfo: { name: 'editor', version: '1' } },
    open: async (ask, cwd) => ((await ask('thread/start', { cwd }))['thread'] as JsonObject)['id'],
    prompt: async (ask, heard, threadId, text) => {
      const ended = heard('turn/completed', threadId);
      await ask('turn/start', { threadId, input: [{ type: 'text', text }] });
      await ended;
    },
  },
};

/** Starts an agent with its own HOME, and ends it after `use`. */
export async function inEditor(
  client: EditorClient,
  options: EditorOptions,
  use: (editor: Editor) => Promise<void>,
): Promise<void> {
  requireInstalled(client);
  const { words, hello, open, prompt } = DIALECTS[client];
  const home = makeHome(client, undefined);
  const work = path.join(home, 'work');
  try {
    await using mock = await startMock({
      script: options.script.map(({ calls, ...step }) => ({ ...step, calls: (calls ?? []).map((each) => native(each, client)) })),
      onToolStep: (step) => options.onToolStep?.(step, home),
    });
    await using tap = await startTap({ upstream: mock.url, log: path.join(home, 'requests.jsonl') });
    const stop = (): void => {
      for (const { pid } of processesOf(home)) end(pid, 'SIGKILL');
    };
    await guarded(stop, async () => {
      const { hooks = {}, mcpServers = {} } = options;
      const launch = clients[client].prepare({ home, url: tap.url, prompt: '', resume: false, mcpServers, hooks, settings: {} });
      const child = spawn(binaryOf(client), [...words], {
        cwd: work,
        env: environment(home, tap.url, launch, options.env),
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      const answers = new Map<number, (answer: JsonObject) => void>();
      const notes = new Map<string, () => void>();
      readline.createInterface({ input: child.stdout }).on('line', (line) => {
        const message = JSON.parse(line) as {
          readonly id?: number;
          readonly method?: string;
          readonly params?: { readonly threadId?: string };
          readonly error?: unknown;
        };
        if (message.id !== undefined && message.method === undefined) answers.get(message.id)?.(message as JsonObject);
        notes.get(`${message.method} ${message.params?.threadId}`)?.();
      });
      const heard: Heard = (method, session) => new Promise((resolve) => notes.set(`${method} ${session}`, resolve));
      const ask: Ask = async (method, params) => {
        const id = answers.size + 1;
        const answer = new Promise<JsonObject>((resolve, reject) => {
          answers.set(id, resolve);
          child.once('exit', () => reject(new Error(`${client} ended before it answered ${method}`)));
        });
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        const { result, error } = await answer;
        if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
        return result as JsonObject;
      };
      await ask('initialize', hello);
      await use({
        client,
        home,
        get main() {
          return tap.requests.filter(
            ({ method, body }) => method === 'POST' && Array.isArray(body?.['tools']) && body['tools'].length > 0,
          );
        },
        open: async () => {
          const session = await open(ask, work);
          if (typeof session !== 'string') throw new Error(`${client} opened a session without an id`);
          return session;
        },
        prompt: async (session, text) => void (await prompt(ask, heard, session, text)),
      });
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      stop();
    });
  } finally {
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}
