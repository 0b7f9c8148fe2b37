import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { isObject, type JsonObject } from '../model/json.ts';
import { startMock } from '../model/mock.ts';
import type { Script } from '../model/script.ts';
import { startTap, type Recorded, type TapOptions } from '../model/tap.ts';
import { write, type Hooks } from './clients/client.ts';
import { clients } from './clients/index.ts';
import { binaryOf, requireInstalled } from './pins.ts';
import { end, guarded, processesOf } from './processes.ts';
import { environment, makeHome, native } from './run.ts';

export type IdleHost = 'opencode' | 'pi';

export interface IdleOptions {
  /** The script of the session, for all of its turns. */
  readonly script: Script;
  readonly hooks: Hooks;
  readonly env: Readonly<Record<string, string>>;
  /** The user's `earpiece.toml`. */
  readonly config?: string;
  readonly onRequest?: TapOptions['onRequest'];
}

/** A real agent that stays open after its turn: pi in its RPC mode, opencode as a server. The agent has one session. */
export interface Idle {
  readonly home: string;
  /** Requests to the model that offer tools, in order. */
  readonly main: readonly Recorded[];
  /** Sends a person's message. Resolves when the agent has started to work. */
  readonly prompt: (text: string) => Promise<void>;
  /** The number of times that the agent has become idle. */
  readonly turns: () => number;
  /** Resolves when the agent has become idle `times` times. Rejects after two minutes with the agent's output. */
  readonly idleAgain: (times: number) => Promise<void>;
  /** Resolves when `is` returns true, for any other effect of the agent's work. */
  readonly until: (is: () => boolean, what: string) => Promise<void>;
}

const WAIT_MS = 120_000;

/** Starts the agent in its own HOME and ends it after `use`. */
export async function inIdleHost(host: IdleHost, options: IdleOptions, use: (idle: Idle) => Promise<void>): Promise<void> {
  requireInstalled(host);
  const home = makeHome(host, undefined);
  try {
    if (options.config !== undefined) write(home, '.config/earpiece/earpiece.toml', options.config);
    await using mock = await startMock({
      script: options.script.map(({ calls, ...step }) => ({ ...step, calls: (calls ?? []).map((call) => native(call, host)) })),
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
      const launch = clients[host].prepare({
        home,
        url: tap.url,
        prompt: '',
        resume: false,
        mcpServers: {},
        hooks: options.hooks,
        settings: {},
      });
      const args =
        host === 'pi' ? [...launch.args.slice(0, -2), '--mode', 'rpc'] : ['serve', '--hostname', '127.0.0.1', '--port', '0'];
      const child = spawn(binaryOf(host), args, {
        cwd: path.join(home, 'work'),
        env: environment(home, tap.url, launch, options.env),
        detached: true,
        stdio: 'pipe',
      });
      const turns = new Turns();
      child.stdout.setEncoding('utf8').on('data', (text: string) => turns.said(text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => turns.said(text));
      const ended = once(child, 'exit');
      try {
        const prompt = host === 'pi' ? rpc(child, turns) : await server(turns, path.join(home, 'work'));
        await use({
          home,
          get main() {
            return tap.requests.filter(
              ({ method, body }) => method === 'POST' && Array.isArray(body?.['tools']) && body['tools'].length > 0,
            );
          },
          prompt,
          turns: () => turns.count,
          idleAgain: (times) => turns.until(() => turns.count >= times, `idle ${times} times`),
          until: (is, what) => turns.until(is, what),
        });
      } finally {
        stop();
        await ended;
      }
    });
  } finally {
    fs.rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

/** Counts the turns that the agent has ended, and keeps its output. */
class Turns extends EventTarget {
  count = 0;
  output = '';

  said(text: string): void {
    this.output += text;
    this.dispatchEvent(new Event('change'));
  }

  ended(): void {
    this.count++;
    this.dispatchEvent(new Event('change'));
  }

  async until(is: () => boolean, what: string): Promise<void> {
    const signal = AbortSignal.timeout(WAIT_MS);
    while (!is())
      await once(this, 'change', { signal }).catch((cause: unknown) => {
        throw new Error(`the agent was not ${what}; it was idle ${this.count} times and said:\n${this.output.slice(-4_000)}`, {
          cause,
        });
      });
  }
}

function rpc(child: ChildProcessWithoutNullStreams, turns: Turns): Idle['prompt'] {
  let rest = '';
  child.stdout.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (objectIn(line)['type'] === 'agent_settled') turns.ended();
  });
  return async (message) => void child.stdin.write(`${JSON.stringify({ type: 'prompt', message })}\n`);
}

async function server(turns: Turns, directory: string): Promise<Idle['prompt']> {
  const listening = (): string | undefined => /listening on (http:\/\/\S+)/.exec(turns.output)?.[1];
  await turns.until(() => listening() !== undefined, 'listening');
  const url = listening() ?? '';
  const headers = { 'content-type': 'application/json', 'x-opencode-directory': directory };
  const events = await fetch(`${url}/event`, { headers });
  void listen(events, turns).catch(() => undefined);
  const made = await fetch(`${url}/session`, { method: 'POST', headers, body: '{}' });
  const { id } = (await made.json()) as { readonly id: string };
  return async (text) => {
    const body = JSON.stringify({ parts: [{ type: 'text', text }] });
    await fetch(`${url}/session/${id}/prompt_async`, { method: 'POST', headers, body });
  };
}

async function listen(events: Response, turns: Turns): Promise<void> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of events.body ?? []) {
    turns.said('');
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.startsWith('data:') && objectIn(line.slice(5))['type'] === 'session.idle') turns.ended();
  }
}

function objectIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value as JsonObject) ? (value as JsonObject) : {};
  } catch {
    return {};
  }
}
