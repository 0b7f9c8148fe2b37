import { setTimeout as sleep } from 'node:timers/promises';

import type { Outgoing } from './riding/carry.ts';
import { frameOf, sound, type Failure, type Frame, type Success } from '../mcp/frames/frame.ts';
import type { GuardedRider } from './riding/guarded.ts';
import { parsed, stringAt, valueAt } from '../mcp/frames/json.ts';
import { isWelcome, type Generation } from '../mcp/handshake.ts';
import type { StopOptions } from '../mcp/link.ts';
import type { Connection, UpstreamEvent } from './riding/rider.ts';
import { Session } from './session.ts';
import { Settling } from './riding/settling.ts';
import type { MakeLink } from '../mcp/links.ts';
import type { Introduction } from './several/introduction.ts';
import { Catalog } from './riding/tools.ts';
import type { Upstream } from '../mcp/upstream.ts';

export type PeerOptions = {
  readonly upstream: Upstream;
  readonly link: MakeLink;
  readonly rider: GuardedRider;
  readonly connection: () => Connection;
  /** How long the server may take to start and to answer `server/discover`, in milliseconds. */
  readonly discoverMs: number;
  readonly report: (line: string) => void;
  /** Gets an event when the server disconnects, reconnects, fails or starts to work. */
  readonly tell: (event: UpstreamEvent) => void;
  /** Passes the server's frames to the client. Returns false if the client does not read fast enough. */
  readonly toClient: (out: Outgoing, frame: Frame) => boolean;
  readonly pause: () => void;
  readonly resume: () => void;
};

/** The prefix of the ids of a peer's own requests. */
const OURS = '"earpiece-peer-';

/**
 * One of several servers of a gateway. The gateway makes the handshake with the server in the client's name. The handshake uses
 * the client's protocol generation if the server knows that generation, otherwise the other generation. A `Session` handles
 * notifications, the gate and restarts, as with a single server.
 *
 * States: new → `start` → starting → ready (in one generation) or failed.
 */
export class Peer {
  readonly name: string;
  readonly #options: PeerOptions;
  readonly #session: Session;
  readonly #asked = new Map<string, (frame: Success | Failure | undefined) => void>();
  #starting: Promise<boolean> | undefined;
  #count = 0;
  #gone = false;
  /** The reason why the server cannot be used, if known. */
  #why: string | undefined;
  generation: Generation | undefined;
  capabilities: Readonly<Record<string, unknown>> = {};
  instructions: string | undefined;

  constructor(options: PeerOptions) {
    this.name = options.upstream.name;
    this.#options = options;
    this.#session = new Session({
      upstream: options.upstream,
      link: options.link,
      rider: options.rider,
      report: options.report,
      tell: (event) => {
        if (!this.ready && event.state !== 'reconnected') this.#why = event.detail;
        // A restarted server cannot be used before its handshake, so its `reconnected` is not reported.
        if (this.ready || event.state !== 'reconnected') options.tell(event);
      },
      catalog: new Catalog(),
      key: options.upstream.name,
      settling: new Settling(), // This `Settling` stays empty, because the client's own channel settles deliveries.
      partOf: { connection: options.connection },
      channel: {
        send: (out) => this.#received(out),
        pause: options.pause,
        resume: options.resume,
        ended: () => {
          this.#gone = true;
          for (const answer of this.#asked.values()) answer(undefined);
          this.#asked.clear();
        },
      },
    });
  }

  get ready(): boolean {
    return this.generation !== undefined;
  }

  can(capability: string): boolean {
    return this.capabilities[capability] !== undefined;
  }

  run(): void {
    this.#session.start();
  }

  /** Makes the handshake. Resolves to true if the server can be used. */
  async start(who: Introduction): Promise<boolean> {
    this.#starting ??= this.#shakeHands(who);
    const ready = await this.#starting;
    if (!ready) this.#starting = undefined;
    return ready;
  }

  /**
   * Whether the server may still become ready. An unreachable server may become reachable later. A process that ended before its
   * first message does not start again.
   */
  get mayCome(): boolean {
    return !this.#gone;
  }

  /** The error text for a call while this server cannot be used. */
  get trouble(): string {
    return this.#why === undefined
      ? `The MCP server "${this.name}" has not started yet. Try again later.`
      : `The MCP server "${this.name}" does not work: ${this.#why}.`;
  }

  /** Sends a request from the gateway and resolves to the answer, or to undefined if the server has ended. */
  ask(method: string, params: object): Promise<Success | Failure | undefined> {
    const id = this.newId();
    const answer = new Promise<Success | Failure | undefined>((resolve) => void this.#asked.set(id, resolve));
    this.sendBytes(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`));
    return answer;
  }

  /** Sets the server's log level, if the server has the older generation and supports logging. */
  logAt(level: string): void {
    if (this.generation === 'legacy' && this.can('logging')) void this.ask('logging/setLevel', { level });
  }

  newId(): string {
    this.#count += 1;
    return `${OURS}${this.#count}"`;
  }

  /** Sends the server a frame from the client or from the gateway. */
  send(frame: Frame): void {
    this.#session.fromClient(frame);
  }

  sendBytes(bytes: Buffer): void {
    this.send(frameOf(bytes));
  }

  abandon(requestId: string): void {
    this.#session.abandon(requestId);
  }

  continue(): void {
    this.#session.resume();
  }

  get holding(): boolean {
    return this.#session.holding;
  }

  clientEnded(): void {
    this.#session.clientEnded();
  }

  close(options?: StopOptions): Promise<void> {
    return this.#session.close(options);
  }

  async #shakeHands(who: Introduction): Promise<boolean> {
    const order: readonly Generation[] = who.stateless ? ['stateless', 'legacy'] : ['legacy', 'stateless'];
    let why: string | undefined;
    for (const generation of order) {
      const answer = await this.#greet(generation, who);
      if (this.#gone) break;
      if (answer === undefined) continue;
      if (answer.kind === 'failure') {
        why =
          stringAt(answer.bytes, valueAt(answer.bytes, answer.error.start, ['message'])) ?? 'the server refused the handshake';
        continue;
      }
      const result = parsed(answer.bytes, answer.result);
      if (!isWelcome(generation, result)) {
        why ??= `the server answered ${generation === 'legacy' ? 'initialize' : 'server/discover'} with an unexpected result`;
        continue;
      }
      this.capabilities = result.capabilities ?? {};
      this.instructions = typeof result.instructions === 'string' ? result.instructions : undefined;
      if (generation === 'legacy') this.sendBytes(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'));
      this.generation = generation;
      this.#why = undefined;
      this.#options.tell({ server: this.name, state: 'started', detail: 'its tools are available now' });
      return true;
    }
    // A link that ended has already reported the reason.
    if (!this.#gone && why !== undefined && why !== this.#why) this.#fail(why);
    return false;
  }

  async #greet(generation: Generation, who: Introduction): Promise<Success | Failure | undefined> {
    if (generation === 'legacy') return this.ask('initialize', who.initialize);
    const late = new AbortController();
    const asked = this.ask('server/discover', { _meta: who.meta });
    const tooLong = sleep(this.#options.discoverMs, undefined, { signal: late.signal }).catch(() => undefined);
    const answer = await Promise.race([asked, tooLong]);
    late.abort();
    return answer;
  }

  #fail(why: string): void {
    this.#why = why;
    this.#options.report(`MCP server "${this.name}" cannot be used: ${why}`);
    this.#options.tell({ server: this.name, state: 'failed', detail: why });
  }

  #received(out: Outgoing): boolean {
    const frame = sound(out.frame ?? frameOf(out.bytes));
    if (frame.kind === 'success' || frame.kind === 'failure') {
      const asked = this.#asked.get(frame.id);
      if (asked) {
        this.#asked.delete(frame.id);
        asked(frame);
        return true;
      }
      if (frame.id.startsWith(OURS)) return true;
    }
    return this.#options.toClient(out, frame);
  }
}
