/** Made of `../schemas/access.ts` by `node scripts/wire.ts --update`. */
import type { TokenKind } from '../words.ts';

export type TokenInfo = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly project: string | null;
  readonly agent: string | null;
  readonly conversation: string | null;
  /** True for a browser that has logged in, false for a token of a program. */
  readonly session: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
};

export type CreatedToken = {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly project: string | null;
  readonly agent: string | null;
  readonly conversation: string | null;
  /** True for a browser that has logged in, false for a token of a program. */
  readonly session: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  /** The token itself, which is never shown again. */
  readonly token: string;
};

/**
 * A request for a token. An admin token is for every project. Each other token needs `project`, and an agent token also `agent`.
 * Without `conversation`, an agent token is for all conversations of the agent. Without `expiresInMs`, the token does not expire.
 */
export type TokenRequest = {
  readonly kind: TokenKind;
  readonly name: string;
  readonly project?: string;
  readonly agent?: string;
  readonly conversation?: string;
  readonly expiresInMs?: number;
};

export type ShellInfo = {
  /** The command to use instead of `earpiece` in a terminal on the server's machine. */
  readonly earpiece: string;
  /** The MCP clients that are installed on the server's machine, by their names for `gateway --print`. */
  readonly clients: readonly string[];
};

export type SessionReply = {
  readonly who: TokenInfo;
  /** The token's project; for an admin token, the project of the server's working folder. */
  readonly project: string;
  readonly version: string;
  readonly store: string;
  readonly shell: ShellInfo;
  /** The server's time, epoch milliseconds. */
  readonly now: number;
  readonly head: number;
};

export type Health = {
  readonly status: 'ok' | 'store_unavailable';
  readonly version: string;
};
