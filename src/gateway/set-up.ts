/** Records the setup requests that a client sent to its server. A new process of the server gets these requests again. */
import { param, type Note, type Request } from '../mcp/frames/frame.ts';
import { stringAt } from '../mcp/frames/json.ts';

export class SetUp {
  initialize: Request | undefined;
  initialized: Note | undefined;
  #logging: Request | undefined;
  readonly #subscribed = new Map<string, Request>();

  /** Records a request that the server has answered with a result. */
  accepted(request: Request): void {
    switch (request.method) {
      case 'initialize':
        this.initialize = request;
        return;
      case 'logging/setLevel':
        this.#logging = request;
        return;
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        const uri = stringAt(request.bytes, param(request, 'uri'));
        if (uri === undefined) return;
        if (request.method === 'resources/subscribe') this.#subscribed.set(uri, request);
        else this.#subscribed.delete(uri);
        return;
      }
      default:
    }
  }

  /** The requests to repeat after the handshake. */
  get requests(): readonly Request[] {
    return [...(this.#logging ? [this.#logging] : []), ...this.#subscribed.values()];
  }
}
