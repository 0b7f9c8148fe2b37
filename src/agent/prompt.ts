/**
 * Builds the request to a provider as a pure function of the log. The same records give the same messages. If records are added
 * to the log, the earlier messages stay the same, byte for byte, unless a record compacts turns or leaves out notifications. Only
 * the types of `PROVIDER_VISIBLE` reach a provider.
 */
import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import type { Json } from '../core/json.ts';
import {
  isType,
  PROVIDER_VISIBLE,
  type ChatRequestRecord,
  type ChatResponseRecord,
  type Draft,
  type ToolCallRequestRecord,
  type ToolCallResponseRecord,
} from '../core/records.ts';
import { compacted } from './compaction.ts';
import type { Placement } from './placement.ts';

export type PromptOptions = {
  readonly system?: string;
  readonly placement: Placement;
  /**
   * Replaces the view of each carrier of these notifications with one line, as if the log had recorded that the notifications
   * were left out.
   */
  readonly without?: readonly string[];
};

/** Builds the request for these records. An incomplete batch is left out until all its results are recorded. */
export function promptOf(records: readonly Draft[], { system, placement, without = [] }: PromptOptions): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = system === undefined || system === '' ? [] : [{ role: 'system', content: system }];
  const redacted = new Set([...redactions(records), ...without]);
  let assistant: AssistantPart[] = [];
  let calls: ToolCallRequestRecord[] = [];
  let results = new Map<string, ToolCallResponseRecord>();
  let nth = 0;

  const put = (messages: readonly LanguageModelV4Message[]): void => {
    for (const message of messages) {
      const last = prompt.at(-1);
      if (placement.alternates && message.role === 'user' && last?.role === 'user')
        prompt[prompt.length - 1] = { ...last, content: [...last.content, ...message.content] };
      else prompt.push(message);
    }
  };
  const endOfAnswer = (): void => {
    const answered = calls.every((call) => results.has(call.id));
    if (assistant.length > 0 && answered) {
      prompt.push({ role: 'assistant', content: assistant });
      if (calls.length > 0) {
        prompt.push({
          role: 'tool',
          content: calls.map((call) => resultPart(call, results.get(call.id) as ToolCallResponseRecord)),
        });
        // A batch has one carrier. In an imported log, a batch may have several carriers, which keep their order.
        const views = [...results.values()].flatMap((result) => viewOf(result, redacted));
        for (const view of views) put(placement.afterTools(view, nth++));
      }
    }
    assistant = [];
    calls = [];
    results = new Map();
  };

  for (const record of compacted(records)) {
    if (!PROVIDER_VISIBLE.has(record.type)) continue;
    if (isType(record, 'chat_request')) {
      endOfAnswer();
      const text = record.content === '' ? [] : [{ type: 'text' as const, text: record.content }];
      put(placement.request(text, viewOf(record, redacted)[0]));
    } else if (isType(record, 'tool_call_response')) results.set(record.id, record);
    else if (isType(record, 'tool_call_request')) {
      if (results.size > 0) endOfAnswer();
      calls.push(record);
      assistant.push(callPart(record));
    } else if (isType(record, 'chat_response')) {
      if (results.size > 0) endOfAnswer();
      assistant.push(...responseParts(record));
    }
  }
  endOfAnswer();
  return prompt;
}

type AssistantPart = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'][number];

/** Returns the calls that have no result, because the process ended while they ran. */
export function unanswered(records: readonly Draft[]): readonly ToolCallRequestRecord[] {
  const answered = new Set(records.flatMap((record) => (isType(record, 'tool_call_response') ? [record.id] : [])));
  return records.flatMap((record) => (isType(record, 'tool_call_request') && !answered.has(record.id) ? [record] : []));
}

/**
 * Returns a provider's own data for a part, such as signatures and encrypted items. A part that has such data cannot be sent
 * again without this data.
 */
export function providerMetadata(
  metadata: Json | undefined,
): { providerOptions: SharedV4ProviderOptions } | Record<string, never> {
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) return {};
  const { provider } = metadata as { provider?: SharedV4ProviderOptions };
  return provider === undefined ? {} : { providerOptions: provider };
}

function responseParts(record: ChatResponseRecord): AssistantPart[] {
  const options = providerMetadata(record.metadata);
  if (record.reasoning !== undefined) return [{ type: 'reasoning', text: record.reasoning, ...options }];
  const text = record.message ?? (record.data === undefined ? undefined : JSON.stringify(record.data));
  // Providers refuse blank text.
  return text === undefined || text.trim() === '' ? [] : [{ type: 'text', text, ...options }];
}

const callPart = (record: ToolCallRequestRecord): LanguageModelV4ToolCallPart => ({
  type: 'tool-call',
  toolCallId: record.id,
  toolName: record.name,
  input: record.arguments,
  ...providerMetadata(record.metadata),
});

const resultPart = (
  call: ToolCallRequestRecord,
  { content, is_error }: ToolCallResponseRecord,
): LanguageModelV4ToolResultPart => ({
  type: 'tool-result',
  toolCallId: call.id,
  toolName: call.name,
  output: { type: is_error ? 'error-text' : 'text', value: content },
});

/**
 * Returns the ids of notifications that were left out. The view of their carrier stays one line in all later requests, so that
 * the conversation can continue.
 */
const redactions = (records: readonly Draft[]): readonly string[] =>
  records.flatMap((record) => (isType(record, 'carrier_redacted') ? record.ids : []));

function viewOf(record: ChatRequestRecord | ToolCallResponseRecord, redacted: ReadonlySet<string>): string[] {
  if (record.view === undefined || record.view.text === '') return [];
  const refused = (record.notifications ?? []).some((notification) => redacted.has(notification.id));
  return [refused ? REDACTED : record.view.text];
}

export const REDACTED = '[notifications were left out here: the provider refused them]';
