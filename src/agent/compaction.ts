/**
 * Applies compactions in JP's format, which are overlays over whole turns. A compaction changes the request to a provider, but
 * never the log. If several compactions cover a turn, the newest decides, separately for summary, reasoning and tool calls.
 */
import type { Json } from '../core/json.ts';
import { isType, type Draft } from '../core/records.ts';

type Summary = { readonly text: string };
type ToolCalls = { readonly kind: 'omit' } | { readonly kind: 'strip'; readonly request: boolean; readonly response: boolean };
/** A policy for content with more than `over` bytes. */
type Sized<T> = { readonly policy: T; readonly over: number };
type TurnPolicy = { summary?: Summary; reasoning?: Sized<'strip'>; toolCalls?: Sized<ToolCalls> };

/**
 * A range of turns, including both ends. The first turn has the number 0, and includes the records before the first `turn_start`.
 */
export type CompactionRecord = {
  readonly type: 'compaction';
  readonly from_turn: number;
  readonly to_turn: number;
  readonly summary?: string | { readonly summary: string } | null;
  readonly reasoning?: Json;
  readonly tool_calls?: Json;
};

export const SUMMARY_REQUEST = '[Summary of the conversation so far]';

/** Returns the records for a provider, after all compactions. Without a compaction, returns the given array. */
export function compacted(records: readonly Draft[]): readonly Draft[] {
  const compactions = records.filter((record): record is CompactionRecord & Draft => record.type === 'compaction');
  if (compactions.length === 0) return records;
  const turns = turnsOf(records);
  const ranges = compactions.map((compaction) => ({ compaction, now: turns[records.indexOf(compaction)] ?? 0 }));
  const policies = policiesOf(ranges, turns.at(-1) ?? 0);
  const names = new Map(
    records.flatMap((record) => (isType(record, 'tool_call_request') ? [[record.id, record.name] as const] : [])),
  );
  const sizes = sizesOf(records);
  const summarized = new Set<Summary>();
  return records.flatMap((record, at): readonly Draft[] => {
    if (record.type === 'compaction') return [];
    const policy = policies[turns[at] ?? 0];
    if (policy?.summary === undefined) return inTurn(record, policy ?? {}, { names, sizes });
    if (summarized.has(policy.summary)) return [];
    summarized.add(policy.summary);
    return [
      { type: 'chat_request', content: SUMMARY_REQUEST, source: 'user' },
      { type: 'chat_response', message: policy.summary.text },
    ];
  });
}

type Calls = { readonly names: ReadonlyMap<string, string>; readonly sizes: ReadonlyMap<string, number> };

function inTurn(record: Draft, { reasoning, toolCalls }: TurnPolicy, { names, sizes }: Calls): readonly Draft[] {
  if (isType(record, 'chat_response') && record.reasoning !== undefined)
    return reasoning !== undefined && Buffer.byteLength(record.reasoning) > reasoning.over ? [] : [record];
  if (toolCalls === undefined) return [record];
  const { policy, over } = toolCalls;
  if (isType(record, 'tool_call_request')) {
    if (policy.kind === 'omit') return (sizes.get(record.id) ?? 0) > over ? [] : [record];
    return policy.request && sizeOf(record.arguments) > over ? [{ ...record, arguments: {} }] : [record];
  }
  if (isType(record, 'tool_call_response')) {
    if (policy.kind === 'omit') return (sizes.get(record.id) ?? 0) > over ? [] : [record];
    if (!policy.response || sizeOf(record.content) <= over) return [record];
    const content = `[compacted] ${names.get(record.id) ?? 'unknown'}: ${record.is_error ? 'error' : 'success'}`;
    return [{ ...record, content }];
  }
  return [record];
}

function turnsOf(records: readonly Draft[]): readonly number[] {
  let turn = 0;
  let begun = false;
  return records.map(({ type }) => {
    if (type === 'turn_start') {
      if (begun) turn++;
      begun = true;
    }
    return turn;
  });
}

/** A compaction and `now`, the turn in which it was written. The compaction does not apply to later turns. */
type Range = { readonly compaction: CompactionRecord; readonly now: number };

function policiesOf(ranges: readonly Range[], lastTurn: number): readonly TurnPolicy[] {
  const policies = Array.from({ length: lastTurn + 1 }, (): TurnPolicy => ({}));
  for (const { compaction, now } of ranges) {
    const { from_turn: from, summary, reasoning, tool_calls: toolCalls } = compaction;
    const to = Math.min(compaction.to_turn, now);
    const text = typeof summary === 'object' ? summary?.summary : summary;
    const shared: TurnPolicy = {};
    if (text !== undefined) shared.summary = { text };
    const thinking = sized(reasoning);
    if (thinking?.policy === 'strip') shared.reasoning = { policy: 'strip', over: thinking.over };
    const calls = sized(toolCalls);
    const policy = calls === undefined ? undefined : toolCallsOf(calls.policy, toolCalls);
    if (calls !== undefined && policy !== undefined) shared.toolCalls = { policy, over: calls.over };
    for (const covered of policies.slice(from, to + 1)) Object.assign(covered, shared);
  }
  return policies;
}

const sized = (spec: Json | undefined): Sized<string> | undefined => {
  if (typeof spec === 'string') return { policy: spec, over: -1 };
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec)) return undefined;
  const { policy, over } = spec as { readonly policy?: Json; readonly over?: Json };
  return typeof policy === 'string' ? { policy, over: typeof over === 'number' ? over : -1 } : undefined;
};

function toolCallsOf(policy: string, spec: Json | undefined): ToolCalls | undefined {
  if (policy === 'omit') return { kind: 'omit' };
  if (policy !== 'strip') return undefined;
  const { request = true, response = true } = (typeof spec === 'object' && spec !== null ? spec : {}) as {
    readonly request?: Json;
    readonly response?: Json;
  };
  return { kind: 'strip', request: request === true, response: response === true };
}

/** Returns the size of each call in bytes: the sum of its arguments and its result. */
function sizesOf(records: readonly Draft[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const record of records)
    if (isType(record, 'tool_call_request')) sizes.set(record.id, (sizes.get(record.id) ?? 0) + sizeOf(record.arguments));
    else if (isType(record, 'tool_call_response')) sizes.set(record.id, (sizes.get(record.id) ?? 0) + sizeOf(record.content));
  return sizes;
}

const sizeOf = (value: unknown): number => Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value));
