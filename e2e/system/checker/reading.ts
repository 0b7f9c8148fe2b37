/** Reads one session's tap: the notifications that its model was shown, when and how, and the outcome of each call. */
import type { ClientLine, History, Session } from '../history.ts';
import { compare, parsed } from './bytes.ts';
import { wrongFields, wrongSchemas } from './fields.ts';
import { frameOf, isRefusal, noncesIn, pulledIn, type Frame } from './frames.ts';
import { memo } from './memo.ts';

/** The request that an answer belongs to. */
type At = {
  readonly t: number;
  readonly sentAt: number;
  /** The session's name, if its host gives it one. */
  readonly conversation?: string | undefined;
  /** Counts the connections of a session: each start and end of a gateway, each close and each new name raises the count. */
  readonly connection: number;
  /** The time at which the client cancelled the request, if it did. */
  readonly cancelledAt?: number | undefined;
};

/** A notification that was shown to a model. */
export type Sight = At & {
  readonly nonce: string;
  readonly form: 'ride' | 'refusal' | 'pull' | 'message';
  readonly repeated: boolean;
  /** The text of the frame's item that contains the notification, or the message of the pull's entry. */
  readonly text: string;
  /** The other notifications of the same item. */
  readonly with?: readonly string[];
};

export type Call = {
  readonly call: string;
  readonly sentAt: number;
  readonly receivedAt?: number;
  readonly refused: boolean;
  /** The time when the call reached the wrapped server. Undefined if the call reached no server. */
  readonly reachedAt?: number;
};

/** One frame, or one answer of `get_notifications`. */
export type Shown = At & {
  readonly form: Sight['form'];
  readonly frame?: Frame;
  /** Whether a pull said that no further notification waits. */
  readonly whole?: boolean;
  readonly sights: readonly Sight[];
};

export type Requested = {
  readonly sentAt: number;
  /** See `At`. */
  readonly connection: number;
  readonly receivedAt?: number;
  readonly cancelledAt?: number;
  /** The time by which the connection had ended. */
  readonly endsBy?: number;
};

export type Reading = {
  readonly session: Session;
  readonly shown: readonly Shown[];
  readonly calls: readonly Call[];
  /** All requests for a tool, including pulls. */
  readonly requests: readonly Requested[];
  /** The number of frames in results that also have structured content. */
  readonly structured: number;
  readonly altered: readonly string[];
  readonly fields: readonly string[];
  readonly misplaced: readonly string[];
  readonly problems: readonly string[];
};

/**
 * The longest text of a result and of an error that a client shows whole, in characters, or in bytes if `bytes` is set. A client
 * cuts a longer result, or writes the result to a file, so its model does not see the frame. The limits were measured with the
 * real programs.
 */
const LIMITS: Readonly<Record<string, { readonly result: number; readonly error: number; readonly bytes?: true }>> = {
  'claude-code': { result: 50_000, error: 11_000 },
  'codex-mcp-client': { result: 12_000, error: 12_000, bytes: true },
  'qwen-code': { result: 25_000, error: 25_000 },
  opencode: { result: 50_000, error: 50_000 },
};

type Sent = Extract<ClientLine, { kind: 'sent' }> & Omit<At, 't' | 'sentAt'> & { receivedAt?: number; endsBy?: number };
type Texts = readonly string[];

export function read(session: Session, upstream: History['upstream']): Reading {
  const { agent, client } = session.about;
  const about = (what: string): string => `${agent} (${session.about.window}): ${what}`;
  const shown: Shown[] = [];
  const calls = new Map<number, Call>();
  const altered: string[] = [];
  const fields: string[] = [];
  const misplaced: string[] = [];
  const problems: string[] = [];
  const sent = new Map<number, Sent>();
  const cancels = new Map(session.lines.flatMap((line) => (line.kind === 'cancelled' ? [[line.id, line.t] as const] : [])));
  let structured = 0;
  let { conversation } = session.about;
  let connection = 0;

  const see = (at: At, form: Sight['form'], text: string): void => {
    const frame = frameOf(text);
    if (typeof frame === 'string') return void misplaced.push(about(frame));
    if (frame.says !== frame.lists)
      misplaced.push(about(`a frame says ${frame.says} notifications and lists ${frame.lists}: ${JSON.stringify(text)}`));
    const sights = frame.items.flatMap((item) =>
      item.nonces.map((nonce): Sight => ({
        ...at,
        nonce,
        form,
        repeated: frame.repeated > 0,
        text: item.text,
        with: item.nonces.filter((other) => other !== nonce),
      })),
    );
    shown.push({ ...at, form, frame, sights });
  };

  const pulled = (line: string, texts: Texts, isError: boolean | undefined, at: At): void => {
    if (texts.length !== 1 || isError) return void problems.push(about(`a pull failed: ${line.slice(0, 200)}`));
    const answer = pulledIn(texts[0] ?? '');
    if (typeof answer === 'string') return void problems.push(about(answer));
    const sights = answer.entries.map((each): Sight => ({ ...at, ...each, form: 'pull' }));
    shown.push({ ...at, form: 'pull', whole: answer.whole, sights });
  };

  const result = (line: string, t: number, request: Sent): void => {
    const answer = parsed(line);
    const texts: Texts = (answer.result?.content ?? []).map(({ text = '' }) => text);
    const { conversation: name, connection: on, cancelledAt } = request;
    const at: At = { t, sentAt: request.t, conversation: name, connection: on, cancelledAt };
    request.receivedAt = t;
    if (request.tool === 'get_notifications') return pulled(line, texts, answer.result?.isError, at);
    const call = request.call ?? '';
    const reached = upstream.get(call) ?? [];
    const last = texts.at(-1) ?? '';
    const refused =
      reached.every(({ line: answered }) => answered === undefined) && answer.result !== undefined && isRefusal(last);
    calls.set(request.id, { call, sentAt: request.t, receivedAt: t, refused, ...reachedBy(call) });
    if (reached.length > 1) problems.push(about(`the call ${call} reached the server ${reached.length} times`));
    if (refused) {
      if (texts.length !== 1) misplaced.push(about(`a refusal of ${call} has ${texts.length} blocks`));
      return see(at, 'refusal', last);
    }
    if (answer.result === undefined) return leaked(line, `the error of ${call}`);
    const server = reached.find(({ line: answered }) => answered !== undefined)?.line;
    if (server === undefined)
      return void altered.push(about(`${call} was answered with a result that no server sent: ${line.slice(0, 200)}`));
    const { text, altered: difference } = compare(line, server);
    if (difference !== undefined) altered.push(about(`${call}: ${difference}`));
    const wrong = difference === undefined ? wrongFields(line, client, text) : undefined;
    if (wrong !== undefined) fields.push(about(`the result of ${call} ${wrong}`));
    // The client receives a frame beyond its limit but does not show it to the model.
    if (text !== undefined && answer.result.structuredContent !== undefined) structured++;
    if (text !== undefined && isVisible(line, client, answer.result.isError === true)) see(at, 'ride', text);
  };

  const reachedBy = (call: string): Pick<Call, 'reachedAt'> => {
    const [first] = upstream.get(call) ?? [];
    return first === undefined ? {} : { reachedAt: first.t };
  };

  const leaked = (line: string, where: string): void => {
    const nonces = noncesIn(line);
    if (nonces.length > 0) misplaced.push(about(`${nonces.join(', ')} in ${where}`));
  };

  for (const line of session.lines) {
    if (line.kind === 'sent') {
      const cancelledAt = cancels.get(line.id);
      sent.set(line.id, { ...line, conversation, connection, ...(cancelledAt === undefined ? {} : { cancelledAt }) });
      const { call = '' } = line;
      if (line.method === 'tools/call' && line.tool !== 'get_notifications')
        calls.set(line.id, { call, sentAt: line.t, refused: false, ...reachedBy(call) });
    } else if (line.kind === 'unanswered') {
      problems.push(about(`${line.method} had no answer after ${Math.round(line.ms)} ms though the gateway lived`));
    } else if (line.kind === 'message') {
      see({ t: line.t, sentAt: line.askedAt, conversation, connection }, 'message', frameTextOf(line.text));
    } else if (line.kind === 'received') {
      const { id, method } = headOf(line.line);
      const request = id === undefined || method !== undefined ? undefined : sent.get(id);
      if (request?.method === 'tools/call') result(line.line, line.t, request);
      else leaked(line.line, method ?? request?.method ?? 'a frame that answers nothing');
      if (request?.method === 'tools/list') fields.push(...wrongSchemas(line.line, client).map(about));
    } else if (BREAKS.has(line.kind)) {
      connection++;
      for (const request of sent.values()) request.endsBy ??= line.t;
      if (line.kind === 'renamed') ({ conversation } = line);
    }
  }
  const requests = [...sent.values()]
    .filter(({ method }) => method === 'tools/call')
    .map(({ t: sentAt, connection: on, receivedAt, cancelledAt, endsBy }) => ({
      sentAt,
      connection: on,
      ...(endsBy === undefined ? {} : { endsBy }),
      ...(receivedAt === undefined ? {} : { receivedAt }),
      ...(cancelledAt === undefined ? {} : { cancelledAt }),
    }));
  return { session, shown, calls: [...calls.values()], requests, structured, altered, fields, misplaced, problems };
}

const BREAKS: ReadonlySet<ClientLine['kind']> = new Set(['gateway', 'gateway_ended', 'closing', 'renamed']);

export const sightsOf = memo(({ shown }: Reading): readonly Sight[] => shown.flatMap(({ sights }) => sights));

/** A sight, with the reading of its session. */
export type Seen = Sight & { readonly reading: Reading };

/** Returns the sights of all these sessions by nonce, oldest first. */
export const seenIn = memo((readings: readonly Reading[]): ReadonlyMap<string, readonly Seen[]> => {
  const all = readings.flatMap((reading) => sightsOf(reading).map((sight): Seen => ({ ...sight, reading })));
  return Map.groupBy(
    all.toSorted((a, b) => a.t - b.t),
    ({ nonce }) => nonce,
  );
});

/** Returns the sessions by agent. */
export const agentsIn = memo((readings: readonly Reading[]): ReadonlyMap<string, readonly Reading[]> =>
  Map.groupBy(readings, ({ session }) => session.about.agent),
);

/** Returns the frame at the end of a library user's message to its model. */
const frameTextOf = (text: string): string => text.slice(text.lastIndexOf('\n[ep ') + 1);

function headOf(line: string): { readonly id?: number; readonly method?: string } {
  try {
    const { id, method } = JSON.parse(line) as { id?: unknown; method?: unknown };
    return { ...(typeof id === 'number' ? { id } : {}), ...(typeof method === 'string' ? { method } : {}) };
  } catch {
    return {};
  }
}

function isVisible(line: string, client: string, isError: boolean): boolean {
  const limit = LIMITS[client];
  if (limit === undefined) return true;
  const text = (parsed(line).result?.content ?? []).map((block) => block.text ?? '').join('');
  const size = limit.bytes ? Buffer.byteLength(text) : text.length;
  return size <= (isError ? limit.error : limit.result);
}
