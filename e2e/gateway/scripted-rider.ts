import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Delivery, OwnTool, ReleaseReason, Rider } from '../../src/gateway/index.ts';

/**
 * The next actions of a scripted rider. The rider reads the script at each question, so a test can change the script while the
 * rider runs.
 */
export type Script = {
  readonly tools?: readonly OwnTool[];
  readonly ride?: { readonly text: string; readonly signal?: string };
  /** Texts to add, one per result. */
  readonly once?: readonly string[];
  readonly replace?: string;
  readonly refuse?: string;
  readonly throws?: string;
  readonly slowMs?: number;
};

/** One line of a scripted rider's log. */
export type Entry =
  | {
      readonly what: 'opened' | 'closed';
      readonly key: string;
      readonly client?: string;
      readonly session?: string;
      readonly profile: string;
    }
  | { readonly what: 'before'; readonly server: string; readonly tool: string; readonly requestId: string }
  | {
      readonly what: 'after';
      readonly server: string;
      readonly tool: string;
      readonly requestId: string;
      readonly isError: boolean;
      readonly chars: number;
      readonly rawBytes: number;
    }
  | { readonly what: 'call'; readonly tool: string; readonly args: unknown; readonly requestId: string }
  | { readonly what: 'confirm'; readonly requestId: string }
  | { readonly what: 'release'; readonly requestId: string; readonly reason: ReleaseReason }
  | { readonly what: 'upstream'; readonly server: string; readonly state: string; readonly detail: string };

/** Returns a rider that follows a script and logs each question. */
export function scriptedRider(script: () => Script, log: (entry: Entry) => void): Rider {
  let used = 0;
  const delivery = (requestId: string): Delivery => ({
    confirm: () => log({ what: 'confirm', requestId }),
    release: (reason) => log({ what: 'release', requestId, reason }),
  });
  const trouble = async ({ slowMs, throws }: Script): Promise<void> => {
    if (slowMs !== undefined) await sleep(slowMs);
    if (throws !== undefined) throw new Error(throws);
  };
  return {
    tools: () => script().tools ?? [],
    async callTool(_connection, { tool, args, requestId }) {
      log({ what: 'call', tool, args, requestId });
      await trouble(script());
      return { result: { content: [{ type: 'text', text: `own ${tool}` }] }, ...delivery(requestId) };
    },
    async before(_connection, { server, tool, requestId }) {
      log({ what: 'before', server, tool, requestId });
      const now = script();
      await trouble(now);
      return now.refuse === undefined
        ? { kind: 'pass' }
        : { kind: 'refuse', text: now.refuse, meta: { 'earpiece/refused': true }, delivery: delivery(requestId) };
    },
    async after(_connection, { server, tool, requestId, isError, chars, raw }) {
      log({ what: 'after', server, tool, requestId, isError, chars, rawBytes: Buffer.byteLength(raw()) });
      const now = script();
      await trouble(now);
      if (now.replace !== undefined) return { kind: 'replace', text: now.replace, delivery: delivery(requestId) };
      const text = now.ride?.text ?? now.once?.[used];
      if (text === undefined) return { kind: 'none' };
      used += 1;
      return {
        kind: 'ride',
        text,
        ...(now.ride?.signal !== undefined && { signal: now.ride.signal }),
        delivery: delivery(requestId),
      };
    },
    opened: ({ key, client, session, profile }) =>
      log({
        what: 'opened',
        key,
        ...(client && { client: client.name }),
        ...(session !== undefined && { session }),
        profile: profile.kind,
      }),
    closed: ({ key, profile }) => log({ what: 'closed', key, profile: profile.kind }),
    upstream: ({ server, state, detail }) => log({ what: 'upstream', server, state, detail }),
  };
}

/** Makes a scripted rider for another process, with its script and its log in files. */
export function filedRider(scriptFile: string, logFile: string): Rider {
  return scriptedRider(
    () => JSON.parse(readFileSync(scriptFile, 'utf8')) as Script,
    (entry) => appendFileSync(logFile, `${JSON.stringify(entry)}\n`),
  );
}
