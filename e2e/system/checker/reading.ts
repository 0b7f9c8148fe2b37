/** One session's tap, read: which notification its model was shown, when and how, and what became of each call. */
import type { ClientLine, History, Session } from '../history.ts';
import { compare, parsed } from './bytes.ts';
import { frameOf, isRefusal, noncesIn, pulledIn, type Frame } from './frames.ts';

/** One notification in front of a model. */
export type Sight = {
  readonly t: number;
  readonly nonce: string;
  readonly form: 'ride' | 'refusal' | 'pull' | 'message';
  readonly repeated: boolean;
  /** Epoch milliseconds are not in the taps; a call that began at `sentAt` carried it. */
  readonly sentAt: number;
};

export type Call = {
  readonly call: string;
  readonly sentAt: number;
  readonly receivedAt?: number;
  readonly refused: boolean;
  readonly reached: boolean;
};

/** A frame with fewer `repeated` than items that the same window was shown before. */
export type Shown = {
  readonly t: number;
  readonly form: Sight['form'];
  readonly frame?: Frame;
  readonly sights: readonly Sight[];
};

export type Reading = {
  readonly session: Session;
  readonly shown: readonly Shown[];
  readonly calls: readonly Call[];
  readonly altered: readonly string[];
  readonly misplaced: readonly string[];
  readonly problems: readonly string[];
};

/**
 * A client cuts a longer result or writes it to a file, so its model does not see what rides on it. Measured with the real
 * programs.
 */
const LIMITS: Readonly<Record<string, { readonly result: number; readonly error: number; readonly bytes?: true }>> = {
  'claude-code': { result: 50_000, error: 11_000 },
  'codex-mcp-client': { result: 12_000, error: 12_000, bytes: true },
  'qwen-code': { result: 25_000, error: 25_000 },
  opencode: { result: 50_000, error: 50_000 },
};

type Sent = Extract<ClientLine, { kind: 'sent' }>;
type Texts = readonly string[];

export function read(session: Session, upstream: History['upstream']): Reading {
  const { agent, client } = session.about;
  const about = (what: string): string => `${agent} (${session.about.window}): ${what}`;
  const shown: Shown[] = [];
  const calls = new Map<number, Call>();
  const altered: string[] = [];
  const misplaced: string[] = [];
  const problems: string[] = [];
  const sent = new Map<number, Sent>();

  const see = (at: { t: number; sentAt: number }, form: Sight['form'], text: string): void => {
    const frame = frameOf(text);
    if (typeof frame === 'string') return void misplaced.push(about(frame));
    const sights = frame.items.flatMap(({ nonces }) =>
      nonces.map((nonce): Sight => ({ ...at, nonce, form, repeated: frame.repeated > 0 })),
    );
    shown.push({ t: at.t, form, frame, sights });
  };

  const result = (line: string, t: number, request: Sent): void => {
    const answer = parsed(line);
    const texts: Texts = (answer.result?.content ?? []).map(({ text = '' }) => text);
    const at = { t, sentAt: request.t };
    if (request.tool === 'get_notifications') {
      if (texts.length !== 1 || answer.result?.isError) return void problems.push(about(`a pull failed: ${line.slice(0, 200)}`));
      const pulled = pulledIn(texts[0] ?? '');
      if (typeof pulled === 'string') return void problems.push(about(pulled));
      shown.push({ t, form: 'pull', sights: pulled.map((each): Sight => ({ ...at, ...each, form: 'pull' })) });
      return;
    }
    const call = request.call ?? '';
    const reached = upstream.get(call) ?? [];
    const last = texts.at(-1) ?? '';
    const refused =
      reached.every(({ line: answered }) => answered === undefined) && answer.result !== undefined && isRefusal(last);
    calls.set(request.id, { call, sentAt: request.t, receivedAt: t, refused, reached: reached.length > 0 });
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
    else if (text === undefined) return;
    // A frame beyond the client's limit is on the wire and not in front of the model.
    if (text !== undefined && isVisible(line, client, answer.result.isError === true)) see(at, 'ride', text);
  };

  const leaked = (line: string, where: string): void => {
    const nonces = noncesIn(line);
    if (nonces.length > 0) misplaced.push(about(`${nonces.join(', ')} in ${where}`));
  };

  for (const line of session.lines) {
    if (line.kind === 'sent') {
      sent.set(line.id, line);
      if (line.method === 'tools/call' && line.tool !== 'get_notifications')
        calls.set(line.id, { call: line.call ?? '', sentAt: line.t, refused: false, reached: upstream.has(line.call ?? '') });
    } else if (line.kind === 'unanswered') {
      problems.push(about(`${line.method} had no answer after ${Math.round(line.ms)} ms though the gateway lived`));
    } else if (line.kind === 'message') {
      see({ t: line.t, sentAt: line.t }, 'message', frameTextOf(line.text));
    } else if (line.kind === 'received') {
      const { id, method } = headOf(line.line);
      const request = id === undefined || method !== undefined ? undefined : sent.get(id);
      if (request?.method === 'tools/call') result(line.line, line.t, request);
      else leaked(line.line, method ?? request?.method ?? 'a frame that answers nothing');
    }
  }
  return { session, shown, calls: [...calls.values()], altered, misplaced, problems };
}

export const sightsOf = ({ shown }: Reading): Sight[] => shown.flatMap(({ sights }) => sights);

/** A library user's message to its model ends with the frame. */
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
