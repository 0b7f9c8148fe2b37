import type { Command, Spawned } from './spawned.ts';

/** A server behind the gateway. `name` is what it is called in messages, and the prefix of its tools when there are several. */
export type Upstream = StdioUpstream | HttpUpstream | AbsentUpstream;

/** `running`: its first process, where that was started before the gateway. For one client only. */
export type StdioUpstream = { readonly kind: 'stdio'; readonly name: string; readonly running?: Spawned } & Command;

export type HttpUpstream = {
  readonly kind: 'http';
  readonly name: string;
  readonly url: string;
  /** Sent with each request, above what the client sends (a token, for example). */
  readonly headers?: Readonly<Record<string, string>>;
};

/** A server that is configured and cannot be started: its place and its name stay, and the agent is told why. */
export type AbsentUpstream = { readonly kind: 'absent'; readonly name: string; readonly why: string };
