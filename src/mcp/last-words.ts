/** How many bytes of a server's stderr are kept, to explain its end. */
const KEEP_BYTES = 8_192;
const MAX_CHARS = 300;

/**
 * The maximum number of bytes that may wait in this process's stderr while the client does not read it. Further output is
 * dropped.
 */
const MAX_WAITING = 1_048_576;

/** Passes a server's stderr on to this process's stderr, and keeps its last 8,192 bytes. */
export class LastWords {
  #tail = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-KEEP_BYTES);
    // If the client has closed its end of stderr, a write must not end this process.
    if (process.stderr.listenerCount('error') === 0) process.stderr.on('error', () => {});
    if (process.stderr.writableLength < MAX_WAITING) process.stderr.write(chunk);
  }

  /** Returns the last informative line, or without such a line the last three lines. Undefined if the server wrote nothing. */
  text(): string | undefined {
    const lines = plain(this.#tail.toString())
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
    const line = lines.findLast((each) => INFORMATIVE.test(each)) ?? lines.slice(-3).join(' / ');
    return line === '' ? undefined : line.slice(0, MAX_CHARS);
  }
}

/** Matches an informative line: `Error: …`, `ModuleNotFoundError: …`, `npm error 404 …`, `fatal: …`. */
const INFORMATIVE = /^(?:[\w.]*(?:Error|Exception)\b.*:|(?:npm )?(?:error|fatal|panic)\b)/i;

/** Removes colours and other control characters from the text. */
const plain = (text: string): string =>
  // oxlint-disable-next-line no-control-regex
  text.replaceAll(/\u001B\[[\d;?]*[ -/]*[@-~]/g, '').replaceAll(/[^\P{C}\n\t]/gu, '');
