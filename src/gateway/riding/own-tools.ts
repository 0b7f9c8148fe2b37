import type { OpenCall, Outgoing } from './carry.ts';
import { param, resultFrame, type Failure, type Request, type Success } from '../../mcp/frames/frame.ts';
import type { GuardedRider } from './guarded.ts';
import { isJson, parsed } from '../../mcp/frames/json.ts';
import { envelopeOf, isStateless } from '../../mcp/frames/protocol.ts';
import type { Awaitable, Connection, OwnTool } from './rider.ts';
import { editedPage, ownToolEdits, OwnNames, profileEdits, toolsIn, type Catalog } from './tools.ts';

/** Sends a tools/list of the gateway to the upstream. Resolves to undefined if the upstream does not answer. */
export type AskForTools = (params: object, like: Request) => Promise<Success | Failure | undefined>;

/**
 * Keeps the gateway's own tools. Adapts tools/list for clients: adds these tools at the end of the last page, and adapts schemas
 * to the profile.
 */
export class OwnTools {
  readonly #rider: GuardedRider | undefined;
  readonly #catalog: Catalog;
  readonly #ask: AskForTools;
  /** The names of the gateway's own tools at each connection. The first use fixes a name. */
  readonly #names = new WeakMap<Connection, OwnNames>();

  /** Without a rider the gateway adds no tools: only the profile changes tools/list. */
  constructor(rider: GuardedRider | undefined, catalog: Catalog, ask: AskForTools) {
    this.#rider = rider;
    this.#catalog = catalog;
    this.#ask = ask;
  }

  /**
   * Returns the gateway's own tool that a call names, if any. For a name that ends with the name of an own tool, first requests
   * the upstream's tools, if they are unknown.
   */
  meant(request: Request, connection: Connection, name: string): Awaitable<string | undefined> {
    const known = this.#rider?.toolsKnown();
    return known === undefined
      ? this.#meant(request, connection, name)
      : known.then(() => this.#meant(request, connection, name));
  }

  #meant(request: Request, connection: Connection, name: string): Awaitable<string | undefined> {
    if (!this.#tools(connection).some((tool) => name.endsWith(tool.name))) return undefined;
    if (this.#catalog.complete) return this.#namesFor(connection).meant(name);
    return this.#askForAll(request).then(() => this.#namesFor(connection).meant(name));
  }

  /**
   * Returns the client's name for one of the gateway's own tools. Before the client's first tools/list, the result may still
   * change.
   */
  nameOf(connection: Connection, tool: string): string {
    return this.#names.get(connection)?.given(tool) ?? tool;
  }

  /** Returns an answer to tools/list, changed for this client. */
  listed(connection: Connection, frame: Success): Awaitable<Buffer> {
    const known = this.#rider?.toolsKnown();
    return known === undefined ? this.#listed(connection, frame) : known.then(() => this.#listed(connection, frame));
  }

  #listed(connection: Connection, frame: Success): Buffer {
    const page = isJson(frame.bytes) ? toolsIn(frame) : undefined;
    if (page === undefined) return frame.bytes;
    this.#catalog.add(page);
    const own = page.cursor === undefined ? this.#tools(connection) : [];
    const edits = profileEdits(page, connection.profile);
    if (own.length > 0) edits.push(...ownToolEdits(page, own, this.#namesFor(connection)));
    return editedPage(page, edits);
  }

  #tools(connection: Connection): readonly OwnTool[] {
    return this.#rider?.tools(connection) ?? [];
  }

  #namesFor(connection: Connection): OwnNames {
    let names = this.#names.get(connection);
    if (names === undefined) {
      names = new OwnNames(this.#tools(connection), this.#catalog);
      this.#names.set(connection, names);
    }
    return names;
  }

  async #askForAll(like: Request): Promise<void> {
    const meta = envelopeOf(like);
    let cursor: string | undefined;
    do {
      const params = { ...(cursor !== undefined && { cursor }), ...(meta && { _meta: meta }) };
      const answer = await this.#ask(params, like);
      const page = answer?.kind === 'success' ? toolsIn(answer) : undefined;
      if (page === undefined) return;
      this.#catalog.add(page);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
}

/**
 * An overtaken answer is made again at most this often. A newer state that was withdrawn after it left overtakes every answer.
 */
const REMADE = 3;

/**
 * Calls one of the gateway's own tools and sends the answer, or undefined if the client has cancelled the call. An answer that is
 * overtaken is released and made again. `send` must write the answer at once, so that no other text leaves in between.
 */
export async function answerOwn(
  rider: GuardedRider,
  request: Request,
  { call, tool }: { readonly call: OpenCall; readonly tool: string },
  send: (out: Outgoing | undefined) => void,
): Promise<void> {
  const at = param(request, 'arguments');
  const args = at ? parsed(request.bytes, at) : {};
  let answer = await rider.callTool(call.connection, { tool, args, requestId: request.id });
  for (let tries = 0; tries < REMADE && !call.cancelled && answer.again !== undefined && answer.departure?.isOvertaken; tries++) {
    answer.release('late');
    answer = await answer.again();
  }
  if (call.cancelled) {
    answer.release('cancelled');
    return send(undefined);
  }
  answer.departure?.leave();
  const result = isStateless(request) ? { resultType: 'complete', ...answer.result } : answer.result;
  send({ bytes: resultFrame(request.id, result), requestId: request.id, delivery: answer });
}
