/** Makes a conversation with handles, on a store in memory. A test fails if it leaves processes or resources behind. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect } from 'vitest';

import { createBus, type Subscriber } from '../../src/bus/index.ts';
import { DEFAULT_POLICY, type Draft, type Item, type Json } from '../../src/core/index.ts';
import { Inbox, type Conversation } from '../../src/inbox/index.ts';
import {
  handleRegistry,
  type HandleRegistry,
  type HandleRegistryOptions,
  type HandleSide,
  type HandleView,
  type StatefulTool,
} from '../../src/handles/index.ts';
import { markOfProcess } from '../../src/handles/sessions.ts';
import type { ToolCall, ToolOutcome } from '../../src/handles/tool.ts';
import { memoryStore } from '../../src/stores/index.ts';

export const ADDRESS = 'shop/coder#main';

export type Asked = { readonly name: string; readonly args: Json; readonly id?: string };

export type Stage = {
  readonly folder: string;
  readonly inbox: Inbox;
  readonly conversation: Conversation;
  readonly handles: HandleRegistry;
  readonly records: Draft[];
  readonly troubles: unknown[];
  /** The output that the person sees. */
  readonly shown: string[];
  /** Runs one call as a batch. */
  readonly call: (name: string, args: Json, options?: { signal?: AbortSignal }) => Promise<ToolOutcome>;
  /** Runs one call as a batch, and returns the parsed answer. */
  readonly ask: (name: string, args: Json, options?: { signal?: AbortSignal }) => Promise<Record<string, never>>;
  readonly batch: (calls: readonly Asked[], options?: { signal?: AbortSignal }) => Promise<ToolOutcome[]>;
  /** Returns the open notifications, such as `tool.stopped info message`, when all notifications so far are queued. */
  readonly open: () => Promise<string[]>;
  readonly items: () => Promise<readonly Item[]>;
  /** Resolves when `is` accepts the view of the handle with this name. */
  readonly until: (id: string, is: (view: HandleView) => boolean) => Promise<HandleView>;
};

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export function stage(
  tools: readonly StatefulTool[],
  options: Partial<HandleRegistryOptions> & { readonly noInbox?: true; readonly subscribers?: readonly Subscriber[] } = {},
): Stage {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'earpiece-handles-'));
  const before = resources();
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
  const records: Draft[] = [];
  const troubles: unknown[] = [];
  const shown: string[] = [];
  const views = new Map<string, HandleView>();
  const uids = new Set<string>();
  let waiting: (() => void)[] = [];
  const { noInbox, subscribers, ...given } = options;
  const bus = subscribers && createBus({ inbox, subscribers: { of: () => ({ subscribers, problems: [] }) } });
  const handles = handleRegistry({
    ...(noInbox ? {} : { inbox }),
    ...(bus ? { emitter: bus } : {}),
    address: ADDRESS,
    record: (draft) => void records.push(draft),
    onTrouble: (error) => void troubles.push(error),
    ...given,
    folder,
    tools,
    onChange: (view) => {
      views.set(view.id, view);
      uids.add(view.uid);
      for (const wake of waiting.splice(0)) wake();
    },
  });
  cleanups.push(async () => {
    await handles.close();
    await bus?.close();
    await inbox.close();
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    expect(marked(uids), 'processes left over').toEqual([]);
    await expect.poll(() => more(resources(), before), { message: 'resources left over', timeout: 15_000 }).toEqual({});
  });
  let calls = 0;
  const batch: Stage['batch'] = (asked, { signal = new AbortController().signal } = {}) => {
    const named = asked.map((call) => ({ id: call.id ?? `call_${++calls}`, name: call.name, args: call.args }));
    return Promise.all(
      named.map((call) => {
        const tool = handles.tools.find((candidate) => candidate.name === call.name);
        if (tool === undefined) throw new Error(`no tool ${call.name}`);
        const context: ToolCall = { id: call.id, signal, batch: named, progress: (text) => void shown.push(text) };
        return tool.execute(call.args, context);
      }),
    );
  };
  const call: Stage['call'] = async (name, args, more) => (await batch([{ name, args }], more))[0] as ToolOutcome;
  const items = async (): Promise<readonly Item[]> => {
    await handles.idle();
    return inbox.open(ADDRESS);
  };
  return {
    folder,
    inbox,
    conversation: inbox.conversation(ADDRESS),
    handles,
    records,
    troubles,
    shown,
    batch,
    call,
    items,
    ask: async (name, args, more) => JSON.parse((await call(name, args, more)).content) as Record<string, never>,
    open: async () =>
      (await items()).map(({ notification: { kind, level, message } }) => `${kind.source}.${kind.name} ${level} ${message}`),
    until: async (id, is) => {
      for (;;) {
        const view = views.get(id);
        if (view !== undefined && is(view)) return view;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

/** Returns a tool that the test controls, run by run. */
export function puppet(definition: Partial<StatefulTool> = {}): StatefulTool & { readonly runs: Map<string, Run> } {
  const runs = new Map<string, Run>();
  return {
    name: 'work',
    description: 'Works.',
    parameters: { properties: { what: { type: 'string' } } },
    actions: ['fetch', 'apply', 'abort'],
    ...definition,
    runs,
    run: (args, side) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      side.signal.addEventListener('abort', () => reject(side.signal.reason), { once: true });
      runs.set(side.id, { side, args, finish: resolve, fail: reject });
      return promise;
    },
  };
}

export type Run = {
  readonly side: HandleSide;
  readonly args: Json;
  readonly finish: (text: string) => void;
  readonly fail: (error: unknown) => void;
};

/** Returns processes whose environment contains the mark of one of these handles. */
function marked(uids: ReadonlySet<string>): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && uids.has(markOfProcess(pid) ?? ''));
}

const more = (now: Record<string, number>, before: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.entries(now).filter(([name, count]) => count > (before[name] ?? 0)));

function resources(): Record<string, number> {
  const counted: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo())
    if (['ProcessWrap', 'PipeWrap', 'TTYWrap', 'ReadStream', 'FSReqPromise'].includes(name))
      counted[name] = (counted[name] ?? 0) + 1;
  counted['files'] = readdirSync('/proc/self/fd').length;
  return counted;
}
