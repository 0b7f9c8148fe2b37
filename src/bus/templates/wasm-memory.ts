/** Limits the memory of WebAssembly modules. The module of minijinja has no limit, and a template can request gigabytes. */

type Bytes = ArrayBuffer | ArrayBufferView<ArrayBuffer>;
/** The part of WebAssembly that this file uses. Node's types lack this part. */
declare const WebAssembly: { Module: new (bytes: Bytes) => object };

const PAGE_BYTES = 65_536;
const MEMORY_SECTION = 5;

/** Limits the memory of every module that this thread compiles from now on. Call this function only in a worker thread. */
export function boundMemory(megabytes: number): void {
  const { Module } = WebAssembly;
  WebAssembly.Module = class extends Module {
    constructor(bytes: Bytes) {
      super(withMaximum(bytes, Math.floor((megabytes * 1_048_576) / PAGE_BYTES)));
    }
  };
}

/**
 * Returns the module with a maximum in its memory section. A module that needs more memory than the maximum fails, and the render
 * ends.
 */
export function withMaximum(source: Bytes, pages: number): Uint8Array<ArrayBuffer> {
  const bytes = ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
  let at = 8;
  while (at < bytes.length) {
    const [size, body] = readNumber(bytes, at + 1);
    if (bytes[at] === MEMORY_SECTION) {
      // The section contains the count of memories (one), and the flags and the initial pages of the memory. Existing limits are
      // replaced.
      const [count, flags] = readNumber(bytes, body);
      const [initial] = readNumber(bytes, flags + 1);
      if (count !== 1) throw new Error(`the WebAssembly module must have one memory, got ${count}`);
      const limits = [1, 1, ...numberBytes(initial), ...numberBytes(pages)];
      return joined(
        bytes.subarray(0, at),
        [MEMORY_SECTION, ...numberBytes(limits.length), ...limits],
        bytes.subarray(body + size),
      );
    }
    at = body + size;
  }
  throw new Error('the WebAssembly module must have a memory section');
}

/** Reads an unsigned LEB128 number. Returns the value and the position after the number. */
function readNumber(bytes: Uint8Array, start: number): readonly [value: number, end: number] {
  let value = 0;
  let at = start;
  for (let weight = 1; ; weight *= 128) {
    const byte = bytes[at++] ?? 0;
    value += (byte & 127) * weight;
    if (byte < 128) return [value, at];
  }
}

function numberBytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

function joined(...parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
