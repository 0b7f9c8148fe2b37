/** Starts a test server with a separate database and port, and a client for each kind of token. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/wire/client/index.ts';
import { makeEvent, notificationFrom, type Emitter } from '../../src/core/event.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { createServer, type Listening, type Server, type ServerOptions, type TokenRequest } from '../../src/server/index.ts';
import { openStore } from '../../src/stores/index.ts';

export type StageOptions = Partial<Omit<ServerOptions, 'inbox'>> & {
  /** The database. Default: a file in a separate folder. */
  readonly db?: string;
  /** The time that the store waits for locks of other processes. */
  readonly busyMs?: number;
  readonly policy?: Partial<Policy>;
  /** Whether each incoming event becomes one notification. */
  readonly emits?: boolean;
  /** Default: any free port. */
  readonly port?: number;
  readonly host?: string;
};

const emitterOn = (inbox: Inbox): Emitter => ({
  emit: async (input) => {
    const event = makeEvent(input, { id: randomUUID(), now: inbox.store.now() });
    const queued = await inbox.queue(event.subject, notificationFrom(event));
    return { event, heard: [{ subscriber: 'every', kind: queued.kind, id: queued.id }] };
  },
});

export class Stage implements AsyncDisposable {
  readonly folder: string;
  readonly inbox: Inbox;
  readonly server: Server;
  readonly at: Listening;
  /** The lines that the server reports. `logged` has its request lines. */
  readonly reported: string[];
  readonly logged: string[];
  /** The client with an admin token. */
  readonly client: Client;
  readonly token: string;
  readonly #clock: { ahead: number };

  private constructor(made: Omit<Stage, 'as' | 'raw' | 'passes' | typeof Symbol.asyncDispose> & { clock: { ahead: number } }) {
    this.#clock = made.clock;
    this.folder = made.folder;
    this.inbox = made.inbox;
    this.server = made.server;
    this.at = made.at;
    this.reported = made.reported;
    this.logged = made.logged;
    this.client = made.client;
    this.token = made.token;
  }

  static async open(options: StageOptions = {}): Promise<Stage> {
    const folder = mkdtempSync(join(tmpdir(), 'earpiece-server-'));
    const { db = join(folder, 'e.db'), busyMs, policy, emits = false, port = 0, host, ...rest } = options;
    const clock = { ahead: 0 };
    const inbox = new Inbox({
      store: await openStore(db, {
        clock: { now: () => Date.now() + clock.ahead },
        ...(busyMs === undefined ? {} : { busyMs }),
      }),
      policies: { policy: () => ({ ...DEFAULT_POLICY, ...policy }) },
      timeZone: 'UTC',
    });
    const [reported, logged]: string[][] = [[], []];
    const server = createServer({
      inbox,
      project: 'shop',
      ...(emits ? { emitter: emitterOn(inbox) } : {}),
      version: '0.0.0',
      report: (line) => reported?.push(line),
      log: (line) => logged?.push(line),
      ...rest,
    });
    // Without a token, the server listens only on loopback.
    const { token } = await server.tokens.create({ kind: 'admin', name: 'tests' });
    const at = await server.listen({ port, ...(host === undefined ? {} : { host }) });
    const client = createClient({ url: at.url, token });
    return new Stage({ folder, inbox, server, at, reported: reported ?? [], logged: logged ?? [], client, token, clock });
  }

  async as(request: Omit<TokenRequest, 'name'>): Promise<Client & { readonly token: string; readonly tokenId: string }> {
    const { token, id } = await this.server.tokens.create({ name: `a ${request.kind}`, ...request });
    return { ...createClient({ url: this.at.url, token }), token, tokenId: id };
  }

  /** Moves the store's clock by this time. A negative time moves the clock back. */
  passes(ms: number): void {
    this.#clock.ahead += ms;
  }

  /** Sends a raw request, by default with the admin's token. An empty `authorization` sends no token. */
  raw(path: string, init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {}): Promise<Response> {
    const { authorization = `Bearer ${this.token}`, ...headers } = init.headers ?? {};
    return fetch(`${this.at.url}${path}`, {
      ...init,
      headers: authorization === '' ? headers : { authorization, ...headers },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    await this.inbox.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
