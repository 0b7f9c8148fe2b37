/** Builds histories for the tests of the checker from the lines of producers, sessions and storms. */
import type { ClientLine, History, ProducerLine, SessionLine, StormLine, Upstream } from '../history.ts';

export const N1 = 'nonce-000000000001';
export const N2 = 'nonce-000000000002';
export const N3 = 'nonce-000000000003';
const MARK = 'k7f3';

export const framed = (lead: string, ...items: readonly string[]): string =>
  [`[ep ${MARK}] ${lead}`, ...items, `[/ep ${MARK}]`].join('\n');
export const one = (nonce: string, repeated = false): string =>
  framed(
    `1 notification${repeated ? ', repeated' : ''}, automatic, no human typed this`,
    `ci error: the build has failed, ${nonce}`,
  );
export const refusal = (nonce: string): string =>
  framed(
    'this call was not made, an interrupt came first: 1 notification, automatic, no human typed this',
    `storm critical, asks to pause: wait, ${nonce}`,
    'get_notifications lets calls through again.',
  );

type About = Partial<Omit<SessionLine, 'kind' | 't'>>;

/** One session, built in order of time. */
export class Recorded {
  readonly lines: ClientLine[];
  readonly upstream = new Map<string, Upstream[]>();
  t: number;
  #id = 0;

  constructor(t = 0, about: About = {}) {
    this.t = t;
    this.lines = [{ t, kind: 'session', form: 'mcp', window: 'anna', agent: 'shop/coder', client: 'raw', pid: 10, ...about }];
  }

  /**
   * Records a call that reached the server, and its answer. `text` is the block that the gateway added, and `as` changes the
   * client's frame in another way.
   */
  call(
    call: string,
    text?: string,
    how: { at?: number; ms?: number; output?: string; as?: (line: string) => string } = {},
  ): this {
    const { output = `done ${call}`, ms = 10, as = (line: string) => line } = how;
    const id = this.#sent('small', how.at, call);
    const frame = (blocks: string): string => `{"jsonrpc":"2.0","id":${id},"result":{ "content":[${blocks}],"x":1.0}}`;
    const theirs = block(output);
    this.upstream.set(call, [{ t: this.t + 1, line: frame(theirs) }]);
    return this.#received(as(frame(text === undefined ? theirs : `${theirs},${block(text)}`)), ms);
  }

  refused(call: string, nonce: string, how: { at?: number; as?: (line: string) => string } = {}): this {
    const { at, as = (line: string) => line } = how;
    const id = this.#sent('small', at, call);
    return this.#received(as(`{"jsonrpc":"2.0","id":${id},"result":{"content":[${block(refusal(nonce))}],"isError":true}}`), 10);
  }

  /** Records that the gateway was killed and the host has started another gateway. */
  restarted(): this {
    this.lines.push({ t: (this.t += 5), kind: 'gateway_ended', signal: 'SIGKILL' });
    this.lines.push({ t: (this.t += 5), kind: 'gateway', pid: 99 });
    return this;
  }

  /** Records that the gateway reports that it cannot reach its store. */
  outOfReach(t: number): this {
    const text =
      'notifications cannot be reached (before: no answer within 250 ms); until the store answers, tool calls pass without notifications, except while a known gate is up';
    this.lines.push({ t, kind: 'stderr', text });
    return this;
  }

  reachable(t: number): this {
    this.lines.push({ t, kind: 'stderr', text: 'notifications can be reached again' });
    return this;
  }

  /** Records `/clear`. */
  renamed(conversation: string): this {
    this.lines.push({ t: (this.t += 5), kind: 'closing' }, { t: (this.t += 5), kind: 'renamed', conversation });
    return this;
  }

  /** Records that the client cancels its last request. */
  cancelled(ms = 5): this {
    this.lines.push({ t: (this.t += ms), kind: 'cancelled', id: this.#id });
    return this;
  }

  /** Records a call of a tool with structured content. `notices` says whether the client's frame has that field. */
  structured(call: string, text: string, notices: boolean): this {
    const id = this.#sent('structured', undefined, call);
    const frame = (more: string, blocks: string): string =>
      `{"jsonrpc":"2.0","id":${id},"result":{"structuredContent":{"size":1.50${more}},"content":[${blocks}]}}`;
    this.upstream.set(call, [{ t: this.t + 1, line: frame('', block(call)) }]);
    const field = notices ? `,"_notices":${JSON.stringify(text)}` : '';
    return this.#received(frame(field, `${block(call)},${block(text)}`), 10);
  }

  /** Records a `tools/list` request and its answer, which lists one tool with a schema. */
  listed(properties: object): this {
    const id = ++this.#id;
    this.lines.push({ t: (this.t += 5), kind: 'sent', id, method: 'tools/list' });
    const tools = [{ name: 'structured', outputSchema: { type: 'object', properties } }];
    return this.#received(JSON.stringify({ jsonrpc: '2.0', id, result: { tools } }), 5);
  }

  /** Records an unanswered call: the gateway died, or the host died before it read the answer. */
  unanswered(call: string, how: { reached: boolean; afterMs?: number } = { reached: true }): this {
    this.#sent('small', undefined, call);
    if (how.reached) this.upstream.set(call, [{ t: this.t + (how.afterMs ?? 0) }]);
    return this;
  }

  pulled(...entries: readonly { readonly message: string; readonly repeated?: true }[]): this {
    return this.pulledAt(undefined, ...entries);
  }

  pulledAt(at: number | undefined, ...entries: readonly { readonly message: string; readonly repeated?: true }[]): this {
    const id = this.#sent('get_notifications', at);
    const answer = JSON.stringify({ success: true, count: entries.length, notifications: entries });
    return this.#received(`{"jsonrpc":"2.0","id":${id},"result":{"content":[${block(answer)}]}}`, 10);
  }

  /** Records a message of a library user. `tapMs` is the delay of the tap after the loop's request for the message. */
  message(key: string, text: string, way: 'carry' | 'offer' = 'carry', tapMs = 0): this {
    const askedAt = (this.t += 10);
    this.lines.push({ t: (this.t += tapMs), kind: 'message', way, askedAt, key, text });
    return this;
  }

  frame(line: string): this {
    this.lines.push({ t: (this.t += 10), kind: 'received', line });
    return this;
  }

  over(t = this.t + 10): this {
    this.lines.push({ t, kind: 'over' });
    return this;
  }

  #sent(tool: string, at: number | undefined, call?: string): number {
    this.t = at ?? this.t + 10;
    const id = ++this.#id;
    this.lines.push({ t: this.t, kind: 'sent', id, method: 'tools/call', tool, ...(call === undefined ? {} : { call }) });
    return id;
  }

  #received(line: string, ms: number): this {
    this.lines.push({ t: (this.t += ms), kind: 'received', line });
    return this;
  }
}

const block = (text: string): string => `{"type":"text","text":${JSON.stringify(text)}}`;

/** Makes a notification that was requested at `t` and acknowledged 5 ms later. */
export function sent(
  nonce: string,
  to: string,
  t: number,
  more: Partial<Extract<ProducerLine, { kind: 'asking' }>> = {},
): ProducerLine[] {
  return [
    { t, kind: 'asking', nonce, to, level: 'error', ...more },
    { t: t + 5, kind: 'acknowledged', nonce },
  ];
}

export function history(
  producers: readonly ProducerLine[],
  sessions: readonly Recorded[],
  storm: readonly StormLine[] = [],
): History {
  return {
    producers,
    sessions: sessions.map(({ lines }) => ({ about: lines[0] as SessionLine, lines })),
    upstream: new Map(sessions.flatMap(({ upstream }) => [...upstream])),
    storm,
  };
}

export const TO = 'shop/coder';
export const ANNA = { conversation: 'anna-s1' } as const;
export const BEN = { window: 'ben', pid: 11, conversation: 'ben-s1' } as const;
export const killed = (pid: number, t: number) => ({ t, kind: 'killed', what: 'host', pid }) as const;
export const withdrawn = (t: number, result: string) =>
  [
    { t, kind: 'withdrawing', nonce: N1 },
    { t: t + 10, kind: 'withdrawn', nonce: N1, result, log: TO },
  ] as const;
export const pair = [...sent(N1, TO, 5, { supersedes: 'k' }), ...sent(N2, TO, 50, { supersedes: 'k' })];
export const two = (...items: readonly string[]) => framed('2 notifications, automatic, no human typed this', ...items);
export const said = (message: string) => framed('1 notification, automatic, no human typed this', `ci error: ${message}, ${N1}`);

/**
 * Returns a history of five answers with one notification each, each cancelled 5 ms later. The first `again` notifications arrive
 * again.
 */
export function cancelledOften(again: number): History {
  const nonces = [1, 2, 3, 4, 5].map((n) => `nonce-00000000000${n}`);
  const anna = new Recorded(100);
  for (const [at, nonce] of nonces.entries()) anna.call(`a${at}`, one(nonce)).cancelled();
  for (const [at, nonce] of nonces.slice(0, again).entries()) anna.call(`b${at}`, one(nonce, true));
  return history(
    nonces.flatMap((nonce, at) => sent(nonce, TO, at)),
    [anna.over()],
  );
}
