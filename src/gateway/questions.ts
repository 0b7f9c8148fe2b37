/** Sends the gateway's own requests to a server: tools/list, and the repeated handshake and setup of a new process. */
import { editedRequest, frameOf, messageIn, type Failure, type Frame, type Request, type Success } from '../mcp/frames/frame.ts';

/** How long a server may take to answer, if the caller sets no other time. */
const ASK_MS = 2_000;

/** How long a new process may take to answer the repeated handshake. */
const START_MS = 30_000;

/** The prefix of the ids of the gateway's own requests. */
const OURS = '"earpiece-';

/** An answer of the server that was dropped, for example because the answer was too long. */
type Lost = { readonly kind: 'lost'; readonly why: string };

export class Questions {
  readonly #send: (request: Frame, id: string) => void;
  readonly #waiting = new Map<string, (answer: Success | Failure | Lost | undefined) => void>();
  #asked = 0;

  constructor(send: (request: Frame, id: string) => void) {
    this.#send = send;
  }

  get pending(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether the gateway made this id. */
  owns(id: string): boolean {
    return id.startsWith(OURS);
  }

  /** Sends a request. Resolves to the answer, or to undefined after `ASK_MS`, if the answer is lost, or when the server ends. */
  async ask(method: string, params: object): Promise<Success | Failure | undefined> {
    const answer = await this.#put((id) =>
      frameOf(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`)),
    );
    return answer?.kind === 'lost' ? undefined : answer;
  }

  /** Repeats the handshake. Resolves to undefined if the server accepts the handshake, and otherwise to the reason. */
  async handshake(initialize: Request): Promise<string | undefined> {
    const answer = await this.again(initialize, START_MS);
    if (answer === undefined)
      return `the server runs again, but did not answer the repeated handshake within ${START_MS / 1000} s`;
    if (answer.kind === 'lost') return `the server runs again, but its answer to the repeated handshake was lost: ${answer.why}`;
    return answer.kind === 'failure'
      ? `the server runs again, but refused the repeated handshake: ${messageIn(answer)}`
      : undefined;
  }

  /** Sends the client's request again, under an id of the gateway. */
  again(request: Request, withinMs?: number): Promise<Success | Failure | Lost | undefined> {
    return this.#put((id) => editedRequest(request, [{ at: request.idAt, put: id }]), withinMs);
  }

  /** Handles an answer of the server. Returns false if no request of the gateway waits for this answer. */
  answered(frame: Success | Failure): boolean {
    return this.#settle(frame.id, frame);
  }

  /** Ends the wait for the answer to this request. */
  lost(id: string, why: string): void {
    this.#settle(id, { kind: 'lost', why });
  }

  /** Ends the wait for all answers, because the server has ended. */
  allLost(): void {
    for (const id of this.#waiting.keys()) this.#settle(id, undefined);
  }

  #settle(id: string, answer: Success | Failure | Lost | undefined): boolean {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.(answer);
    return waiting !== undefined;
  }

  #put(request: (id: string) => Frame, withinMs: number = ASK_MS): Promise<Success | Failure | Lost | undefined> {
    this.#asked += 1;
    const id = `${OURS}${this.#asked}"`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(id, undefined), withinMs);
      timer.unref();
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#send(request(id), id);
    });
  }
}
