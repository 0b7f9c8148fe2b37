/** Combines the gateway's own tools with the tools of several servers: names, one tools/list, and calls. */
import { param, type Request } from '../../mcp/frames/frame.ts';
import { INVALID_PARAMS, isStateless, toolOf } from '../../mcp/frames/protocol.ts';
import type { OpenCall, Outgoing } from '../riding/carry.ts';
import type { GuardedRider } from '../riding/guarded.ts';
import { answerOwn } from '../riding/own-tools.ts';
import type { Connection, OwnTool } from '../riding/rider.ts';
import { OwnNames } from '../riding/tools.ts';
import { LISTS, type ListMethod, type Lists } from './lists.ts';
import { Refusal } from './refusal.ts';

export type CatalogOptions = {
  readonly rider: GuardedRider;
  readonly lists: Lists;
  readonly connection: () => Connection;
  /** Whether a name belongs to a server. */
  readonly taken: (name: string) => boolean;
  readonly toClient: (out: Outgoing) => void;
};

export class SharedCatalog {
  readonly #options: CatalogOptions;
  readonly #calls = new Map<string, OpenCall>();
  #names: OwnNames | undefined;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  /** The number of running calls of the gateway's own tools. */
  get waiting(): number {
    return this.#calls.size;
  }

  /** Returns the client's name for one of the gateway's own tools. */
  nameOf(tool: string): string {
    return this.#names?.given(tool) ?? tool;
  }

  /** Drops the answer to a call that the client cancelled. */
  cancel(id: string): void {
    const call = this.#calls.get(id);
    if (call) call.cancelled = true;
  }

  /** Answers a list with one page: the entries of all ready servers, and in tools/list also the gateway's own tools. */
  async list(frame: Request, method: ListMethod): Promise<void> {
    if (param(frame, 'cursor')) throw new Refusal(INVALID_PARAMS, `${method} has only one page; leave cursor out`);
    const entries = await this.#options.lists.all(frame, method);
    if (method === 'tools/list') await this.#options.rider.toolsKnown();
    if (method === 'tools/list')
      for (const tool of this.#ownTools()) if (!tool.hidden) entries.push(JSON.stringify(this.#ownNames().listed(tool)));
    const more = isStateless(frame) ? ',"resultType":"complete","ttlMs":0,"cacheScope":"private"' : '';
    const { list } = LISTS[method];
    this.#options.toClient({
      bytes: Buffer.from(`{"jsonrpc":"2.0","id":${frame.id},"result":{"${list}":[${entries.join(',')}]${more}}}\n`),
    });
  }

  /** Returns the gateway's own tool that a call names. Undefined if the call names a server's tool. */
  meant(frame: Request): string | undefined {
    const name = toolOf(frame);
    return name === undefined ? undefined : this.#ownNames().meant(name);
  }

  /** Answers the call of one of the gateway's own tools. */
  async call(frame: Request, own: string): Promise<void> {
    const call: OpenCall = {
      server: 'earpiece',
      tool: own,
      requestId: frame.id,
      connection: this.#options.rider.callerOf(this.#options.connection(), frame),
      cancelled: false,
    };
    this.#calls.set(frame.id, call);
    await answerOwn(this.#options.rider, frame, { call, tool: own }, (out) => {
      this.#calls.delete(frame.id);
      if (out) this.#options.toClient(out);
    });
  }

  #ownTools(): readonly OwnTool[] {
    return this.#options.rider.tools(this.#options.connection());
  }

  #ownNames(): OwnNames {
    return (this.#names ??= new OwnNames(this.#ownTools(), { has: (name) => this.#options.taken(name) }));
  }
}
