/**
 * Sends one request to the model and collects its stream into records. The answer is `finished`, `aborted` by the agent (with the
 * kept part), or `failed` (with the error).
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { defined } from '../core/defined.ts';
import type { Json } from '../core/json.ts';
import type { ChatResponseRecord, ToolCallRequestRecord } from '../core/records.ts';

export type AnswerRecord = ChatResponseRecord | ToolCallRequestRecord;

/**
 * How the model ended an answer. `cut` means that the answer reached the limit of output tokens. `refused` means that the model
 * or a filter of its provider declined to answer. `raw` is the provider's own name for the reason.
 */
export type Finish = { readonly kind: 'whole' | 'cut' | 'refused'; readonly raw?: string };

export type Finished = {
  readonly kind: 'finished';
  readonly records: readonly AnswerRecord[];
  readonly calls: readonly ToolCallRequestRecord[];
  readonly finish: Finish;
  readonly usage?: LanguageModelV4Usage;
  /** The headers of the provider's response, with names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
};

export type Answer =
  | Finished
  /**
   * `reason` is the signal's reason. `records` is empty if the model had produced nothing to keep. `started` says whether the
   * provider had accepted the request.
   */
  | {
      readonly kind: 'aborted';
      readonly started: boolean;
      readonly records: readonly AnswerRecord[];
      readonly calls: readonly ToolCallRequestRecord[];
      readonly reason: unknown;
    }
  | { readonly kind: 'failed'; readonly error: unknown };

/** The progress of an answer, to show to a person. */
export type AnswerEvent =
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly delta: string }
  | { readonly type: 'tool_input'; readonly id: string; readonly name: string; readonly delta: string };

type Part =
  | { kind: 'text' | 'reasoning'; id: string; text: string; ended: boolean; metadata?: SharedV4ProviderMetadata }
  | { kind: 'call'; id: string; name: string; input: string; ended: boolean; metadata?: SharedV4ProviderMetadata };

/**
 * Asks the model, and never rejects. Calls `onTaken` once, when the first part arrives that shows that the provider accepted the
 * request. If `options.abortSignal` aborts before the part `finish` arrives, the rest of the stream is ignored.
 */
export async function askModel(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions & { abortSignal: AbortSignal },
  show: (event: AnswerEvent) => void,
  onTaken: () => void = () => {},
): Promise<Answer> {
  const parts: Part[] = [];
  let started = false;
  const { abortSignal: signal } = options;
  const aborted = (): Answer => {
    const { records, calls } = keptOf(parts);
    return { kind: 'aborted', records, calls, reason: signal.reason, started };
  };
  const whenAborted = new Promise<'aborted'>((resolve) => {
    if (signal.aborted) resolve('aborted');
    else signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
  try {
    if (signal.aborted) return aborted();
    const answered = await Promise.race([model.doStream(options), whenAborted]);
    if (answered === 'aborted') return aborted();
    const reader = answered.stream.getReader();
    const headers = answered.response?.headers;
    for (;;) {
      const read = await Promise.race([reader.read(), whenAborted]);
      if (read === 'aborted') {
        // The signal also closes the connection, so errors of the stream no longer matter.
        reader.cancel(signal.reason).catch(() => {});
        return aborted();
      }
      if (read.done) return { kind: 'failed', error: new IncompleteAnswer('the stream ended before the answer was complete') };
      const part = read.value;
      // The provider's package itself sends `stream-start`, which therefore does not show that the provider has accepted the
      // request.
      if (!started && part.type !== 'stream-start' && part.type !== 'error') {
        started = true;
        onTaken();
      }
      // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- Earpiece ignores many types of parts, and providers add new types
      switch (part.type) {
        case 'text-start':
        case 'reasoning-start':
          parts.push({
            kind: part.type === 'text-start' ? 'text' : 'reasoning',
            id: part.id,
            text: '',
            ended: false,
            ...meta(part.providerMetadata),
          });
          break;
        case 'text-delta':
        case 'reasoning-delta': {
          const open = openPart(parts, part.type === 'text-delta' ? 'text' : 'reasoning', part.id);
          open.text += part.delta;
          Object.assign(open, meta(merged(open.metadata, part.providerMetadata)));
          show({ type: open.kind, delta: part.delta });
          break;
        }
        case 'text-end':
        case 'reasoning-end': {
          const open = openPart(parts, part.type === 'text-end' ? 'text' : 'reasoning', part.id);
          open.ended = true;
          Object.assign(open, meta(merged(open.metadata, part.providerMetadata)));
          break;
        }
        case 'tool-input-start':
          parts.push({ kind: 'call', id: part.id, name: part.toolName, input: '', ended: false, ...meta(part.providerMetadata) });
          break;
        case 'tool-input-delta': {
          const open = parts.find((p) => p.kind === 'call' && p.id === part.id);
          if (open?.kind === 'call') {
            open.input += part.delta;
            show({ type: 'tool_input', id: open.id, name: open.name, delta: part.delta });
          }
          break;
        }
        case 'tool-call': {
          const at = parts.findIndex((p) => p.kind === 'call' && p.id === part.toolCallId);
          const call: Part = {
            kind: 'call',
            id: part.toolCallId,
            name: part.toolName,
            input: part.input,
            ended: true,
            ...meta(part.providerMetadata),
          };
          if (at < 0) parts.push(call);
          else parts[at] = call;
          break;
        }
        case 'error':
          return signal.aborted ? aborted() : { kind: 'failed', error: part.error };
        case 'finish': {
          const { unified, raw } = part.finishReason;
          // Some model gateways report an error as a custom finish reason.
          if (unified === 'error' || raw === 'error')
            return {
              kind: 'failed',
              error: new IncompleteAnswer(`the provider ended the answer with an error${raw === undefined ? '' : `: ${raw}`}`),
            };
          const finish: Finish = { kind: FINISHES[unified] ?? 'whole', ...defined({ raw }) };
          const records = finish.kind === 'cut' ? cutOf(parts) : parts.flatMap((p) => recordsOf(p, false));
          return {
            kind: 'finished',
            records,
            calls: callsOf(records),
            finish,
            usage: part.usage,
            ...(headers === undefined ? {} : { headers: lowerCase(headers) }),
          };
        }
        default:
          break;
      }
    }
  } catch (error) {
    return signal.aborted ? aborted() : { kind: 'failed', error };
  }
}

/** The error of a stream that broke off or ended with an error. The same request may succeed later. */
export class IncompleteAnswer extends Error {
  override readonly name = 'IncompleteAnswer';
}

const lowerCase = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

const FINISHES: Readonly<Record<string, Finish['kind']>> = { length: 'cut', 'content-filter': 'refused' };

/**
 * Returns the records of an answer that reached its token limit. Reasoning at the end is dropped, because providers that check
 * reasoning refuse an answer that ends in reasoning.
 */
function cutOf(parts: readonly Part[]): readonly AnswerRecord[] {
  const last = parts.at(-1);
  const records = parts.flatMap((part) => recordsOf(part, false, part === last, part === last));
  while (records.at(-1)?.type === 'chat_response' && (records.at(-1) as ChatResponseRecord).reasoning !== undefined)
    records.pop();
  return records;
}

/**
 * Returns the part of an interrupted answer that a later request may contain: text that is not blank, signed reasoning, and calls
 * with complete arguments.
 */
function keptOf(parts: readonly Part[]): { records: readonly AnswerRecord[]; calls: readonly ToolCallRequestRecord[] } {
  const records = parts.flatMap((part, i) => recordsOf(part, true, i === parts.length - 1));
  // Reasoning belongs to the part that follows. Providers that check reasoning refuse a request without that part.
  while (records.at(-1)?.type === 'chat_response' && (records.at(-1) as ChatResponseRecord).reasoning !== undefined)
    records.pop();
  const last = records.at(-1);
  // The answer would have continued after this part, even if the part is complete. After a restart, `truncated` shows that the
  // turn had not ended.
  if (last?.type === 'chat_response') records[records.length - 1] = { ...last, truncated: true };
  return { records, calls: callsOf(records) };
}

/**
 * Returns the records of one part. With `last`, no part follows, so a part without an end event may be incomplete. With `cut`,
 * the answer reached its limit of output tokens in this part.
 */
function recordsOf(part: Part, partial: boolean, last = false, cut = false): AnswerRecord[] {
  const metadata = part.metadata === undefined ? {} : { metadata: { provider: part.metadata as unknown as Json } };
  if (part.kind === 'call') {
    // A call that was interrupted before the first text of its arguments is incomplete. A finished call may have no arguments.
    // Anthropic's package turns missing arguments into {}.
    const unheard = cut ? /^(\{\})?$/.test(part.input.trim()) : partial && !part.ended && part.input.trim() === '';
    const args = unheard ? undefined : parsed(part.input);
    if (args === undefined)
      return partial
        ? []
        : [
            {
              type: 'tool_call_request',
              id: part.id,
              name: part.name,
              arguments: {},
              metadata: { malformed: part.input, ...(cut ? { cut: true } : {}), ...metadata.metadata },
            },
          ];
    return [{ type: 'tool_call_request', id: part.id, name: part.name, arguments: args, ...metadata }];
  }
  if (part.kind === 'reasoning') {
    if (partial && !(part.ended && isSigned(part.metadata))) return [];
    return part.text === '' && part.metadata === undefined ? [] : [{ type: 'chat_response', reasoning: part.text, ...metadata }];
  }
  if (part.text.trim() === '') return [];
  return [
    {
      type: 'chat_response',
      message: part.text,
      ...(partial && last && !part.ended ? { truncated: true as const } : {}),
      ...metadata,
    },
  ];
}

/**
 * The names of the fields by which providers recognize their reasoning. Without such a field, providers drop or refuse the
 * reasoning.
 */
const SIGNATURES = ['signature', 'redactedData', 'reasoningEncryptedContent', 'thoughtSignature'] as const;
const isSigned = (metadata: SharedV4ProviderMetadata | undefined): boolean =>
  Object.values(metadata ?? {}).some((options) =>
    SIGNATURES.some((key) => typeof options[key] === 'string' && options[key] !== ''),
  );

const callsOf = (records: readonly AnswerRecord[]): ToolCallRequestRecord[] =>
  records.flatMap((r) => (r.type === 'tool_call_request' ? [r] : []));

function openPart(parts: Part[], kind: 'text' | 'reasoning', id: string): Extract<Part, { text: string }> {
  const found = parts.findLast((p) => p.kind === kind && p.id === id);
  if (found && found.kind !== 'call') return found;
  const made: Extract<Part, { text: string }> = { kind, id, text: '', ended: false };
  parts.push(made);
  return made;
}

/**
 * Returns the arguments as a JSON object. An empty text means no arguments. Returns undefined for a text that is not a JSON
 * object. The model then gets an error.
 */
function parsed(input: string): Json | undefined {
  if (input.trim() === '') return {};
  try {
    const value = JSON.parse(input) as Json;
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const meta = (metadata: SharedV4ProviderMetadata | undefined): { metadata?: SharedV4ProviderMetadata } =>
  metadata === undefined ? {} : { metadata };

function merged(
  a: SharedV4ProviderMetadata | undefined,
  b: SharedV4ProviderMetadata | undefined,
): SharedV4ProviderMetadata | undefined {
  if (a === undefined || b === undefined) return b ?? a;
  const both: SharedV4ProviderMetadata = { ...a };
  for (const [provider, options] of Object.entries(b)) both[provider] = { ...both[provider], ...options };
  return both;
}
