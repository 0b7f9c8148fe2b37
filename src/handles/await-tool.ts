/** Makes the tool `await`, which waits for several handles at once, so that the model need not poll each. */
import { defined } from '../core/defined.ts';
import { didYouMean } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Tool, ToolCall, ToolOutcome } from './tool.ts';
import { answerOf, type Answer } from './answers.ts';
import { isObject, show } from './command.ts';
import type { Handle } from './handle.ts';

/**
 * A handle with the name that the model uses. `get` returns undefined until a call of the same batch spawns the handle. If the
 * spawn fails, `get` returns the reason.
 */
export type Target = { readonly id: string; get(): Handle | undefined | string };

export type AwaitDeps = {
  /** Finds a handle by its name. Throws `bad_argument` for an unknown name. */
  target(id: string, call: ToolCall): Target;
  changed(signal: AbortSignal): Promise<void>;
  shown(handle: Handle, version: number, callId: string): void;
  /** Reports that this call of `await` no longer watches the handle. */
  released(handle: Handle): void;
  settle(call: ToolCall): void;
};

type Wanted = { readonly any: readonly string[]; readonly all: readonly string[]; readonly timeoutSecs: number | undefined };

/** The longest delay of a Node timer, in ms: about 25 days. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * Makes the tool `await`, with which the model waits for handles. A call returns at its time limit, or when every handle of `all`
 * and at least one of `any` has stopped. A handle that waits for input has not stopped. If all handles that the call still needs
 * wait for an answer from the model, the call returns with their questions. A question that the model has already read does not
 * end a later call.
 */
export function awaitTool(deps: AwaitDeps): Tool {
  return {
    name: 'await',
    description:
      'Waits until background handles have stopped: every one of `all`, and at least one of `any`. Handles that are spawned in the same batch can be named. Returns {completed, pending, timed_out?}. A timeout ends no handle. Returned results are not notified again.',
    inputSchema: {
      type: 'object',
      properties: {
        all: { type: 'array', items: { type: 'string' }, description: 'Names of handles: wait until each has stopped.' },
        any: { type: 'array', items: { type: 'string' }, description: 'Names of handles: wait until one of them has stopped.' },
        timeout_secs: { type: 'number', description: 'Return after this many seconds at the latest. Default: no limit.' },
      },
      required: [],
    },
    execute: async (args, call) => {
      deps.settle(call);
      const wanted = parse(args);
      if (typeof wanted === 'string') return refused(wanted);
      return waitFor(wanted, call, deps);
    },
  };
}

async function waitFor({ any, all, timeoutSecs }: Wanted, call: ToolCall, deps: AwaitDeps): Promise<ToolOutcome> {
  const ids = [...new Set([...all, ...any])];
  let targets: readonly Target[];
  try {
    targets = ids.map((id) => deps.target(id, call));
  } catch (error) {
    return refused((error as Error).message);
  }
  const timer = new AbortController();
  const timeout =
    timeoutSecs === undefined ? undefined : setTimeout(() => timer.abort(), Math.min(timeoutSecs * 1000, LONGEST_MS));
  const signal = AbortSignal.any([timer.signal, call.signal]);
  const watched = new Set<Handle>();
  try {
    let over = timeoutSecs === 0;
    for (;;) {
      const found = new Map(targets.map((target) => [target.id, target.get()] as const));
      for (const [id, handle] of found) {
        if (typeof handle === 'string') return refused(`handle ${JSON.stringify(id)} was not spawned: ${handle}`);
        if (handle === undefined || watched.has(handle)) continue;
        watched.add(handle);
        handle.watchers += 1;
      }
      const handles = found as ReadonlyMap<string, Handle | undefined>;
      const met = isMet(all, any, (id) => handles.get(id)?.active === false);
      if (met || over || isStuck(all, any, handles)) return await report(handles, call, deps, over && !met);
      if (call.signal.aborted) return refused('interrupted; the handles keep running');
      await deps.changed(signal);
      over = timer.signal.aborted;
    }
  } finally {
    clearTimeout(timeout);
    for (const handle of watched) {
      handle.watchers -= 1;
      deps.released(handle);
    }
  }
}

async function report(
  handles: ReadonlyMap<string, Handle | undefined>,
  call: ToolCall,
  deps: AwaitDeps,
  timedOut: boolean,
): Promise<ToolOutcome> {
  const completed: Answer[] = [];
  const pending: Answer[] = [];
  const knows: string[] = [];
  for (const [id, handle] of handles) {
    if (handle === undefined) {
      pending.push({ id, state: 'running' });
      continue;
    }
    const { answer, version } = await answerOf(handle);
    if (answer.state === 'stopped') {
      completed.push(answer);
      knows.push(handle.about);
    }
    // For an active handle, `await` shows only the state and the question. `fetch` shows the content.
    else pending.push({ id, state: answer.state, ...defined({ question: answer.question }) });
    if (!call.signal.aborted) deps.shown(handle, version, call.id);
  }
  return { content: JSON.stringify({ completed, pending, ...(timedOut ? { timed_out: true } : {}) }), knows };
}

const isMet = (all: readonly string[], any: readonly string[], stopped: (id: string) => boolean): boolean =>
  all.every(stopped) && (any.length === 0 || any.some(stopped));

/**
 * Whether all handles that the call still needs wait for the model's answer, and the model has not read all of their questions.
 */
function isStuck(all: readonly string[], any: readonly string[], handles: ReadonlyMap<string, Handle | undefined>): boolean {
  const open = all.filter((id) => handles.get(id)?.active !== false);
  const anyMet = any.length === 0 || any.some((id) => handles.get(id)?.active === false);
  const needed = [...open, ...(anyMet ? [] : any)];
  const waiting = needed.map((id) => handles.get(id)).filter((handle) => handle?.phase.type === 'waiting');
  return (
    waiting.length === needed.length && waiting.some((handle) => handle !== undefined && handle.shownVersion < handle.version)
  );
}

function parse(args: Json): Wanted | string {
  if (!isObject(args)) return `the arguments must be an object, got ${show(args)}`;
  const unknown = Object.keys(args).find((key) => !['any', 'all', 'timeout_secs'].includes(key));
  if (unknown !== undefined) {
    const meant = didYouMean(unknown, ['any', 'all', 'timeout_secs']);
    return `${unknown} is not an argument; the arguments are any, all and timeout_secs${meant === undefined ? '' : `; did you mean ${meant}?`}`;
  }
  const lists: Record<'any' | 'all', readonly string[]> = { any: [], all: [] };
  for (const which of ['any', 'all'] as const) {
    const given = args[which];
    if (given === undefined || given === null) continue;
    if (!Array.isArray(given) || !given.every((id): id is string => typeof id === 'string'))
      return `${which} must be a list of names of handles, got ${show(given)}`;
    lists[which] = given;
  }
  if (lists.any.length === 0 && lists.all.length === 0)
    return 'at least one handle is needed, in all or in any: {"all": ["build"]}';
  const { timeout_secs: secs } = args;
  if (secs !== undefined && secs !== null && !(typeof secs === 'number' && Number.isFinite(secs) && secs >= 0))
    return `timeout_secs must be a number of at least 0 seconds, got ${show(secs)}`;
  return { ...lists, timeoutSecs: typeof secs === 'number' ? secs : undefined };
}

const refused = (message: string): ToolOutcome => ({ content: `await: ${message}`, isError: true });
