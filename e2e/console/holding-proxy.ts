/** Runs a proxy between a browser and the server. While the proxy holds, its connections stay open and no bytes pass. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

type Waiting = { readonly wanted: string; readonly done: () => void };

export class HoldingProxy implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #held: (() => void)[] = [];
  readonly #waiting = new Set<Waiting>();
  #holds = false;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async before(server: string): Promise<HoldingProxy> {
    let proxy: HoldingProxy | undefined;
    const listener = createServer((socket) => proxy?.open(socket, Number(new URL(server).port)));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    proxy = new HoldingProxy(listener, `http://127.0.0.1:${(listener.address() as AddressInfo).port}`);
    return proxy;
  }

  hold(): void {
    this.#holds = true;
  }

  release(): void {
    this.#holds = false;
    for (const give of this.#held.splice(0)) give();
  }

  /** Resolves when the browser has sent this request once more, also while the proxy holds. */
  asked(wanted: string): Promise<void> {
    return new Promise((done) => this.#waiting.add({ wanted, done }));
  }

  open(socket: Socket, port: number): void {
    const upstream = connect(port, '127.0.0.1');
    for (const each of [socket, upstream]) {
      this.#sockets.add(each);
      each.on('error', () => undefined);
      each.on('close', () => this.#sockets.delete(each));
    }
    socket.on('close', () => upstream.destroy());
    // The proxy also holds back the end of the connection, because a server closes idle connections.
    upstream.on('close', () => this.#pass(() => socket.destroy()));
    socket.on('data', (bytes) => {
      this.#see(bytes.toString('latin1'));
      this.#pass(() => upstream.write(bytes));
    });
    upstream.on('data', (bytes) => this.#pass(() => socket.write(bytes)));
  }

  #pass(give: () => void): void {
    if (this.#holds) this.#held.push(give);
    else give();
  }

  #see(text: string): void {
    for (const each of this.#waiting) {
      if (!text.includes(each.wanted)) continue;
      this.#waiting.delete(each);
      each.done();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
