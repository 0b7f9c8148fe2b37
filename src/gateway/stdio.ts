import type { Readable, Writable } from 'node:stream';

import type { Outgoing } from './riding/carry.ts';
import { frameOf, wholeLine, type Frame } from '../mcp/frames/frame.ts';
import { LineReader } from '../mcp/frames/framing.ts';
import { reasonOf } from './riding/guarded.ts';
import type { Settling } from './riding/settling.ts';

export type StdioStreams = { readonly input: Readable; readonly output: Writable };

export type StdioClientEvents = {
  readonly frame: (frame: Frame) => void;
  readonly tooLong: (frame: { readonly bytes: number; readonly head: Buffer; readonly tail: Buffer }) => void;
  /** Called when the client has closed its end of a pipe, or a pipe has failed. */
  readonly end: (why: string) => void;
  /** Called when the output accepts more again, after `send` returned false. */
  readonly drain: () => void;
};

/** The client at the other end of the gateway's stdin and stdout. */
export class StdioClient {
  readonly #streams: StdioStreams;
  readonly #settling: Settling;
  readonly #events: StdioClientEvents;
  /** The frames since the last write. The next microtask sends these frames with one write. */
  #batch: Outgoing[] = [];
  #ended = false;
  #broken = false;

  constructor(streams: StdioStreams, settling: Settling, events: StdioClientEvents) {
    this.#streams = streams;
    this.#settling = settling;
    this.#events = events;
  }

  start(): void {
    const { input, output } = this.#streams;
    const lines = new LineReader({
      line: (bytes) => {
        const line = wholeLine(bytes);
        if (line !== undefined) this.#events.frame(frameOf(line));
      },
      tooLong: this.#events.tooLong,
    });
    output.on('error', (error) => {
      this.#broken = true;
      this.#end(`stdout: ${reasonOf(error)}`);
    });
    output.on('drain', () => this.#events.drain());
    input.on('data', (chunk: Buffer) => lines.push(chunk));
    input.on('error', (error) => this.#end(`stdin: ${reasonOf(error)}`));
    input.on('end', () => {
      lines.end();
      this.#end('stdin ended');
    });
  }

  /** Whether the client may read more, as far as this end of the pipe knows. */
  get reads(): boolean {
    return !this.#broken;
  }

  /**
   * Sends a frame to the client. Returns false if the client does not read fast enough. `drain` is called when the client reads
   * again.
   */
  send(out: Outgoing): boolean {
    if (out.delivery && out.requestId !== undefined) this.#settling.begin(out.requestId, out.delivery);
    this.#batch.push(out);
    if (this.#batch.length === 1) queueMicrotask(() => this.flush());
    return !this.#streams.output.writableNeedDrain;
  }

  flush(): void {
    const batch = this.#batch;
    if (batch.length === 0) return;
    this.#batch = [];
    const settles = batch.flatMap(({ requestId, delivery }) =>
      requestId !== undefined && delivery ? [{ requestId, delivery }] : [],
    );
    const bytes = batch.length === 1 ? batch[0]!.bytes : Buffer.concat(batch.map((out) => out.bytes));
    if (settles.length === 0) {
      this.#streams.output.write(bytes);
      return;
    }
    this.#streams.output.write(bytes, (error) => {
      for (const { requestId, delivery } of settles) {
        if (error) this.#settling.failed(requestId, delivery);
        else this.#settling.written(requestId, delivery);
      }
    });
  }

  pause(): void {
    this.#streams.input.pause();
  }

  resume(): void {
    this.#streams.input.resume();
  }

  close(): void {
    this.flush();
    this.#ended = true;
    this.#streams.input.pause();
    this.#streams.input.removeAllListeners('data');
  }

  #end(why: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#events.end(why);
  }
}
