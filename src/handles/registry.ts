/**
 * Keeps the handles of one conversation: the background tools that the model has started and named.
 *
 * ```ts
 * const handles = handleRegistry({ inbox, address: 'shop/coder#main', folder, tools: [runTool({ cwd })] });
 * await handles.recover();                       // handles lost in a crash
 * const tools = [readFile, ...handles.tools];    // with `run` and `await`
 * const { again } = await handles.endOfTurn({ ask });
 * await handles.close();                         // ends all running handles
 * ```
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { defined } from '../core/defined.ts';

import { EarpieceError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Clock, Ids } from '../core/ports.ts';
import type { Draft, Owner } from '../core/records.ts';
import { randomIds, selfOwner } from '../inbox/index.ts';
import { say } from '../inbox/producing/say.ts';
import type { Tool, ToolCall, ToolOutcome } from './tool.ts';
import { answerOf, viewOf, type HandleView } from './answers.ts';
import { awaitTool, type Target } from './await-tool.ts';
import { Background } from './background.ts';
import { BatchCalls } from './batch.ts';
import { Changes } from './changes.ts';
import { Chronicle } from './chronicle.ts';
import { parseCommand } from './command.ts';
import { Handle } from './handle.ts';
import { Herald } from './herald.ts';
import { Ledger } from './ledger.ts';
import { LOST, type Notice } from './notices.ts';
import { ownedProcess, recoverHandles, type Recovered } from './recover.ts';
import { Shelf } from './shelf.ts';
import { actionsOf, checkDefinition, schemaOf, type Args, type Range, type StatefulTool } from './stateful-tool.ts';
import { outcomeOf } from './one-shot.ts';
import type { HandleRegistryOptions } from './registry-options.ts';
import type { Phase } from './state.ts';
import { endTurn, type TurnEnd, type TurnEndOptions } from './turn-end.ts';

export class HandleRegistry implements AsyncDisposable {
  /** The tools for the model: each stateful tool, and `await` if there is a stateful tool. */
  readonly tools: readonly Tool[];
  readonly #options: HandleRegistryOptions;
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #ledger: Ledger;
  readonly #herald: Herald;
  readonly #owner: Owner;
  readonly #shelf: Shelf;
  readonly #calls: BatchCalls;
  readonly #changes = new Changes();
  readonly #chronicle = new Chronicle((draft) => this.#record(draft));
  readonly #background = new Background((error) => this.#trouble(error));
  #inquiries = 0;
  #closed: Promise<void> | undefined;

  constructor(options: HandleRegistryOptions) {
    for (const tool of options.tools) checkDefinition(tool);
    this.#options = options;
    this.#calls = new BatchCalls(new Map(options.tools.map((tool) => [tool.name, tool])));
    this.#ids = options.ids ?? randomIds;
    this.#clock = options.clock ?? { now: () => Date.now() };
    this.#owner = options.owner ?? selfOwner();
    this.#ledger = new Ledger(options.folder, (error) => this.#trouble(error));
    this.#herald = new Herald({
      inbox: options.inbox,
      tell: (notice) => this.#tell(notice),
      address: options.address,
      ledger: this.#ledger,
      owner: this.#owner,
      enqueue: (task) => this.#background.run(task),
      withdrawAtOnce: options.withdrawAtOnce ?? false,
    });
    this.#shelf = new Shelf(this.#ledger.entries().map(({ id }) => id));
    this.tools = [
      ...options.tools.map((tool) => statefulTool(tool, this)),
      ...(options.tools.length > 0
        ? [
            awaitTool({
              target: (id, call) => this.#target(id, call),
              changed: (signal) => this.#changes.next(signal),
              shown: (handle, version, callId) => this.#herald.shown(handle, version, callId),
              released: (handle) => this.#herald.consider(handle),
              settle: (call) => this.#settle(call),
            }),
          ]
        : []),
    ];
  }

  /** Returns every handle that can be fetched, oldest first. */
  list(): readonly HandleView[] {
    const now = this.#clock.now();
    return this.#shelf.all().map((handle) => viewOf(handle, now));
  }

  /** The number of handles that run or wait. */
  get active(): number {
    return this.#shelf.active().length;
  }

  /** Executes a stateful tool for a call of the model. A failure of the tool or a wrong command is an outcome with `isError`. */
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
          return await this.#act(tool, command.id, call, defined({ range: command.range }));
        case 'apply':
          return await this.#act(tool, command.id, call, {
            first: (handle) => {
              if (!handle.active) throw new EarpieceError('bad_argument', `handle ${handle.id} has stopped and takes no input`);
              this.#chronicle.answered(handle, command.text);
              return handle.apply({ text: command.text, keys: command.keys });
            },
          });
        case 'abort':
          return await this.#act(tool, command.id, call, { first: (handle) => handle.abort('aborted') });
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.notRun(call.id, message);
      return { content: message, isError: true };
    }
  }

  /**
   * Records that a call of the batch will not be executed, for example because a person refused the call. A call of `await` for
   * the handle of that call then gets the reason instead of waiting.
   */
  notRun(callId: string, why: string): void {
    if (this.#calls.failed(callId, why)) this.#changes.happened();
  }

  /**
   * For each active background handle, asks the model, waits for the handle or ends the handle, as its tool defines. Call this
   * method when the turn is about to end. `again` is true if a handle that the model chose to wait for has stopped. The
   * notification of that handle needs another cycle.
   */
  async endOfTurn(options: TurnEndOptions = {}): Promise<TurnEnd> {
    this.#herald.settle(new Set());
    const end = await endTurn(
      this.#shelf.active().filter((handle) => handle.background),
      {
        options,
        now: () => this.#clock.now(),
        inquiryId: (handle) => `${handle.uid}.turn_end.${++this.#inquiries}`,
        record: (draft) => this.#record(draft),
        trouble: (error) => this.#trouble(error),
        preview: async (handle) => (await handle.read()).content,
      },
    );
    await this.idle();
    return end;
  }

  /**
   * Recovers after a crash of the conversation's last agent. Reports the background handles of that agent as lost. Ends a
   * handle's processes only if their process ids do not belong to other processes now. Call this method once, before the first
   * tool call. `answered` returns whether the transcript has the answer of a call. If such an answer reported the end of a
   * handle, no notification repeats the end. Without `answered`, the model may read the end twice.
   */
  async recover(options: { readonly answered?: (callId: string) => boolean } = {}): Promise<readonly Recovered[]> {
    const recovered = await recoverHandles({
      ledger: this.#ledger,
      folder: this.#options.folder,
      own: (uid) => this.#shelf.all().some((handle) => handle.uid === uid),
      owner: this.#owner,
      now: this.#clock.now(),
      answered: options.answered ?? (() => false),
      tell: (notice) => this.#tell(notice),
      trouble: (error) => this.#trouble(error),
    });
    for (const handle of recovered) this.#chronicle.lost(handle);
    await this.idle();
    return recovered;
  }

  /** Resolves when all notifications and records so far are written. */
  idle(): Promise<void> {
    return this.#background.idle();
  }

  /** Ends all active handles, notifies the conversation, and removes the outputs. */
  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #close(): Promise<void> {
    await Promise.all(this.#shelf.active().map((handle) => handle.abort(LOST)));
    this.#herald.settle(new Set());
    await this.idle();
    for (const handle of this.#shelf.all()) rmSync(handle.folder, { recursive: true, force: true });
  }

  async #call(tool: StatefulTool, args: Args, id: string | undefined, call: ToolCall): Promise<ToolOutcome> {
    const handle = this.#start(tool, args, { id: id ?? this.#shelf.freeName(tool.name), background: false, call });
    handle.watchers += 1;
    const onAbort = (): void => void handle.abort('interrupted');
    call.signal.addEventListener('abort', onAbort, { once: true });
    if (call.signal.aborted) onAbort();
    try {
      while (handle.phase.type === 'running' && !call.signal.aborted) await this.#changes.next(call.signal);
      const question = handle.phase.type === 'waiting' ? handle.phase.question : '';
      if (call.signal.aborted) {
        void handle.done.then(() => this.#shelf.forget(handle));
        return { content: 'interrupted', isError: true };
      }
      if (handle.phase.type === 'stopped') {
        this.#recordShown(handle, handle.version, call);
        this.#shelf.forget(handle);
        return outcomeOf(handle.phase, handle.ending?.text ?? '');
      }
      if (!actionsOf(tool).includes('apply')) {
        await handle.abort('ended: the tool asks a question, and takes no answers');
        this.#shelf.forget(handle);
        return { content: `${tool.name} asks a question, but takes no answers: ${question}`, isError: true };
      }
      // The call asks a question, so its handle becomes a background handle, and the model can answer.
      handle.background = true;
      this.#herald.remember(handle);
      this.#chronicle.spawned(handle);
      await handle.settle();
      return await this.#answer(handle, call);
    } finally {
      handle.progress = () => {};
      call.signal.removeEventListener('abort', onAbort);
      this.#release(handle);
    }
  }

  async #spawn(tool: StatefulTool, args: Args, id: string | undefined, call: ToolCall): Promise<ToolOutcome> {
    const twice = this.#calls.namedTwice(call);
    if (twice !== undefined)
      throw new EarpieceError(
        'bad_argument',
        `nothing of this batch was spawned: two of its calls name their handle ${JSON.stringify(twice)}; give each handle a different name`,
      );
    const handle = this.#start(tool, args, { id: id ?? this.#shelf.freeName(tool.name), background: true, call });
    handle.watchers += 1;
    try {
      await handle.settle();
      return await this.#answer(handle, call);
    } finally {
      handle.progress = () => {};
      this.#release(handle);
    }
  }

  /** Runs the action `fetch`, `apply` or `abort`, and then makes the answer with the handle's state. */
  async #act(
    tool: StatefulTool,
    id: string,
    call: ToolCall,
    { first, range }: { first?: (handle: Handle) => Promise<void>; range?: Range },
  ): Promise<ToolOutcome> {
    const handle = this.#shelf.named(id);
    if (handle.tool.name !== tool.name)
      throw new EarpieceError('bad_argument', `handle ${id} belongs to the tool ${handle.tool.name}: call that tool`);
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
    this.#recordShown(handle, version, call);
    // The answer closes a notification only if the handle has stopped. An active handle may stop before the model reads this
    // answer.
    return { content: JSON.stringify(answer), ...(answer.state === 'stopped' ? { knows: [handle.about] } : {}) };
  }

  #recordShown(handle: Handle, version: number, call: ToolCall): void {
    // The model does not see the answer of an interrupted call.
    if (!call.signal.aborted) this.#herald.shown(handle, version, call.id);
  }

  #release(handle: Handle): void {
    handle.watchers -= 1;
    this.#herald.consider(handle);
  }

  #start(tool: StatefulTool, args: Args, how: { id: string; background: boolean; call: ToolCall }): Handle {
    const { id, background, call } = how;
    if (this.#closed !== undefined) throw new EarpieceError('bad_argument', 'the agent is ending: nothing can be started');
    const about = this.#shelf.claim(id, { background });
    const uid = this.#ids.make('h');
    const handle = new Handle(
      {
        id,
        uid,
        address: this.#options.address,
        about,
        tool,
        callId: call.id,
        background,
        startedAt: this.#clock.now(),
        folder: join(this.#options.folder, uid),
        progress: (text) => this.#background.attempt(() => call.progress(text)),
      },
      {
        entered: (entered, before) => this.#entered(entered, before),
        produced: (producer, lastLine) => this.#herald.produced(producer, lastLine),
        owns: (owner, process) => this.#herald.remember(owner, ownedProcess(process.pid)),
      },
    );
    this.#shelf.put(handle);
    this.#calls.started(call.id, handle);
    if (background) {
      this.#herald.remember(handle);
      this.#chronicle.spawned(handle);
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
    this.#chronicle.entered(handle);
    if (before.type === 'waiting' && phase.type === 'running') this.#herald.resumed(handle);
    this.#herald.consider(handle);
    this.#changedHandle(handle);
  }

  /**
   * Returns the target of an id in `await`: the handle that this batch spawns under this name, otherwise the newest handle with
   * the name.
   */
  #target(id: string, call: ToolCall): Target {
    const spawned = this.#calls.target(id, call);
    if (spawned !== undefined) return spawned;
    const handle = this.#shelf.named(id);
    return { id, get: () => handle };
  }

  #changedHandle(handle: Handle): void {
    if (!handle.active) this.#shelf.evict();
    this.#changes.happened();
    this.#background.attempt(() => this.#options.onChange?.(viewOf(handle, this.#clock.now())));
  }

  #settle(call: ToolCall): void {
    const ids = new Set([call.id, ...call.batch.map((other) => other.id)]);
    this.#calls.keep(ids);
    this.#herald.settle(ids);
  }

  async #tell(notice: Notice): Promise<void> {
    const { inbox, emitter, address } = this.#options;
    if (inbox !== undefined) await say({ ...notice, subject: address }, { inbox, emitter, now: this.#clock.now() });
  }

  #record(draft: Draft): void {
    const { record } = this.#options;
    if (record !== undefined) this.#background.run(async () => record(draft));
  }

  #trouble(error: unknown): void {
    const { onTrouble } = this.#options;
    if (onTrouble !== undefined) onTrouble(error);
    else process.emitWarning(`handles: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const handleRegistry = (options: HandleRegistryOptions): HandleRegistry => new HandleRegistry(options);

/** Turns a stateful tool into a tool of the agent's loop. The tool's handles are in `registry`. */
export function statefulTool(tool: StatefulTool, registry: HandleRegistry): Tool {
  return {
    name: tool.name,
    description: tool.description,
    inputSchema: schemaOf(tool),
    execute: (args, call) => registry.execute(tool, args, call),
  };
}
