/**
 * At the end of a turn, treats each active background handle as its tool defines.
 *
 * - `inquire`: the model chooses whether to wait for the handle, abort it, or leave it running. A wait lasts up to
 *   `turnEndSecs` (default 60 s), and adds a cycle if the handle stops.
 * - `await`: Earpiece waits for the handle up to `turnEndSecs`, and then aborts it. The handle's notification is delivered at the
 *   start of the next turn.
 * - `abort`: Earpiece aborts the handle.
 */
import type { Draft } from '../core/records.ts';
import { within } from './process.ts';
import { lastLineOf } from './text.ts';
import type { Handle } from './handle.ts';

export const TURN_END_ANSWERS = ['wait', 'abort', 'leave'] as const;
export type TurnEndAnswer = (typeof TURN_END_ANSWERS)[number];

/** The recorded question. The field `question` contains all data for an answer. */
export type Inquiry = {
  readonly id: string;
  readonly source: { readonly source: 'tool'; readonly name: string };
  readonly question: {
    readonly text: string;
    readonly answer_type: { readonly type: 'select'; readonly options: readonly TurnEndAnswer[] };
    readonly default: TurnEndAnswer;
    readonly handle: {
      readonly id: string;
      readonly tool: string;
      readonly state: string;
      readonly elapsed_secs: number;
      readonly output_preview: string;
    };
  };
};

export type TurnEndOptions = {
  /**
   * Asks all questions with one request to a model, and returns an answer for each id. A handle without a valid answer keeps
   * running. If `ask` throws or is missing, all handles with `inquire` keep running.
   */
  readonly ask?: (
    inquiries: readonly Inquiry[],
    options: { readonly signal: AbortSignal },
  ) => Promise<Readonly<Record<string, TurnEndAnswer>>>;
  /**
   * Aborts when the person stops the turn. No question is then asked, and no handle is awaited. Handles with `abort` still end.
   */
  readonly signal?: AbortSignal;
};

/** The names of the handles, grouped by their result at the end of the turn. */
export type TurnEnd = {
  readonly waited: readonly string[];
  readonly aborted: readonly string[];
  readonly left: readonly string[];
  /**
   * Whether a handle stopped after the model had chosen to wait for it. The handle's notification is queued and needs another
   * cycle.
   */
  readonly again: boolean;
};

export type TurnEndDeps = {
  readonly options: TurnEndOptions;
  readonly now: () => number;
  readonly inquiryId: (handle: Handle) => string;
  readonly record: (draft: Draft) => void;
  readonly trouble: (error: unknown) => void;
  readonly preview: (handle: Handle) => Promise<string>;
};

const DEFAULT_SECS = 60;
const PREVIEW_CHARS = 400;
const ABORTED = 'aborted at the end of the turn';

export async function endTurn(handles: readonly Handle[], deps: TurnEndDeps): Promise<TurnEnd> {
  const signal = deps.options.signal ?? new AbortController().signal;
  const by = (policy: 'inquire' | 'await' | 'abort'): Handle[] =>
    handles.filter((handle) => (handle.tool.onTurnEnd ?? 'inquire') === policy);

  const answers = await inquire(by('inquire'), signal, deps);
  const chosen = (answer: TurnEndAnswer): Handle[] => by('inquire').filter((handle) => answers.get(handle) === answer);
  const awaited = by('await');
  const waitsFor = [...awaited, ...chosen('wait')];
  await Promise.all([
    ...[...by('abort'), ...chosen('abort')].map((handle) => handle.abort(ABORTED)),
    ...waitsFor.map((handle) => stopsInTime(handle, signal)),
  ]);
  // If a person stops the turn, the wait ends, but the awaited handles continue.
  if (!signal.aborted)
    await Promise.all(
      awaited.filter((handle) => handle.active).map((handle) => handle.abort(`${ABORTED}, after the time limit`)),
    );

  const names = (some: readonly Handle[]): string[] => some.map((handle) => handle.id);
  const waited = waitsFor.filter((handle) => !handle.active && handle.because === undefined);
  return {
    waited: names(waited),
    aborted: names(handles.filter((handle) => !handle.active && handle.because !== undefined)),
    left: names(handles.filter((handle) => handle.active)),
    again: waited.some((handle) => chosen('wait').includes(handle)),
  };
}

async function inquire(
  handles: readonly Handle[],
  signal: AbortSignal,
  { options, ...deps }: TurnEndDeps,
): Promise<ReadonlyMap<Handle, TurnEndAnswer>> {
  if (handles.length === 0 || options.ask === undefined || signal.aborted) return new Map(handles.map((h) => [h, 'leave']));
  const inquiries = new Map<Handle, Inquiry>();
  for (const handle of handles) {
    const elapsed = Math.max(0, Math.round((deps.now() - handle.startedAt) / 100) / 10);
    const preview = await deps.preview(handle);
    inquiries.set(handle, {
      id: deps.inquiryId(handle),
      source: { source: 'tool', name: handle.tool.name },
      question: {
        text: `${handle.tool.name} "${handle.id}" is still ${handle.phase.type} after ${elapsed} s${lastLineOf(preview) === undefined ? '' : ` (${lastLineOf(preview)})`}. Wait for it, abort it, or leave it running?`,
        answer_type: { type: 'select', options: TURN_END_ANSWERS },
        default: 'leave',
        handle: {
          id: handle.id,
          tool: handle.tool.name,
          state: handle.phase.type,
          elapsed_secs: elapsed,
          output_preview: preview.slice(-PREVIEW_CHARS).toWellFormed(),
        },
      },
    });
  }
  for (const inquiry of inquiries.values()) deps.record({ type: 'inquiry_request', ...inquiry });
  let given: Readonly<Record<string, TurnEndAnswer>> = {};
  try {
    given = await options.ask([...inquiries.values()], { signal });
  } catch (error) {
    if (!signal.aborted) deps.trouble(error);
  }
  const answers = new Map<Handle, TurnEndAnswer>();
  for (const [handle, { id }] of inquiries) {
    const answer = given[id];
    answers.set(handle, answer !== undefined && TURN_END_ANSWERS.includes(answer) ? answer : 'leave');
    deps.record({ type: 'inquiry_response', id, answer: answers.get(handle) });
  }
  return answers;
}

async function stopsInTime(handle: Handle, signal: AbortSignal): Promise<void> {
  const stopped = Promise.withResolvers<void>();
  const onAbort = (): void => stopped.resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  await within(Promise.race([handle.done, stopped.promise]), (handle.tool.turnEndSecs ?? DEFAULT_SECS) * 1000);
  signal.removeEventListener('abort', onAbort);
}
