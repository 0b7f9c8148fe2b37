/** Holds requests for a server that is being restarted. */
import type { Request } from '../mcp/frames/frame.ts';

export class Held {
  readonly #withinMs: number;
  readonly #late: (request: Request) => void;
  readonly #requests = new Map<string, { readonly request: Request; readonly timer: NodeJS.Timeout }>();

  /** `late` gets each request that waited too long for the server. Such a request is no longer held. */
  constructor(withinMs: number, late: (request: Request) => void) {
    this.#withinMs = withinMs;
    this.#late = late;
  }

  /** Holds a request. A held request with the same id is dropped. */
  hold(request: Request): void {
    this.drop(request.id);
    const timer = setTimeout(() => {
      this.#requests.delete(request.id);
      this.#late(request);
    }, this.#withinMs);
    timer.unref();
    this.#requests.set(request.id, { request, timer });
  }

  get size(): number {
    return this.#requests.size;
  }

  has(id: string): boolean {
    return this.#requests.has(id);
  }

  /** Stops holding one request. Returns false if the request is not held. */
  drop(id: string): boolean {
    clearTimeout(this.#requests.get(id)?.timer);
    return this.#requests.delete(id);
  }

  /** Removes all held requests and returns them in order of arrival. */
  take(): Request[] {
    const held = [...this.#requests.values()];
    this.#requests.clear();
    for (const { timer } of held) clearTimeout(timer);
    return held.map(({ request }) => request);
  }
}
