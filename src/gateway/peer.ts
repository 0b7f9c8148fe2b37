import type { Outgoing } from './riding/carry.ts';
import { frameOf, soundFrameOf, type Failure, type Frame, type Success } from './frames/frame.ts';
import type { GuardedRider } from './riding/guarded.ts';
import { stringAt, textOf, valueAt } from './frames/json.ts';
import { LEGACY_VERSION } from './frames/protocol.ts';
import type { Connection } from './riding/rider.ts';
import { Session } from './session.ts';
import { Settling } from './riding/settling.ts';
import type { StopOptions } from './link.ts';
import { Catalog } from './riding/tools.ts';
import type { Upstream } from './upstream.ts';

/** What a client said of itself, for the handshake with each server. `meta` is its envelope, when it is a stateless one. */
export type Introduction = { readonly initialize: object; readonly meta: object; readonly stateless: boolean };

export type Generation = 'legacy' | 'stateless';

export type PeerOptions = {
  readonly upstream: Upstream;
  readonly rider: GuardedRider;
  readonly connection: () => Connection;
  readonly report: (line: string) => void;
  /** What the server sends to the client: answers to its requests, and frames of its own. False: not so fast. */
  readonly toClient: (out: Outgoing, frame: Frame) => boolean;
  readonly pause: () => void;
  readonly resume: () => void;
};

/** Ids of requests that a peer makes itself. */
const OURS = '"earpiece-peer-';

/**
 * One of several servers. Its handshake is ours, made with what the client said of itself: in the client's generation if
 * the server knows it, else in the other one. What rides, the gate and restarts are a session's, as with a single server.
 *
 * new → `start` → starting → ready (in a generation) or failed.
 */
export class Peer {
  readonly name: string;
  readonly #options: PeerOptions;
  readonly #session: Session;
  readonly #asked = new Map<string, (frame: Success | Failure | undefined) => void>();
  #starting: Promise<boolean> | undefined;
  #count = 0;
  generation: Generation | undefined;
  capabilities: Readonly<Record<string, unknown>> = {};
  instructions: string | undefined;

  constructor(options: PeerOptions) {
    this.name = options.upstream.name;
    this.#options = options;
    this.#session = new Session({
      upstream: options.upstream,
      rider: options.rider,
      report: options.report,
      catalog: new Catalog(),
      key: options.upstream.name,
      settling: new Settling(), // The one that counts is the client's.
      partOf: { connection: options.connection },
      channel: {
        send: (out) => this.#received(out),
        pause: options.pause,
        resume: options.resume,
        gone: () => {
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

  /** The handshake. True when the server can be used. */
  async start(who: Introduction): Promise<boolean> {
    this.#starting ??= this.#shakeHands(who);
    const ready = await this.#starting;
    if (!ready) this.#starting = undefined;
    return ready;
  }

  /** A server that was not there may be there later; a process that ended before it said a word will not start again. */
  get worthAnotherTry(): boolean {
    return this.#options.upstream.kind === 'http' && !this.ready;
  }

  /** A request of our own. Undefined when the server is gone. */
  ask(method: string, params: object): Promise<Success | Failure | undefined> {
    const id = this.newId();
    const answer = new Promise<Success | Failure | undefined>((resolve) => void this.#asked.set(id, resolve));
    this.send(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`));
    return answer;
  }

  newId(): string {
    this.#count += 1;
    return `${OURS}${this.#count}"`;
  }

  /** A frame from the client, or one of ours to the server. */
  send(bytes: Buffer): void {
    this.#session.fromClient(frameOf(bytes));
  }

  abandon(requestId: string): void {
    this.#session.abandon(requestId);
  }

  continue(): void {
    this.#session.resume();
  }

  close(options?: StopOptions): Promise<void> {
    return this.#session.close(options);
  }

  async #shakeHands(who: Introduction): Promise<boolean> {
    const order: readonly Generation[] = who.stateless ? ['stateless', 'legacy'] : ['legacy', 'stateless'];
    let why = 'it ended';
    for (const generation of order) {
      const answer =
        generation === 'legacy'
          ? await this.ask('initialize', who.initialize)
          : await this.ask('server/discover', { _meta: who.meta });
      if (answer === undefined) break;
      if (answer.kind === 'failure') {
        why = stringAt(answer.bytes, valueAt(answer.bytes, answer.error.start, ['message'])) ?? why;
        continue;
      }
      const result = JSON.parse(textOf(answer.bytes, answer.result)) as {
        capabilities?: Record<string, unknown>;
        instructions?: string;
      };
      this.capabilities = result.capabilities ?? {};
      this.instructions = result.instructions;
      if (generation === 'legacy') this.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'));
      this.generation = generation;
      return true;
    }
    this.#options.report(`MCP server "${this.name}" cannot be used: ${why}`);
    return false;
  }

  #received(out: Outgoing): boolean {
    const frame = soundFrameOf(out.bytes);
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

/** What we say when we stand for a stateless client before a server of the older generation: nothing that it could ask for. */
export function legacyIntroduction(clientInfo: unknown): object {
  return { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo };
}
