/**
 * How a client shows a tool's result to its model decides how something may ride on it. A profile is chosen once for a
 * connection and is a pure function of the client's `clientInfo`, so that tools/list stays the same bytes for as long as
 * the client stays the same one (prompt caches depend on it).
 */

export type ClientInfo = { readonly name: string; readonly version?: string };

export type ProfileKind =
  /** Shows text blocks: a trailing block is enough. tools/list stays as it is. */
  | 'blocks'
  /** Shows only `structuredContent` where there is some: an optional `_notices` goes into schema and content, and a block beside it. */
  | 'extend'
  /** `outputSchema` and `structuredContent` are taken away, so that blocks are all that there is to show. */
  | 'strip';

export type Profile = {
  readonly kind: ProfileKind;
  /** A longer result is cut or written to a file by the client, so nothing may ride on it. In characters shown to the model. */
  readonly maxResultChars: number;
  /** The same for a result with `isError`. */
  readonly maxErrorChars: number;
  /** The client counts UTF-8 bytes, not characters. */
  readonly inBytes?: true;
};

const UNLIMITED = { maxResultChars: Number.POSITIVE_INFINITY, maxErrorChars: Number.POSITIVE_INFINITY } as const;

const EXTEND: Profile = { kind: 'extend', ...UNLIMITED };
const BLOCKS: Profile = { kind: 'blocks', ...UNLIMITED };
export const CLAUDE_CODE: Profile = { kind: 'extend', maxResultChars: 50_000, maxErrorChars: 11_000 };

/** Cuts at 12,000 bytes for models it knows nothing of, its own line about the time included; the last blocks go first. */
export const CODEX: Profile = { kind: 'extend', maxResultChars: 11_900, maxErrorChars: 11_900, inBytes: true };

/** A client we do not know: the model may see blocks, structured content or both, so both are given. */
export const UNKNOWN_CLIENT: Profile = EXTEND;

type Row = { readonly name: string; readonly prefix?: true; readonly profile: Profile };

/** By the name in `clientInfo`, lower case; `prefix` where clients put the server's name or their own variant behind it. */
export const PROFILES: readonly Row[] = [
  { name: 'claude-code', prefix: true, profile: CLAUDE_CODE },
  { name: 'claude code', prefix: true, profile: CLAUDE_CODE },
  { name: 'codex', prefix: true, profile: CODEX },
  { name: 'gemini', prefix: true, profile: BLOCKS },
  { name: 'opencode', prefix: true, profile: BLOCKS },
  { name: 'qwen', prefix: true, profile: BLOCKS },
  { name: 'ai-sdk', prefix: true, profile: BLOCKS },
  { name: 'openai-agents', prefix: true, profile: BLOCKS },
  { name: 'kimi', prefix: true, profile: BLOCKS },
  { name: 'langchain', prefix: true, profile: BLOCKS },
];

export function profileOf(client: ClientInfo | undefined): Profile {
  const name = client?.name.toLowerCase();
  if (name === undefined) return UNKNOWN_CLIENT;
  const row = PROFILES.find((candidate) => (candidate.prefix ? name.startsWith(candidate.name) : name === candidate.name));
  return row?.profile ?? UNKNOWN_CLIENT;
}
