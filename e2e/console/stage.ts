/** Runs the console as users do: a server with the built files of the console, a database, agents, and a logged-in browser. */
import { subscriberTrust } from '../../src/bus/index.ts';
import { trustBook } from '../../src/config/index.ts';
import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { createAgent, type Agent } from '../../src/agent/agent.ts';
import type { AgentOptions } from '../../src/agent/options.ts';
import { scriptedModel, type ScriptedModel, type Step } from '../../src/agent/scripted-model.ts';
import type { Clock } from '../../src/core/ports.ts';
import { configWriter } from '../../src/config/change.ts';
import { readConfig } from '../../src/config/index.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import { PATIENCE_MS } from './browser.ts';

const CONSOLE = join(import.meta.dirname, '../../dist/console');

export type StageOptions = { readonly toml?: string; readonly files?: Readonly<Record<string, string>> };

type Served = { readonly ear: LoadedInbox; readonly server: Server; readonly url: string };

export class Stage implements AsyncDisposable {
  readonly folder: string;
  /** The inbox for agents and producers. This inbox outlives the server, and counts as another process. */
  readonly ear: LoadedInbox;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];
  readonly #agents: Agent[] = [];
  #served: Served | undefined;

  private constructor(folder: string, ear: LoadedInbox, browser: Browser) {
    this.folder = folder;
    this.ear = ear;
    this.#browser = browser;
  }

  static async open(browser: Browser, { toml = '', files = {} }: StageOptions = {}): Promise<Stage> {
    if (!existsSync(join(CONSOLE, 'index.html'))) throw new Error('the console is not built: npm run build:console');
    const folder = mkdtempSync(join(tmpdir(), 'earpiece-console-'));
    writeFileSync(join(folder, 'earpiece.toml'), `project = "shop"\n${toml}`);
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(folder, name, '..'), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    trustBook(places(folder)).trust(join(folder, 'earpiece.toml'));
    subscriberTrust(places(folder)).trust(join(folder, '.earpiece/subscribers'));
    const stage = new Stage(folder, await openLoadedInbox(places(folder)), browser);
    await stage.serve();
    return stage;
  }

  get url(): string {
    return this.#now.url;
  }

  get server(): Server {
    return this.#now.server;
  }

  get #now(): Served {
    if (this.#served === undefined) throw new Error('the server is stopped');
    return this.#served;
  }

  #port: number | undefined;

  /** Starts the server. A later start uses the same port. */
  async serve(): Promise<void> {
    const at = places(this.folder);
    const ear = await openLoadedInbox(at);
    const server = createServer({
      inbox: ear,
      project: ear.project,
      version: '0.0.0',
      config: () => readConfig(at).config,
      configWriter: configWriter(at),
      emitter: ear.bus,
      bus: ear.bus,
      toggles: ear.toggles,
      consoleFolder: CONSOLE,
      streams: { heartbeatMs: 1_000 },
    });
    const { port, url } = this.#port === undefined ? await listenApart(server) : await server.listen({ port: this.#port });
    this.#port = port;
    this.#served = { ear, server, url };
  }

  async stopServer(): Promise<void> {
    const { ear, server } = this.#now;
    this.#served = undefined;
    await server.stop();
    await ear.close();
  }

  /** Opens a browser window that logs in by the URL that `earpiece serve` prints. */
  async page(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    this.#contexts.push(context);
    const page = await context.newPage();
    await page.goto(await this.server.loginUrl());
    await page.getByRole('navigation', { name: 'Places' }).waitFor({ state: 'attached' });
    return page;
  }

  /** Starts an agent of Earpiece with a scripted model. */
  async agent(
    address: string,
    steps: readonly Step[],
    options: Partial<AgentOptions> = {},
  ): Promise<{ agent: Agent; model: ScriptedModel }> {
    const model = scriptedModel(steps);
    const agent = await createAgent({ model, earpiece: this.ear, address, maxRetries: 0, ...options });
    this.#agents.push(agent);
    return { agent, model };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    for (const agent of this.#agents) await agent.close();
    if (this.#served !== undefined) await this.stopServer();
    await this.ear.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/**
 * Listens on a port outside the ephemeral range. Another test's connection could take an ephemeral port while the server is down.
 */
async function listenApart(server: Server): Promise<{ readonly port: number; readonly url: string }> {
  for (;;) {
    try {
      return await server.listen({ port: randomInt(12_000, 32_000) });
    } catch (error) {
      if (!(error instanceof Error && (error.cause as NodeJS.ErrnoException | undefined)?.code === 'EADDRINUSE')) throw error;
    }
  }
}

/** A clock that starts at 10:15, so that no run spans two days, or two bars of half an hour. */
const MORNING: Clock = ((ahead) => ({ now: () => Date.now() + ahead }))(new Date().setHours(10, 15, 0, 0) - Date.now());

/** Returns folders and an environment in which no setting of the machine's user takes effect. */
const places = (folder: string): { cwd: string; env: Record<string, string>; db: string; clock: Clock } => ({
  cwd: folder,
  env: { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), XDG_STATE_HOME: join(folder, 'state') },
  db: join(folder, 'e.db'),
  clock: MORNING,
});
