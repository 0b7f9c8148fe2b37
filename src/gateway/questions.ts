/** The gateway's own requests to a server: tools/list, and the repeated handshake and setup of a new process. */
import { editedRequest, frameOf, messageIn, type Failure, type Frame, type Request, type Success } from '../mcp/frames/frame.ts';

/** How long a server may take to answer, if the caller sets no other time. */
const ASK_MS = 2_000;

/** How long a new process may take to answer the repeated handshake. */
const START_MS = 30_000;

/** The prefix of the ids of the gateway's own requests. */
const OURS = '"earpiece-';

export class Questions {
  readonly #send: (request: Frame, id: string) => void;
  readonly #waiting = new Map<string, (answer: Success | Failure | undefined) => void>();
  #asked = 0;

  /** `send` sends a request to the server. */
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

  /** Sends a request. Resolves to the answer, or to undefined after `ASK_MS` or when the server ends. */
  ask(method: string, params: object): Promise<Success | Failure | undefined> {
    return this.#put((id) =>
      frameOf(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`)),
    );
  }

  /** Repeats the handshake. Resolves to the reason why the server did not accept it, or to undefined if the server accepted it. */
  async handshake(initialize: Request): Promise<string | undefined> {
    const answer = await this.again(initialize, START_MS);
    if (answer === undefined) return `it runs again, but did not answer the repeated handshake within ${START_MS / 1000} s`;
    return answer.kind === 'failure' ? `it runs again, but refused the repeated handshake: ${messageIn(answer)}` : undefined;
  }

  /** Sends the client's request again, under an id of the gateway. */
  again(request: Request, withinMs?: number): Promise<Success | Failure | undefined> {
    return this.#put((id) => editedRequest(request, [{ at: request.idAt, put: id }]), withinMs);
  }

  /** Handles an answer of the server. Returns false if no request of the gateway waits for this answer. */
  answered(frame: Success | Failure): boolean {
    const waiting = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    waiting?.(frame);
    return waiting !== undefined;
  }

  /** Ends the wait for the answer to this request. Without an id, ends the wait for all answers. */
  lost(id?: string): void {
    for (const [each, waiting] of id === undefined ? [...this.#waiting] : [[id, this.#waiting.get(id)] as const]) {
      this.#waiting.delete(each);
      waiting?.(undefined);
    }
  }

  #put(request: (id: string) => Frame, withinMs: number = ASK_MS): Promise<Success | Failure | undefined> {
    this.#asked += 1;
    const id = `${OURS}${this.#asked}"`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.lost(id), withinMs);
      timer.unref();
      this.#waiting.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#send(request(id), id);
    });
  }
}
