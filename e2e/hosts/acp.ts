/** Runs Qwen Code as an editor does, over the Agent Client Protocol. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import type { JsonObject } from '../model/json.ts';
import { startMock } from '../model/mock.ts';
import type { Script } from '../model/script.ts';
import { startTap, type Recorded } from '../model/tap.ts';
import type { Hooks } from './clients/client.ts';
import { clients } from './clients/index.ts';
import { binaryOf, requireInstalled } from './pins.ts';
import { end, guarded, processesOf } from './processes.ts';
import { environment, makeHome, native } from './run.ts';

export interface EditorOptions {
  readonly script: Script;
  readonly hooks: Hooks;
  readonly env: Readonly<Record<string, string>>;
  readonly onToolStep?: (step: number, home: string) => void | Promise<void>;
}

export interface Editor {
  readonly client: 'qwen';
  readonly home: string;
  /** Requests to the model that offer tools, in order. */
  readonly main: readonly Recorded[];
  /** Opens a session and resolves with its id. */
  readonly open: () => Promise<string>;
  /** Sends a prompt, and resolves when its turn has ended. */
  readonly prompt: (session: string, text: string) => Promise<void>;
}

/** Starts Qwen Code with its own HOME, and ends it after `use`. */
export async function inEditor(options: EditorOptions, use: (editor: Editor) => Promise<void>): Promise<void> {
  requireInstalled('qwen');
  const home = makeHome('qwen', undefined);
  const work = path.join(home, 'work');
  try {
    await using mock = await startMock({
      script: options.script.map(({ calls, ...step }) => ({ ...step, calls: (calls ?? []).map((each) => native(each, 'qwen')) })),
      onToolStep: (step) => options.onToolStep?.(step, home),
    });
    await using tap = await startTap({ upstream: mock.url, log: path.join(home, 'requests.jsonl') });
    const stop = (): void => {
      for (const { pid } of processesOf(home)) end(pid, 'SIGKILL');
    };
    await guarded(stop, async () => {
      const prepared = { home, url: tap.url, prompt: '', resume: false, mcpServers: {}, hooks: options.hooks, settings: {} };
      const launch = clients.qwen.prepare(prepared);
      const child = spawn(binaryOf('qwen'), ['--acp', '--approval-mode', 'yolo'], {
        cwd: work,
        env: environment(home, tap.url, launch, options.env),
        stdio: ['pipe', 'pipe', 'ignore'],
      });
      const answers = new Map<number, (answer: JsonObject) => void>();
      readline.createInterface({ input: child.stdout }).on('line', (line) => {
        const message = JSON.parse(line) as { readonly id?: number; readonly method?: string; readonly error?: unknown };
        if (message.id !== undefined && message.method === undefined) answers.get(message.id)?.(message as JsonObject);
      });
      const ask = async (method: string, params: JsonObject): Promise<JsonObject> => {
        const id = answers.size + 1;
        const answer = new Promise<JsonObject>((resolve, reject) => {
          answers.set(id, resolve);
          child.once('exit', () => reject(new Error(`Qwen Code ended before it answered ${method}`)));
        });
        child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
        const { result, error } = await answer;
        if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
        return result as JsonObject;
      };
      await ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
      await use({
        client: 'qwen',
        home,
        get main() {
          return tap.requests.filter(
            ({ method, body }) => method === 'POST' && Array.isArray(body?.['tools']) && body['tools'].length > 0,
          );
        },
        open: async () => {
          const { sessionId } = await ask('session/new', { cwd: work, mcpServers: [] });
          if (typeof sessionId !== 'string') throw new Error('session/new: the answer has no sessionId');
          return sessionId;
        },
        prompt: async (sessionId, text) => void (await ask('session/prompt', { sessionId, prompt: [{ type: 'text', text }] })),
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
