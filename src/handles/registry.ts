/**
 * The handles of one conversation: background tools that its model has started, named by it.
 *
 * ```ts
 * const handles = handleRegistry({ inbox, address: 'shop/coder#main', folder, tools: [runTool({ cwd })] });
 * await handles.recover();                       // who was lost in a crash
 * agent.tools.push(...handles.tools);            // `run` and `await`
 * const { again } = await handles.endOfTurn({ ask });
 * await handles.close();                         // ends what still runs
 * ```
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { EarpieceError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Emitter } from '../core/event.ts';
import type { Clock, Ids } from '../core/ports.ts';
import type { Draft, Owner } from '../core/records.ts';
import { randomIds, selfOwner } from '../inbox/index.ts';
import { say } from '../inbox/say.ts';
import type { Tool, ToolCall, ToolOutcome } from './tool.ts';
import { answerOf, viewOf, type HandleView } from './answers.ts';
import { awaitTool, type Target } from './await-tool.ts';
import { parseCommand, spawnedId } from './command.ts';
import { Handle } from './handle.ts';
import { Herald, type NoticeInbox } from './herald.ts';
import { Ledger } from './ledger.ts';
import { LOST, type Notice } from './notices.ts';
import { ownedProcess, recoverHandles, type Recovered } from './recover.ts';
import { actionsOf, checkDefinition, schemaOf, type Args, type Range, type StatefulTool } from './stateful-tool.ts';
import type { Phase, ToolError } from './state.ts';
import { endTurn, type TurnEnd, type TurnEndOptions } from './turn-end.ts';

export type HandleRegistryOptions = {
  readonly tools: readonly StatefulTool[];
  /** The conversation that is told: `project/agent#conversation`. */
  readonly address: string;
  /** Of this conversation and nobody else: outputs, and the note of what runs. Mode 0700. */
  readonly folder: string;
  /** Without it nothing is notified. */
  readonly inbox?: NoticeInbox;
  /** Where what happens to handles is told. Without it each of these events is queued as a notification. */
  readonly emitter?: Emitter;
  readonly ids?: Ids;
  readonly clock?: Clock;
  readonly owner?: Owner;
  /** Appends to the conversation's log: `handle_spawned`, `handle_state`, `handle_ended`, `inquiry_request`, `inquiry_response`. */
  readonly record?: (draft: Draft) => void | Promise<void>;
  /** A handle began, changed or ended. */
  readonly onChange?: (view: HandleView) => void;
  /** What went wrong beside the handles (the inbox, the log). Default: a warning of the process. */
  readonly onTrouble?: (error: unknown) => void;
  /**
   * Withdraw what an answer tells before that answer is recorded. For hosts that do not hand `ToolOutcome.knows` to their
   * carrier; a crash in between then loses it. Default false.
   */
  readonly withdrawAtOnce?: boolean;
};

/** Ended handles that can still be fetched. */
const KEPT = 50;

export class HandleRegistry implements AsyncDisposable {
  /** What the model can call: each stateful tool, and `await` when there is one. */
  readonly tools: readonly Tool[];
  readonly #options: HandleRegistryOptions;
  readonly #definitions: ReadonlyMap<string, StatefulTool>;
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #ledger: Ledger;
  readonly #herald: Herald;
  readonly #owner: Owner;
  /** The newest handle of each name, and older ones under their uid. Oldest first. */
  #handles = new Map<string, Handle>();
  #names = new Map<string, number>();
  #byCall = new Map<string, Handle | { readonly failed: string }>();
  #listeners = new Set<() => void>();
  #queue: Promise<void> = Promise.resolve();
  #counter = 0;
  #closed: Promise<void> | undefined;

  constructor(options: HandleRegistryOptions) {
    for (const tool of options.tools) checkDefinition(tool);
    this.#options = options;
    this.#definitions = new Map(options.tools.map((tool) => [tool.name, tool]));
    this.#ids = options.ids ?? randomIds;
    this.#clock = options.clock ?? { now: () => Date.now() };
    this.#owner = options.owner ?? selfOwner();
    this.#ledger = new Ledger(options.folder);
    this.#herald = new Herald({
      inbox: options.inbox,
      tell: (notice) => this.#tell(notice),
      address: options.address,
      ledger: this.#ledger,
      owner: this.#owner,
      enqueue: (task) => this.#enqueue(task),
      withdrawAtOnce: options.withdrawAtOnce ?? false,
    });
    // A name that was used before the restart stays another handle's.
    for (const entry of this.#ledger.entries()) this.#names.set(entry.id, (this.#names.get(entry.id) ?? 0) + 1);
    this.tools = [
      ...options.tools.map((tool) => statefulTool(tool, this)),
      ...(options.tools.length > 0
        ? [
            awaitTool({
              target: (id, call) => this.#target(id, call),
              changed: (signal) => this.#changed(signal),
              told: (handle, version, callId) => this.#herald.told(handle, version, callId),
              released: (handle) => this.#herald.consider(handle),
              settle: (call) => this.#settle(call),
            }),
          ]
        : []),
    ];
  }

  /** Every handle that can be fetched, oldest first. */
  list(): readonly HandleView[] {
    const now = this.#clock.now();
    return [...this.#handles.values()].map((handle) => viewOf(handle, now));
  }

  /** How many run or wait. */
  get active(): number {
    return this.#active().length;
  }

  /** What a stateful tool does for a call of the model. Never throws. */
  async execute(tool: StatefulTool, raw: Json, call: ToolCall): Promise<ToolOutcome> {
    this.#settle(call);
    try {
      const command = parseCommand(tool, raw);
      switch (command.kind) {
        case 'bad':
          throw new EarpieceError('bad_argument', command.message);
        case 'call':
          return await this.#call(tool, command.args, command.id, call);
        case 'spawn':
          return await this.#spawn(tool, command.args, command.id, call);
        case 'fetch':
          return await this.#look(tool, command.id, call, command.range === undefined ? {} : { range: command.range });
        case 'apply':
          return await this.#look(tool, command.id, call, {
            first: (handle) => {
              if (!handle.active) throw new EarpieceError('bad_argument', `handle ${handle.id} has stopped and takes no input`);
              this.#answered(handle, command.text);
              return handle.apply({ text: command.text, keys: command.keys });
            },
          });
        case 'abort':
          return await this.#look(tool, command.id, call, { first: (handle) => handle.abort('aborted') });
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.notRun(call.id, message);
      return { content: message, isError: true };
    }
  }

  /**
   * This call of a batch will not be executed (a person refused it), or was and failed. Whoever awaits the handle that it
   * would have spawned learns why instead of waiting.
   */
  notRun(callId: string, why: string): void {
    if (this.#byCall.has(callId)) return;
    this.#byCall.set(callId, { failed: why });
    this.#wake();
  }

  /**
   * To be called when a turn is about to end: each handle that still runs is asked about, waited for or ended, as its tool
   * says. `again`: something that the model chose to wait for has stopped; its notification wants another cycle.
   */
  async endOfTurn(options: TurnEndOptions = {}): Promise<TurnEnd> {
    this.#herald.settle(new Set());
    const end = await endTurn(
      this.#active().filter((handle) => handle.background),
      {
        options,
        now: () => this.#clock.now(),
        inquiryId: (handle) => `${handle.uid}.turn_end.${++this.#counter}`,
        record: (draft) => this.#record(draft),
        trouble: (error) => this.#trouble(error),
        preview: async (handle) => (await handle.read()).content,
      },
    );
    await this.idle();
    return end;
  }

  /**
   * To be called once, before the first call: what ran when the last agent of this conversation died is reported as lost,
   * and its processes are ended if they are really those. `answered`: whether the transcript has the answer of a call;
   * what such an answer told is not notified. Without it, it is notified once more rather than lost.
   */
  async recover(options: { readonly answered?: (callId: string) => boolean } = {}): Promise<readonly Recovered[]> {
    const recovered = await recoverHandles({
      ledger: this.#ledger,
      folder: this.#options.folder,
      own: (uid) => [...this.#handles.values()].some((handle) => handle.uid === uid),
      owner: this.#owner,
      now: this.#clock.now(),
      answered: options.answered ?? (() => false),
      tell: (notice) => this.#tell(notice),
      trouble: (error) => this.#trouble(error),
    });
    for (const { uid, id, tool } of recovered) this.#record({ type: 'handle_ended', uid, id, tool, outcome: 'lost' });
    await this.idle();
    return recovered;
  }

  /** Resolves when everything that was to be queued, withdrawn and recorded is. */
  async idle(): Promise<void> {
    for (let seen; seen !== this.#queue;) await (seen = this.#queue);
  }

  /** Ends everything that runs, tells the conversation so, and removes the outputs. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await Promise.all(this.#active().map((handle) => handle.abort(LOST)));
    this.#herald.settle(new Set());
    await this.idle();
    for (const handle of this.#handles.values()) rmSync(handle.folder, { recursive: true, force: true });
  }

  async #call(tool: StatefulTool, args: Args, id: string | undefined, call: ToolCall): Promise<ToolOutcome> {
    const handle = this.#start(tool, args, { id: id ?? this.#freeName(tool.name), background: false, call });
    handle.watchers += 1;
    const onAbort = (): void => void handle.abort('interrupted');
    call.signal.addEventListener('abort', onAbort, { once: true });
    if (call.signal.aborted) onAbort();
    try {
      while (handle.phase.type === 'running' && !call.signal.aborted) await this.#changed(call.signal);
      const question = handle.phase.type === 'waiting' ? handle.phase.question : '';
      if (call.signal.aborted) {
        void handle.done.then(() => this.#forget(handle));
        return { content: 'interrupted', isError: true };
      }
      if (handle.phase.type === 'stopped') {
        const { result } = handle.phase;
        const text = handle.ending?.text ?? '';
        this.#told(handle, handle.version, call);
        this.#forget(handle);
        if ('ok' in result) return { content: text === '' ? '(no output)' : text };
        return { content: failure(text, result.error.message), isError: true, ...timeoutOf(result.error) };
      }
      if (!actionsOf(tool).includes('apply')) {
        await handle.abort('ended: it asks, and cannot be answered');
        this.#forget(handle);
        return { content: `${tool.name} asks, and takes no answers: ${question}`, isError: true };
      }
      // It asks: from now on it is a handle like any other, so that the model can answer.
      handle.background = true;
      this.#herald.remember(handle);
      this.#recordSpawn(handle);
      await handle.settle();
      return await this.#answer(handle, call);
    } finally {
      handle.progress = () => {};
      call.signal.removeEventListener('abort', onAbort);
      this.#release(handle);
    }
  }

  async #spawn(tool: StatefulTool, args: Args, id: string | undefined, call: ToolCall): Promise<ToolOutcome> {
    const twice = this.#spawnedTwice(call);
    if (twice !== undefined)
      throw new EarpieceError(
        'bad_argument',
        `nothing of this batch was spawned: two of its calls name their handle ${JSON.stringify(twice)}; give each handle a name of its own`,
      );
    const handle = this.#start(tool, args, { id: id ?? this.#freeName(tool.name), background: true, call });
    handle.watchers += 1;
    try {
      await handle.settle();
      return await this.#answer(handle, call);
    } finally {
      handle.progress = () => {};
      this.#release(handle);
    }
  }

  /** Fetch, apply and abort: something first, then how it stands. */
  async #look(
    tool: StatefulTool,
    id: string,
    call: ToolCall,
    { first, range }: { first?: (handle: Handle) => Promise<void>; range?: Range },
  ): Promise<ToolOutcome> {
    const handle = this.#named(id);
    if (handle.tool.name !== tool.name)
      throw new EarpieceError('bad_argument', `handle ${id} belongs to the tool ${handle.tool.name}: call that one`);
    handle.watchers += 1;
    try {
      await first?.(handle);
      await handle.settle();
      return await this.#answer(handle, call, range);
    } finally {
      this.#release(handle);
    }
  }

  async #answer(handle: Handle, call: ToolCall, range?: Range): Promise<ToolOutcome> {
    const { answer, version } = await answerOf(handle, range);
    this.#told(handle, version, call);
    // What has not stopped may stop before this answer is carried; that would not be known.
    return { content: JSON.stringify(answer), ...(answer.state === 'stopped' ? { knows: [handle.about] } : {}) };
  }

  #told(handle: Handle, version: number, call: ToolCall): void {
    // An interrupted call's answer is not waited for: the model will not see it.
    if (!call.signal.aborted) this.#herald.told(handle, version, call.id);
  }

  #release(handle: Handle): void {
    handle.watchers -= 1;
    this.#herald.consider(handle);
  }

  #start(tool: StatefulTool, args: Args, how: { id: string; background: boolean; call: ToolCall }): Handle {
    const { id, background, call } = how;
    if (this.#closed !== undefined) throw new EarpieceError('bad_argument', 'the agent is ending: nothing can be started');
    const holder = this.#handles.get(id);
    if (holder?.active)
      throw new EarpieceError(
        'bad_argument',
        `handle ${JSON.stringify(id)} is taken: ${holder.tool.name} is ${holder.phase.type} under this name; choose another, or abort that one first`,
      );
    if (holder !== undefined) this.#keepOld(holder);
    const uid = this.#ids.make('h');
    const used = this.#names.get(id) ?? 0;
    if (background || used > 0) this.#names.set(id, used + 1);
    const handle = new Handle(
      {
        id,
        uid,
        about: used === 0 ? `handle:${id}` : `handle:${id}#${used + 1}`,
        tool,
        callId: call.id,
        background,
        startedAt: this.#clock.now(),
        folder: join(this.#options.folder, uid),
        progress: (text) => this.#show(() => call.progress(text)),
      },
      {
        entered: (entered, before) => this.#entered(entered, before),
        produced: (producer, lastLine) => this.#herald.produced(producer, lastLine),
        owns: (owner, process) => this.#herald.remember(owner, ownedProcess(process.pid)),
      },
    );
    this.#handles.set(id, handle);
    this.#byCall.set(call.id, handle);
    if (background) {
      this.#herald.remember(handle);
      this.#recordSpawn(handle);
    }
    handle.start(args);
    this.#changedHandle(handle);
    return handle;
  }

  #entered(handle: Handle, before: Phase): void {
    const { phase } = handle;
    if (phase.type === 'stopped') {
      handle.stoppedAt = this.#clock.now();
      if (handle.background) this.#herald.remember(handle);
      else this.#ledger.remove(handle.uid);
    }
    if (handle.background) {
      const said = { uid: handle.uid, id: handle.id, tool: handle.tool.name };
      if (phase.type === 'stopped')
        this.#record({
          type: 'handle_ended',
          ...said,
          outcome: 'ok' in phase.result ? 'ok' : 'error',
          ...(handle.ending?.exitCode === undefined ? {} : { exit_code: handle.ending.exitCode }),
          ...('error' in phase.result ? { error: phase.result.error.message } : {}),
        });
      else
        this.#record({
          type: 'handle_state',
          ...said,
          state: phase.type,
          ...(phase.type === 'waiting' ? { question: phase.question } : {}),
        });
    }
    if (phase.type === 'waiting' && handle.asked)
      this.#record({
        type: 'inquiry_request',
        id: inquiryOf(handle),
        source: { source: 'tool', name: handle.tool.name },
        question: { text: phase.question, answer_type: { type: 'text' } },
      });
    if (before.type === 'waiting' && phase.type === 'running') this.#herald.resumed(handle);
    this.#herald.consider(handle);
    this.#changedHandle(handle);
  }

  #answered(handle: Handle, text: string): void {
    if (handle.phase.type === 'waiting' && handle.asked)
      this.#record({ type: 'inquiry_response', id: inquiryOf(handle), answer: text });
  }

  /** What `await` means by an id: what this batch spawns under it, else the newest handle of that name. */
  #target(id: string, call: ToolCall): Target {
    const spawn = call.batch.find((other) => {
      const tool = this.#definitions.get(other.name);
      return tool !== undefined && spawnedId(tool, other.args) === id;
    });
    if (spawn !== undefined) {
      return {
        id,
        get: () => {
          const spawned = this.#byCall.get(spawn.id);
          return spawned === undefined ? undefined : spawned instanceof Handle ? spawned : spawned.failed;
        },
      };
    }
    const handle = this.#named(id);
    return { id, get: () => handle };
  }

  #spawnedTwice(call: ToolCall): string | undefined {
    const seen = new Set<string>();
    for (const other of call.batch) {
      const tool = this.#definitions.get(other.name);
      const id = tool === undefined ? undefined : spawnedId(tool, other.args);
      if (id === undefined) continue;
      if (seen.has(id)) return id;
      seen.add(id);
    }
    return undefined;
  }

  #named(id: string): Handle {
    const handle = this.#handles.get(id);
    if (handle !== undefined) return handle;
    const active = this.#active().map((other) => other.id);
    throw new EarpieceError(
      'bad_argument',
      `no handle is called ${JSON.stringify(id)}; ${active.length === 0 ? 'none is active' : `active are ${active.join(', ')}`}`,
    );
  }

  #freeName(tool: string): string {
    let name: string;
    do name = `${tool}-${++this.#counter}`;
    while (this.#handles.has(name));
    return name;
  }

  #active(): Handle[] {
    return [...this.#handles.values()].filter((handle) => handle.active);
  }

  /** A stopped handle whose name is taken again can no longer be fetched; its notification may still be on its way. */
  #keepOld(handle: Handle): void {
    this.#handles.delete(handle.id);
    rmSync(handle.folder, { recursive: true, force: true });
  }

  /** A one-shot call that is answered leaves nothing behind, unless its output was cut: then it can be read by range. */
  #forget(handle: Handle): void {
    if (handle.ending?.more !== true && this.#handles.get(handle.id) === handle) this.#keepOld(handle);
  }

  #changedHandle(handle: Handle): void {
    if (!handle.active) this.#evict();
    this.#wake();
    this.#show(() => this.#options.onChange?.(viewOf(handle, this.#clock.now())));
  }

  #evict(): void {
    const ended = [...this.#handles.values()].filter((handle) => !handle.active && handle.watchers === 0);
    for (const handle of ended.slice(0, Math.max(0, ended.length - KEPT))) this.#keepOld(handle);
  }

  #settle(call: ToolCall): void {
    const ids = new Set([call.id, ...call.batch.map((other) => other.id)]);
    for (const known of this.#byCall.keys()) if (!ids.has(known)) this.#byCall.delete(known);
    this.#herald.settle(ids);
  }

  #wake(): void {
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
  }

  /** Resolves at the next change of any handle, or when the signal aborts. */
  #changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.#listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#listeners.add(done);
      signal.addEventListener('abort', done, { once: true });
    });
  }

  #recordSpawn(handle: Handle): void {
    this.#record({ type: 'handle_spawned', uid: handle.uid, id: handle.id, tool: handle.tool.name, call: handle.callId });
  }

  async #tell(notice: Notice): Promise<void> {
    const { inbox, emitter, address } = this.#options;
    if (inbox !== undefined) await say({ ...notice, subject: address }, { inbox, emitter, now: this.#clock.now() });
  }

  #record(draft: Draft): void {
    const { record } = this.#options;
    if (record !== undefined) this.#enqueue(async () => record(draft));
  }

  /** What shows it to a person must not stop it. */
  #show(shows: () => void): void {
    try {
      shows();
    } catch (error) {
      this.#trouble(error);
    }
  }

  #enqueue(task: () => Promise<void>): void {
    this.#queue = this.#queue.then(task).catch((error: unknown) => this.#trouble(error));
  }

  #trouble(error: unknown): void {
    const { onTrouble } = this.#options;
    if (onTrouble !== undefined) onTrouble(error);
    else process.emitWarning(`handles: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const handleRegistry = (options: HandleRegistryOptions): HandleRegistry => new HandleRegistry(options);

/** A stateful tool as the loop calls it, its handles in `registry`. */
export function statefulTool(tool: StatefulTool, registry: HandleRegistry): Tool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: schemaOf(tool),
    execute: (args, call) => registry.execute(tool, args, call),
  };
}

/** One inquiry for each question: a handle asks them one after the other. */
const inquiryOf = (handle: Handle): string => `${handle.uid}.${handle.version}`;

/** A failed one-shot call: its output says more than the message, unless that is not in it. */
function failure(text: string, message: string): string {
  if (text === '') return message;
  return /\[exit code \d+|\[ended /u.test(text.slice(-200)) ? text : `${text}\n[${message}]`;
}

/** For whoever watches; what else went wrong stands in what the model reads. */
const timeoutOf = ({ message, timeoutMs }: ToolError): Pick<ToolOutcome, 'failure'> =>
  timeoutMs === undefined ? {} : { failure: { type: 'timeout', message, timeoutMs } };
