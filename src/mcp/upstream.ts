import type { Command, Spawned } from './spawned.ts';

/** A server behind the gateway. `name` appears in messages, and is the prefix of its tools if there are several servers. */
export type Upstream = StdioUpstream | HttpUpstream | AbsentUpstream;

/** `running`: its first process, if that was started before the gateway. Such a process serves one client only. */
export type StdioUpstream = { readonly kind: 'stdio'; readonly name: string; readonly running?: Spawned } & Command;

export type HttpUpstream = {
  readonly kind: 'http';
  readonly name: string;
  readonly url: string;
  /** Sent with each request and overrides the client's headers (a token, for example). */
  readonly headers?: Readonly<Record<string, string>>;
};

/** A configured server that cannot be started: it keeps its place and its name, and the agent is notified why. */
export type AbsentUpstream = { readonly kind: 'absent'; readonly name: string; readonly why: string };
