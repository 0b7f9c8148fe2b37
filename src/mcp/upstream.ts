import type { Command, Spawned } from './spawned.ts';

/**
 * An MCP server that the gateway or Earpiece's agent uses. `name` appears in messages. With several servers, `name` is also the
 * prefix of the server's tools.
 */
export type Upstream = StdioUpstream | HttpUpstream | AbsentUpstream;

/**
 * A stdio server. `running` is the server's first process, if it was started before the gateway. Such a process serves one client
 * only.
 */
export type StdioUpstream = { readonly kind: 'stdio'; readonly name: string; readonly running?: Spawned } & Command;

export type HttpUpstream = {
  readonly kind: 'http';
  readonly name: string;
  readonly url: string;
  /** Headers for each request, such as a token. These headers override the link's own headers. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** A configured server that cannot be started. The agent is notified of the reason. */
export type AbsentUpstream = { readonly kind: 'absent'; readonly name: string; readonly why: string };
