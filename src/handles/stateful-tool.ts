/**
 * The interface of a stateful tool. A program's own tool needs a name, a description, the JSON Schema of its arguments and
 * `run`. The registry adds spawning, fetching, awaiting, notifications and the end of the turn.
 *
 * ```ts
 * const crawl: StatefulTool = {
 *   name: 'crawl',
 *   description: 'Crawls a site.',
 *   parameters: { properties: { url: { type: 'string' } }, required: ['url'] },
 *   actions: ['fetch', 'apply', 'abort'],
 *   async run(args, handle) {
 *     handle.show('3 pages so far');
 *     const name = await handle.ask('Which user name?');
 *     return `done as ${name}`;
 *   },
 * };
 * ```
 */
import { EarpieceError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Ending } from './state.ts';

export type Args = { readonly [key: string]: Json };

/** An action of a stateful tool. `spawn` is always possible. */
export type Action = 'spawn' | 'fetch' | 'apply' | 'abort';

/** The treatment of an active handle at the end of a turn: the model is asked, or the handle is awaited or ended. */
export type OnTurnEnd = 'inquire' | 'await' | 'abort';

/** The part of the content to read: lines from 1 (negative: from the end), or bytes from 0. */
export type Range = { readonly from: number; readonly lines?: number } | { readonly fromByte: number; readonly bytes?: number };

/**
 * Input for a handle. `keys` are names of keys (`enter`, `ctrl-c`), pressed after the text. `answers`: the handle waited for this
 * input.
 */
export type Input = { readonly text: string; readonly keys: readonly string[]; readonly answers: boolean };

export type StatefulTool = {
  readonly name: string;
  readonly description: string;
  /**
   * The arguments of a spawn and of a one-shot call. The names `action`, `id`, `input`, `keys`, `from`, `lines`, `from_byte` and
   * `bytes` are reserved.
   */
  readonly parameters: { readonly properties: Readonly<Record<string, Json>>; readonly required?: readonly string[] };
  /** The actions of the tool's handles in addition to `spawn`. Default: `fetch` and `abort`. */
  readonly actions?: readonly Exclude<Action, 'spawn'>[];
  /** Whether the model may call the tool without `action`, as an ordinary tool. Default true. */
  readonly oneShot?: boolean;
  /** The treatment of an active handle at the end of a turn. Default `inquire`. */
  readonly onTurnEnd?: OnTurnEnd;
  /** How many seconds the end of a turn waits for a handle. Default 60. */
  readonly turnEndSecs?: number;
  /**
   * Whether the tool runs an agent. If this agent ends by itself, its end is emitted as `subagent.complete` or `subagent.failed`,
   * not as the end of a tool.
   */
  readonly isAgent?: boolean;
  /** Whether to also notify of new output (`tool.content`), at most once until a call reads the output. Default false. */
  readonly notifyContent?: boolean;
  /** Returns an error message about the arguments, or undefined if they are valid. */
  check?(args: Args): string | undefined;
  /** Whether these arguments ask for a spawn even without an `action` (`background: true`). */
  spawns?(args: Args): boolean;
  /**
   * Does the work of a handle. Called once for each handle. The returned value is the result. A thrown error is the failure. A
   * `ToolFailure` has the most details. The function should end soon after `handle.signal` aborts. After 10 s, the handle counts
   * as stopped.
   */
  run(args: Args, handle: HandleSide): Promise<string | Ending>;
};

/** The interface of a handle for its tool. */
export interface HandleSide {
  /** The model's name for the handle. */
  readonly id: string;
  /** An id that is never reused. */
  readonly uid: string;
  /** The conversation of the agent that calls the tool: `project/agent#conversation`. */
  readonly address: string;
  readonly signal: AbortSignal;
  /** True if the handle was spawned, or if the call that started it has returned with a question. */
  readonly background: boolean;
  /**
   * A folder for the handle's files. The folder is made on first use with mode 0700, and exists as long as the handle can be
   * fetched.
   */
  readonly folder: string;
  /** Replaces the content that a fetch shows. If the content may be longer than an answer, serve `read` instead. */
  show(content: string): void;
  /** Shows progress to a person while the call that started the handle runs. The model never reads the progress. */
  progress(text: string): void;
  /**
   * Records that there is new content to read. `show` calls this too. `lastLine` is called when a notification needs the last
   * line.
   */
  produced(lastLine?: () => string | undefined): void;
  /** Asks the model a question, and waits for the answer (`apply`). A handle may ask one question at a time. */
  ask(question: string): Promise<string>;
  /** Records that the tool seems to wait for input. Call `resumed` if the tool continues by itself. */
  waiting(question: string): void;
  resumed(): void;
  /**
   * Registers functions to read the handle, to give it input, and to wait until it is steady. Call this method in `run`, before
   * the first `await` of the function.
   */
  serve(serves: Serves): void;
  /** Registers the handle's process, so that the next run can end the process after a crash of the agent. */
  owns(process: { readonly pid: number }): void;
}

export type Serves = {
  /** Returns the content for a fetch, or the part of the content in the range. */
  readonly read?: (range?: Range) => Reading | Promise<Reading>;
  /** Accepts input while the tool runs or seems to wait. Throws `EarpieceError` for input that the tool does not accept. */
  readonly input?: (input: Input) => void | Promise<void>;
  /**
   * Resolves when the content is steady, or after a time limit of the tool. While the handle is active, `spawn`, `fetch` and
   * `apply` wait for `settle` before they answer.
   */
  readonly settle?: () => Promise<void>;
};

/** Content, or a part of it that `range` names (`lines 1–200 of 5,230`). */
export type Reading = { readonly content: string; readonly range?: string };

/** The names that the parameters of a stateful tool must not have, because the registry adds these arguments. */
export const RESERVED: readonly string[] = ['action', 'id', 'input', 'keys', 'from', 'lines', 'from_byte', 'bytes'];

export const actionsOf = (tool: StatefulTool): readonly Action[] => ['spawn', ...(tool.actions ?? ['fetch', 'abort'])];

/** Checks the definition of a tool. Throws `bad_argument` for a reserved parameter, and for a tool with the name `await`. */
export function checkDefinition(tool: StatefulTool): void {
  const taken = Object.keys(tool.parameters.properties).filter((name) => RESERVED.includes(name));
  if (taken.length > 0)
    throw new EarpieceError(
      'bad_argument',
      `tool ${tool.name}: the parameters ${taken.join(', ')} have reserved names; choose other names than ${RESERVED.join(', ')}`,
    );
  if (tool.name === 'await')
    throw new EarpieceError('bad_argument', 'a tool must not be called await: the tool that waits for handles has this name');
}

/**
 * Makes the JSON Schema for the model. The `oneOf` is on `action` and not over whole schemas. Anthropic refuses a `oneOf` at the
 * top level ("input_schema does not support oneOf, allOf, or anyOf at the top level"). OpenAI also refuses such a `oneOf` ("must
 * … not have 'oneOf' … at the top level"). With such a schema, every request that lists the tool would fail.
 */
export function schemaOf(tool: StatefulTool): { readonly [key: string]: Json } {
  const actions = actionsOf(tool);
  const oneShot = tool.oneShot ?? true;
  const can = (action: Action): boolean => actions.includes(action);
  return {
    type: 'object',
    properties: {
      ...tool.parameters.properties,
      action: {
        type: 'string',
        description: oneShot ? 'Without action: runs to the end and returns the result.' : 'What to do.',
        oneOf: actions.map((action) => ({ const: action, description: WHAT[action] })),
      },
      id: {
        type: 'string',
        description: 'Name of the handle, chosen by you at spawn (e.g. "build"), unique among active handles.',
      },
      ...(can('fetch')
        ? {
            from: { type: 'integer', description: 'fetch: first line to read, from 1; negative counts from the end.' },
            lines: { type: 'integer', description: 'fetch: how many lines.' },
            from_byte: { type: 'integer', description: 'fetch: first byte to read, from 0, if lines are too long.' },
            bytes: { type: 'integer', description: 'fetch: how many bytes.' },
          }
        : {}),
      ...(can('apply')
        ? {
            input: {
              type: 'string',
              description: 'apply: the text. Enter completes an answer to a question; other input is sent unchanged.',
            },
            keys: {
              type: 'array',
              items: { type: 'string' },
              description: 'apply: keys to press after the text: enter, tab, esc, up, down, ctrl-c, ctrl-d, …',
            },
          }
        : {}),
    },
    required: oneShot ? [] : ['action', 'id'],
  };
}

const WHAT: Readonly<Record<Action, string>> = {
  spawn: 'Start in the background under `id`; you are notified of the end.',
  fetch: 'Read the state and output.',
  apply: 'Send `input` or `keys`, or answer the question.',
  abort: 'End the handle.',
};
