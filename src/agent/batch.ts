import type { ToolCallRequestRecord } from '../core/records.ts';
import { didYouMean } from '../core/errors.ts';
import type { Tool, ToolOutcome } from '../sources/tool.ts';
import type { AgentEvent } from './events.ts';

export type Batch = {
  readonly calls: readonly ToolCallRequestRecord[];
  readonly tools: readonly Tool[];
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => void;
  /** Writes one result down; called one after the other in the order in which they land, `last` with the last. */
  readonly land: (call: ToolCallRequestRecord, outcome: ToolOutcome, last: boolean) => Promise<void>;
};

/** Runs the calls of one answer side by side. Resolves when each has its result in the log; rejects only when `land` does. */
export async function runBatch({ calls, tools, signal, emit, land }: Batch): Promise<void> {
  const batch = calls.map((call) => ({ id: call.id, name: call.name, args: call.arguments }));
  let left = calls.length;
  let landing: Promise<void> = Promise.resolve();
  await Promise.all(
    calls.map(async (call) => {
      emit({ type: 'tool_started', id: call.id, name: call.name, args: call.arguments });
      const outcome = await outcomeOf(call, tools, {
        id: call.id,
        signal,
        batch,
        progress: (text) => emit({ type: 'tool_progress', id: call.id, text }),
      });
      landing = landing.then(() => land(call, outcome, --left === 0));
      await landing;
      emit({ type: 'tool_ended', id: call.id, name: call.name, content: outcome.content, isError: outcome.isError ?? false });
    }),
  );
}

async function outcomeOf(
  call: ToolCallRequestRecord,
  tools: readonly Tool[],
  context: Parameters<Tool['execute']>[1],
): Promise<ToolOutcome> {
  const malformed = (call.metadata as { malformed?: string } | undefined)?.malformed;
  if (malformed !== undefined) return wrong(`The arguments are no JSON object: ${malformed.slice(0, 200)}`);
  const tool = tools.find((t) => t.name === call.name);
  if (tool === undefined) {
    const names = tools.map((t) => t.name);
    const near = didYouMean(call.name, names);
    return wrong(
      `There is no tool ${JSON.stringify(call.name)}${near === undefined ? '.' : `; did you mean ${near}?`} There are: ${names.join(', ') || 'none'}.`,
    );
  }
  const { signal } = context;
  let ended: (() => void) | undefined;
  const aborted = new Promise<ToolOutcome>((resolve) => {
    ended = () => resolve(wrong('Not finished: interrupted.'));
    if (signal.aborted) ended();
    else signal.addEventListener('abort', ended, { once: true });
  });
  try {
    // A tool that ends in time after the abort has the better answer.
    const outcome = tool.execute(call.arguments, context).then(spoken);
    return await Promise.race([outcome, aborted.then((late) => Promise.race([outcome, graceful(late)]))]);
  } catch (error) {
    return spoken(wrong(error instanceof Error ? error.message : String(error)));
  } finally {
    if (ended) signal.removeEventListener('abort', ended);
  }
}

const GRACE_MS = 250;
const graceful = (late: ToolOutcome): Promise<ToolOutcome> =>
  new Promise((resolve) => setTimeout(resolve, GRACE_MS, late).unref());
/** Anthropic refuses an error without a word. */
const spoken = (outcome: ToolOutcome): ToolOutcome =>
  outcome.isError && outcome.content.trim() === '' ? { ...outcome, content: 'Failed; it did not say why.' } : outcome;
const wrong = (content: string): ToolOutcome => ({ content, isError: true });
