/** Runs one handle: keeps its phase, serves its tool, and records the version that the model knows. */
import { setImmediate as immediate } from 'node:timers/promises';
import { defined } from '../core/defined.ts';

import { EarpieceError } from '../core/errors.ts';
import { makeFolders } from '../input/folders.ts';
import type { Input, HandleSide, Range, Reading, Serves, StatefulTool, Args } from './stateful-tool.ts';
import { assertTransition, errorOf, ToolFailure, type Ending, type Phase } from './state.ts';
import { lastLineOf } from './text.ts';

export type HandleOptions = {
  readonly id: string;
  readonly uid: string;
  /** The address of the agent's conversation. */
  readonly address: string;
  /** The value of `about` in the handle's notifications, and of `ToolOutcome.knows`: `handle:build`. */
  readonly about: string;
  readonly tool: StatefulTool;
  /** The id of the call that started the handle. */
  readonly callId: string;
  readonly background: boolean;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly folder: string;
  readonly progress: (text: string) => void;
};

/** Listeners for changes of a handle, called synchronously in the order of the changes. */
export type HandleEvents = {
  entered(handle: Handle, before: Phase): void;
  produced(handle: Handle, lastLine: () => string | undefined): void;
  owns(handle: Handle, process: { readonly pid: number }): void;
};

/** How long a tool may run after `signal` aborts. By default, the tool's processes get SIGKILL after 2 s. */
const GIVEN_UP_MS = 10_000;

export class Handle {
  readonly id: string;
  readonly uid: string;
  readonly address: string;
  readonly about: string;
  readonly tool: StatefulTool;
  readonly callId: string;
  readonly startedAt: number;
  readonly folder: string;
  /** Resolves when the handle has stopped. */
  readonly done: Promise<void>;
  background: boolean;
  progress: (text: string) => void;

  /** The number of calls that now run, read or await the handle. These calls report a change, so no notification is needed. */
  watchers = 0;
  /** The version of the handle, which grows with each phase. */
  version = 0;
  /** The last version that an answer showed to the model. `shownIn` is the call with that answer. */
  shownVersion = -1;
  shownIn: string | undefined;
  /** The version in the last notification about a wait or the end, or -1 if no such notification was queued. */
  noticed = -1;
  /** Whether a notification about the handle is queued, and may have to be withdrawn. */
  queued = false;
  contentNoticed = false;
  contentNotices = 0;
  /**
   * Whether the handle seemed to wait and then continued by itself. Further guessed waits cause no notification until a call
   * reads the handle.
   */
  flaps = false;
  /** Whether the tool itself asks the open question. False if the question was guessed from the output. */
  asked = false;
  stoppedAt: number | undefined;
  ending: Ending | undefined;

  #phase: Phase = { type: 'running' };
  #events: HandleEvents;
  #abort = new AbortController();
  #because: string | undefined;
  #serves: Serves = {};
  #shown = '';
  #answer: ((text: string) => void) | undefined;
  #resolveDone: () => void;

  constructor(options: HandleOptions, events: HandleEvents) {
    this.id = options.id;
    this.uid = options.uid;
    this.address = options.address;
    this.about = options.about;
    this.tool = options.tool;
    this.callId = options.callId;
    this.background = options.background;
    this.startedAt = options.startedAt;
    this.folder = options.folder;
    this.progress = options.progress;
    this.#events = events;
    const done = Promise.withResolvers<void>();
    this.done = done.promise;
    this.#resolveDone = done.resolve;
  }

  get phase(): Phase {
    return this.#phase;
  }

  get active(): boolean {
    return this.#phase.type !== 'stopped';
  }

  /** The reason of the first `abort`. Undefined if the handle was not aborted. */
  get because(): string | undefined {
    return this.#because;
  }

  start(args: Args): void {
    let work: Promise<string | Ending>;
    try {
      work = this.tool.run(args, this.#side());
    } catch (error) {
      work = Promise.reject(error);
    }
    work.then(
      (result) => this.#stop(typeof result === 'string' ? { text: result } : result, undefined),
      (error: unknown) => this.#stop(error instanceof ToolFailure ? error.ending : undefined, error ?? new Error('failed')),
    );
  }

  async settle(): Promise<void> {
    if (this.active) await this.#serves.settle?.();
    // The handle's last change, such as its end, may not have arrived yet.
    await immediate();
  }

  async read(range?: Range): Promise<Reading> {
    if (this.#serves.read !== undefined) return this.#serves.read(range);
    return { content: this.#shown };
  }

  /** Passes input to the tool. Throws `bad_argument` if the tool does not accept the input. */
  async apply(input: Omit<Input, 'answers'>): Promise<void> {
    const answers = this.#phase.type === 'waiting';
    if (this.#answer !== undefined) {
      const answer = this.#answer;
      this.#answer = undefined;
      this.#enter({ type: 'running' });
      answer(input.text);
      return;
    }
    if (this.#serves.input === undefined)
      throw new EarpieceError('bad_argument', 'the handle asks no question and takes no input now');
    const { phase } = this;
    await this.#serves.input({ ...input, answers });
    // The handle got an answer and continues. The next wait counts as new, because the handle may wait for another answer.
    if (phase.type === 'waiting' && this.#phase === phase) this.#enter({ type: 'running' });
  }

  /** Ends the handle, and resolves when it has stopped. */
  async abort(because: string): Promise<void> {
    if (!this.active) return;
    this.#because ??= because;
    this.#abort.abort(new Error(because));
    const givenUp = setTimeout(() => {
      this.#stop(undefined, new Error(`${because}; the tool did not end within ${GIVEN_UP_MS / 1000} s`));
    }, GIVEN_UP_MS);
    await this.done;
    clearTimeout(givenUp);
  }

  #enter(phase: Phase): void {
    const before = this.#phase;
    assertTransition(this.id, before, phase);
    this.#phase = phase;
    this.version += 1;
    this.#events.entered(this, before);
    if (phase.type === 'stopped') this.#resolveDone();
  }

  #stop(ending: Ending | undefined, failure: unknown): void {
    // The handle was stopped before, so a late result changes nothing.
    if (!this.active) return;
    this.#answer = undefined;
    const text = ending?.text ?? this.#shown;
    const lastLine = ending?.lastLine ?? lastLineOf(text);
    this.ending = {
      ...ending,
      text,
      ...defined({ lastLine }),
    };
    const error =
      this.#because === undefined
        ? failure === undefined
          ? undefined
          : errorOf(failure)
        : { message: this.#because, trace: [], transient: false };
    this.#enter({ type: 'stopped', result: error === undefined ? { ok: text } : { error } });
  }

  #side(): HandleSide {
    const isBackground = (): boolean => this.background;
    const folder = (): string => {
      makeFolders(this.folder);
      return this.folder;
    };
    return {
      id: this.id,
      uid: this.uid,
      address: this.address,
      signal: this.#abort.signal,
      get background() {
        return isBackground();
      },
      get folder() {
        return folder();
      },
      show: (content) => {
        this.#shown = content;
        this.#events.produced(this, () => lastLineOf(content));
      },
      progress: (text) => {
        if (text !== '') this.progress(text);
      },
      produced: (lastLine = () => undefined) => this.#events.produced(this, lastLine),
      ask: async (question) => {
        if (!this.active) throw new Error(`handle ${this.id} has stopped and cannot be answered`);
        if (this.#answer !== undefined) throw new Error(`handle ${this.id} already asks a question; one question at a time`);
        if (this.#phase.type === 'waiting') this.#enter({ type: 'running' });
        const answer = Promise.withResolvers<string>();
        this.#answer = answer.resolve;
        this.asked = true;
        const onAbort = (): void => answer.reject(this.#abort.signal.reason);
        this.#abort.signal.addEventListener('abort', onAbort, { once: true });
        this.#enter({ type: 'waiting', question });
        try {
          return await answer.promise;
        } finally {
          this.asked = false;
          this.#abort.signal.removeEventListener('abort', onAbort);
        }
      },
      waiting: (question) => {
        if (this.#phase.type === 'running') this.#enter({ type: 'waiting', question });
      },
      resumed: () => {
        if (this.#phase.type !== 'waiting' || this.#answer !== undefined) return;
        this.flaps = true;
        this.#enter({ type: 'running' });
      },
      serve: (serves) => {
        this.#serves = serves;
      },
      owns: (process) => this.#events.owns(this, process),
    };
  }
}
