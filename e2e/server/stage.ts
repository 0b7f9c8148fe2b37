/** A server of its own for a test: its log, its address, a client for each kind of token. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Client } from '../../src/client/index.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { createServer, type Listening, type Server, type ServerOptions, type TokenRequest } from '../../src/server/index.ts';
import { openStore } from '../../src/stores/index.ts';

export type StageOptions = Partial<Omit<ServerOptions, 'inbox'>> & {
  /** Default: a file in a folder of its own. */
  readonly db?: string;
  readonly policy?: Partial<Policy>;
};

export class Stage implements AsyncDisposable {
  readonly folder: string;
  readonly inbox: Inbox;
  readonly server: Server;
  readonly at: Listening;
  /** What the server reported, and its lines of requests. */
  readonly reported: string[];
  readonly logged: string[];
  /** With an admin token. */
  readonly client: Client;
  readonly token: string;

  private constructor(made: Omit<Stage, 'as' | 'raw' | typeof Symbol.asyncDispose>) {
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
    const { db = join(folder, 'e.db'), policy, ...rest } = options;
    const inbox = new Inbox({
      store: await openStore(db),
      policies: { policy: () => ({ ...DEFAULT_POLICY, ...policy }) },
      timeZone: 'UTC',
    });
    const [reported, logged]: string[][] = [[], []];
    const server = createServer({
      inbox,
      project: 'shop',
      version: '0.0.0',
      report: (line) => reported?.push(line),
      log: (line) => logged?.push(line),
      ...rest,
    });
    const at = await server.listen({ port: 0 });
    const { token } = await server.tokens.create({ kind: 'admin', name: 'tests' });
    const client = createClient({ url: at.url, token });
    return new Stage({ folder, inbox, server, at, reported: reported ?? [], logged: logged ?? [], client, token });
  }

  async as(request: Omit<TokenRequest, 'name'>): Promise<Client & { readonly token: string; readonly tokenId: string }> {
    const { token, id } = await this.server.tokens.create({ name: `a ${request.kind}`, ...request });
    return { ...createClient({ url: this.at.url, token }), token, tokenId: id };
  }

  /** A request as it stands, with the admin's token unless it says otherwise. */
  raw(path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}): Promise<Response> {
    return fetch(`${this.at.url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${this.token}`, ...init.headers },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    await this.inbox.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
