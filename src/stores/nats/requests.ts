/**
 * Sends requests over one subscription. Each of the driver's own requests makes a timer and an error object. Both cost a fifth of
 * the client's time for a notification.
 */
import type { Msg, MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { Late } from '../insist.ts';
import type { Driver } from './driver.ts';

type Waiting = {
  readonly subject: string;
  readonly deadline: number;
  readonly resolve: (answer: Msg) => void;
  readonly reject: (error: Error) => void;
};

/** The code of an answer that the server itself sends, because nobody listens on the subject. */
const NOBODY = 503;

export class Requests {
  readonly #nc: NatsConnection;
  readonly #createInbox: Driver['createInbox'];
  readonly #withinMs: number;
  /** The requests without an answer, by their tokens, oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  #inbox: string | undefined;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(nc: NatsConnection, { createInbox }: Pick<Driver, 'createInbox'>, withinMs: number) {
    this.#nc = nc;
    this.#createInbox = createInbox;
    this.#withinMs = withinMs;
    void this.#watch();
  }

  /**
   * Sends a message and returns the answer. Rejects if nobody listens on the subject, or if the server refuses the subject to
   * this user. Also rejects if no answer arrives in time, or if the connection is closed.
   */
  send(subject: string, data: Uint8Array | string, headers?: MsgHdrs): Promise<Msg> {
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    const token = (this.#count++).toString(36);
    const reply = `${this.#open()}.${token}`;
    this.#nc.publish(subject, data, headers === undefined ? { reply } : { reply, headers });
    this.#waiting.set(token, { subject, deadline: performance.now() + this.#withinMs, resolve, reject });
    this.#timer ??= setTimeout(() => this.#expire(), this.#withinMs);
    return promise;
  }

  #open(): string {
    if (this.#inbox !== undefined) return this.#inbox;
    const inbox = this.#createInbox();
    this.#nc.subscribe(`${inbox}.*`, {
      callback: (error, answer) => {
        if (error === null) this.#answered(answer.subject.slice(inbox.length + 1), answer);
        else this.#refuse(error, () => true);
      },
    });
    this.#inbox = inbox;
    return inbox;
  }

  #answered(token: string, answer: Msg): void {
    const waiting = this.#waiting.get(token);
    if (waiting === undefined) return;
    this.#waiting.delete(token);
    if (answer.headers?.code === NOBODY && answer.data.length === 0) {
      const { subject } = waiting;
      waiting.reject(Object.assign(new Error(`no responders: '${subject}'`), { name: 'NoRespondersError' }));
    } else waiting.resolve(answer);
  }

  /** Rejects the requests whose time limit is reached. */
  #expire(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [token, { deadline, reject }] of this.#waiting) {
      if (deadline > now) {
        this.#timer = setTimeout(() => this.#expire(), deadline - now);
        return;
      }
      this.#waiting.delete(token);
      reject(new Late('timeout'));
    }
  }

  #refuse(error: Error, isRefused: (waiting: Waiting) => boolean): void {
    for (const [token, waiting] of this.#waiting)
      if (isRefused(waiting)) {
        this.#waiting.delete(token);
        waiting.reject(error);
      }
  }

  /** Rejects requests that the server refuses, and all requests after the end of the connection. */
  async #watch(): Promise<void> {
    for await (const status of this.#nc.status()) {
      if (status.type !== 'error') continue;
      const { subject } = status.error as { readonly subject?: string };
      if (status.error.name !== 'PermissionViolationError') continue;
      // A subscription without permission has ended, so the next request subscribes again.
      if (this.#inbox !== undefined && subject === `${this.#inbox}.*`) this.#inbox = undefined;
      this.#refuse(status.error, (waiting) => waiting.subject === subject);
    }
    clearTimeout(this.#timer);
    this.#refuse(new Late('the connection was closed'), () => true);
  }
}
