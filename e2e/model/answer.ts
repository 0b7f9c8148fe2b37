/** The scripted model's answer, independent of any API. Each `Wire` converts the answer to the stream of one API. */
import type { JsonObject } from './json.ts';

export type Part =
  /**
   * Reasoning, signed by default: with a signature, an encrypted item or a thought signature, depending on the API. OpenAI chat
   * has unsigned reasoning only.
   */
  | { readonly kind: 'reasoning'; readonly text: string; readonly signed?: false }
  | { readonly kind: 'text'; readonly text: string }
  /** In an answer that ends with `length`, `cut` is the received part of the arguments. */
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly args?: JsonObject; readonly cut?: string };

export type Answer = readonly Part[];

/**
 * One write to the socket, or none if `sse` is empty. The chunks of a text and of reasoning are its words, counted from 0, and
 * then its end. The chunks of a call are its name, the two halves of its arguments, and then its end.
 */
export type Chunk = { readonly part: number; readonly delta: number | 'end'; readonly sse: string };

/** The end of an answer. By default, the parts of the answer determine the end. */
export type Ending = 'length' | 'refusal' | 'error';

/** Converts an answer to the stream of one API. `n` makes its ids unique. */
export type Wire = (answer: Answer, n: number, ending?: Ending) => readonly Chunk[];

export const wordsOf = (text: string): readonly string[] => text.split(/(?<= )/);

/** Splits the arguments of a call into two pieces, so that the answer can be cut off between them. */
export function halvesOf({ args, cut }: { args?: JsonObject; cut?: string }): readonly [string, string] {
  const text = cut ?? JSON.stringify(args ?? {});
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)];
}

export const event = (data: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;

/**
 * Joins the chunks of all parts to the whole stream. The part -1 is before the first token, and the part `answer.length` after
 * the last token.
 */
export function chunked(
  answer: Answer,
  { start, end, part }: { start: string; end: string; part: (part: Part, at: number) => readonly string[] },
): readonly Chunk[] {
  return [
    { part: -1, delta: 0, sse: start },
    ...answer.flatMap((said, at) => {
      const pieces = part(said, at);
      return pieces.map((sse, i): Chunk => ({ part: at, delta: i === pieces.length - 1 ? 'end' : i, sse }));
    }),
    { part: answer.length, delta: 0, sse: end },
  ];
}
