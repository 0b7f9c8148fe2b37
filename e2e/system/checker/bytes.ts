/** Compares a tool result that a client received with the bytes of the wrapped server. */

/** The parts of a JSON-RPC tool result that the checker reads. */
type Answer = {
  readonly result?: {
    readonly content?: readonly { readonly type?: string; readonly text?: string }[];
    readonly isError?: boolean;
    readonly structuredContent?: Record<string, unknown>;
  };
  readonly error?: { readonly message?: string };
};

export const parsed = (line: string): Answer => JSON.parse(line) as Answer;

/** Matches a frame up to its id, which differs on the two sides of a gateway with several servers. */
const ID = /^(\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*)(?:"[^"]*"|-?\d+)/;

export type Compared = {
  /** The text of the last block, if the client's frame has one block more than the server's. */
  readonly text?: string;
  readonly altered?: string;
};

/**
 * Removes the gateway's block and `_notices` from the client's frame. Apart from the id, the result must be the server's frame,
 * byte for byte.
 */
export function compare(client: string, server: string): Compared {
  const bare = (line: string): string => line.replace(ID, '$1#');
  const [got, sent] = [bare(client), bare(server)];
  if (got === sent) return {};
  const blocks = parsed(client).result?.content ?? [];
  const theirs = parsed(server).result?.content ?? [];
  const text = blocks.at(-1)?.text;
  if (blocks.length !== theirs.length + 1 || text === undefined) return { altered: differenceOf(got, sent) };
  const block = `{"type":"text","text":${JSON.stringify(text)}}`;
  const notices = `"_notices":${JSON.stringify(text)}`;
  const rest = without(without(got, block), notices);
  return rest === sent ? { text } : { text, altered: differenceOf(rest, sent) };
}

/** Returns the text without the last occurrence of `part` and without the comma that joins it to its neighbours. */
function without(text: string, part: string): string {
  const at = text.lastIndexOf(part);
  if (at < 0) return text;
  const before = text.slice(0, at);
  const after = text.slice(at + part.length);
  return before.endsWith(',') ? before.slice(0, -1) + after : after.startsWith(',') ? before + after.slice(1) : before + after;
}

function differenceOf(got: string, sent: string): string {
  let at = 0;
  while (at < got.length && got[at] === sent[at]) at++;
  const around = (text: string): string => JSON.stringify(text.slice(Math.max(0, at - 30), at + 40));
  return `byte ${at} differs: the client got ${around(got)}, the server sent ${around(sent)}`;
}
