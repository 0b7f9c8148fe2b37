/**
 * Keeps the bytes of a file, and compresses them in an encoding that the client accepts. Each compressed copy is made once, when
 * the first client requests it.
 */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

type Bytes = Uint8Array<ArrayBuffer>;
type Encoding = 'br' | 'gzip';

/** The types that are compressed. Images and fonts are compressed already. */
const COMPRESSIBLE = /^(?:text\/|application\/(?:json|manifest\+json)|image\/svg)/u;
const LEAST_BYTES = 1_024;

export class Encoded {
  readonly #plain: Bytes;
  readonly #made = new Map<Encoding, Bytes>();
  /** Whether the file is compressed for clients that accept a compression. */
  readonly squeezes: boolean;

  constructor(bytes: Uint8Array, type: string) {
    this.#plain = new Uint8Array(bytes);
    this.squeezes = COMPRESSIBLE.test(type) && bytes.length >= LEAST_BYTES;
  }

  /** Returns the bytes for a request's `Accept-Encoding`. */
  in(accepts: string): { readonly bytes: Bytes; readonly encoding?: Encoding } {
    const encoding = this.squeezes ? (['br', 'gzip'] as const).find((each) => accepted(accepts, each)) : undefined;
    if (encoding === undefined) return { bytes: this.#plain };
    const known = this.#made.get(encoding);
    if (known !== undefined) return { bytes: known, encoding };
    const bytes = new Uint8Array(
      encoding === 'br'
        ? brotliCompressSync(this.#plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } })
        : gzipSync(this.#plain, { level: 9 }),
    );
    this.#made.set(encoding, bytes);
    return { bytes, encoding };
  }
}

/**
 * Whether the client accepts an encoding. `gzip;q=0` is a refusal. `*` accepts every encoding that the header does not refuse.
 */
function accepted(accepts: string, encoding: Encoding): boolean {
  const weights = new Map(
    accepts.split(',').map((part) => {
      const [name = '', ...params] = part.split(';').map((text) => text.trim().toLowerCase());
      const q = params.find((param) => param.startsWith('q='));
      return [name, q === undefined ? 1 : Number(q.slice(2))] as const;
    }),
  );
  return (weights.get(encoding) ?? weights.get('*') ?? 0) > 0;
}
