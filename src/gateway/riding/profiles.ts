/**
 * The profiles of clients. A client's way to show results to its model decides how a result can carry notifications. The gateway
 * chooses a profile once for each connection, from only the client's `clientInfo` and the gateway's options. So the same client
 * always gets the same bytes of tools/list, on which prompt caches depend.
 */

import type { ClientInfo } from '../../mcp/frames/protocol.ts';

export type ProfileKind =
  /** The client shows text blocks, so an added block is enough. The schemas in tools/list do not change. */
  | 'blocks'
  /**
   * If a result has `structuredContent`, the client shows only this field. So the output schema and the structured content get an
   * optional `_notices`, and the result also gets a block.
   */
  | 'extend'
  /** The gateway removes `outputSchema` and `structuredContent`, so that the client can only show blocks. */
  | 'strip';

export type Profile = {
  readonly kind: ProfileKind;
  /**
   * The maximum number of characters that the model sees of a result. The client cuts a longer result or writes it to a file, so
   * such a result carries no notification.
   */
  readonly maxResultChars: number;
  /** The maximum number of characters that the model sees of a result with `isError`. */
  readonly maxErrorChars: number;
  /** True if the client sends a cancel after every answer, so that a cancel after an answer means nothing. */
  readonly cancelsAnswered?: true;
  /** True if the client reads its lists when it connects, and ignores list_changed: see `listedOnce`. */
  readonly listsOnce?: true;
  /** True if the client counts UTF-8 bytes, not characters. */
  readonly inBytes?: true;
  /** True if the model reads the server's `instructions`, so that frames need not explain the mark: see `shown`. */
  readonly showsInstructions?: true;
  /** True if the client names its session in each call: see `SessionConnections`. */
  readonly namesSession?: true;
  /** Set if the client joins all text blocks with `breaks` line breaks, and measures the joined text. Pictures do not count. */
  readonly joined?: { readonly breaks: number; readonly maxLines?: number };
};

const UNLIMITED = { maxResultChars: Number.POSITIVE_INFINITY, maxErrorChars: Number.POSITIVE_INFINITY } as const;

const EXTEND: Profile = { kind: 'extend', ...UNLIMITED };
const BLOCKS: Profile = { kind: 'blocks', ...UNLIMITED };
export const CLAUDE_CODE: Profile = { kind: 'extend', maxResultChars: 50_000, maxErrorChars: 11_000 };

/**
 * The profile of Codex. For models that Codex does not know, Codex cuts results at 12,000 bytes, including its own line about the
 * time. The last blocks are cut first. Measured with 0.169: Codex names the session in each call (`SessionConnections`). Claude Code,
 * Gemini CLI, opencode, pi and Qwen Code do not.
 */
export const CODEX: Profile = {
  kind: 'extend',
  maxResultChars: 11_900,
  maxErrorChars: 11_900,
  inBytes: true,
  namesSession: true,
};

/**
 * Qwen Code 0.24.4 joins the text blocks with a line break and writes more than 25,000 characters to a file. Measured: the end of
 * a result is shown at 27,000 characters, but not at 30,000. A failing result is shown whole (seen at 30,000).
 */
export const QWEN: Profile = { kind: 'blocks', ...UNLIMITED, maxResultChars: 25_000, joined: { breaks: 1 } };

/**
 * The agent opencode 1.18.33 joins the text blocks with an empty line. A result of up to 51,200 bytes and 2,000 lines is shown
 * whole. Only the beginning of a longer result is shown. A failing result is shown whole (seen at 60,000). The agent cancels
 * every call 40 ms to 1.6 s after the answer, when the model's step has ended.
 */
export const OPENCODE: Profile = {
  kind: 'blocks',
  ...UNLIMITED,
  maxResultChars: 51_200,
  inBytes: true,
  joined: { breaks: 2, maxLines: 2_000 },
  cancelsAnswered: true,
};

/** The profile of an unknown client. The model may see blocks, structured content or both, so the client gets both. */
export const UNKNOWN_CLIENT: Profile = EXTEND;

type Row = { readonly name: string; readonly prefix?: true; readonly profile: Profile };

/**
 * Returns the profile for a client whose model reads the server's instructions. Seen in the requests that these clients send to
 * the model: Claude Code 2.1.330 (a message), Codex 0.169 (tool descriptions), Gemini CLI 0.61 and Qwen Code 0.24.4 (user text),
 * opencode 1.18.33 (a system message). The bridge of pi (`pi-mcp`) does not show the instructions. Other clients were not
 * measured, so their frames explain the mark.
 */
const shown = (profile: Profile): Profile => ({ ...profile, showsInstructions: true });

/**
 * Returns the profile for a client that reads its lists only once. Codex 0.169 and Qwen Code 0.24.4 send tools/list once. Claude
 * Code 2.1.330, Gemini CLI 0.61 and opencode 1.18.33 send tools/list again after list_changed.
 */
const listedOnce = (profile: Profile): Profile => ({ ...profile, listsOnce: true });

/**
 * The profiles by the client's name in `clientInfo`, in lower case. With `prefix`, longer names match too, because some clients
 * append the server's name or a variant.
 */
export const PROFILES: readonly Row[] = [
  { name: 'claude-code', prefix: true, profile: shown(CLAUDE_CODE) },
  { name: 'claude code', prefix: true, profile: shown(CLAUDE_CODE) },
  { name: 'codex', prefix: true, profile: listedOnce(shown(CODEX)) },
  { name: 'gemini', prefix: true, profile: shown(BLOCKS) },
  { name: 'opencode', prefix: true, profile: shown(OPENCODE) },
  { name: 'qwen', prefix: true, profile: listedOnce(shown(QWEN)) },
  { name: 'ai-sdk', prefix: true, profile: BLOCKS },
  { name: 'openai-agents', prefix: true, profile: BLOCKS },
  { name: 'kimi', prefix: true, profile: BLOCKS },
  { name: 'langchain', prefix: true, profile: BLOCKS },
  { name: 'pi-mcp', profile: listedOnce(UNKNOWN_CLIENT) },
];

export function profileOf(client: ClientInfo | undefined): Profile {
  const name = client?.name.toLowerCase();
  if (name === undefined) return UNKNOWN_CLIENT;
  const row = PROFILES.find((candidate) => (candidate.prefix ? name.startsWith(candidate.name) : name === candidate.name));
  return row?.profile ?? UNKNOWN_CLIENT;
}
