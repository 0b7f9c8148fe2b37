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

/** `spawn` is always possible. */
export type Action = 'spawn' | 'fetch' | 'apply' | 'abort';

/** The treatment of a handle that still runs when the turn ends: ask the model, wait for it, or end it. */
export type OnTurnEnd = 'inquire' | 'await' | 'abort';

/** The part of the content to read: lines from 1 (negative: from the end), or bytes from 0. */
export type Range = { readonly from: number; readonly lines?: number } | { readonly fromByte: number; readonly bytes?: number };

/** `keys` are names of keys (`enter`, `ctrl-c`), pressed after the text. `answers`: the handle waited for this. */
export type Input = { readonly text: string; readonly keys: readonly string[]; readonly answers: boolean };

export type StatefulTool = {
  readonly name: string;
  readonly description: string;
  /** The arguments of a spawn and of a one-shot call. Must not use the names in {@link RESERVED}. */
  readonly parameters: { readonly properties: Readonly<Record<string, Json>>; readonly required?: readonly string[] };
  /** Actions of its handles besides spawn. Default `fetch` and `abort`. */
  readonly actions?: readonly Exclude<Action, 'spawn'>[];
  /** The model may call it without `action`, as an ordinary tool. Default true. */
  readonly oneShot?: boolean;
  /** Default `inquire`. */
  readonly onTurnEnd?: OnTurnEnd;
  /** How long the end of a turn waits for a handle. Default 60. */
  readonly turnEndSecs?: number;
  /** Its end is emitted as that of an agent (`subagent.complete`, `subagent.failed`) and not as that of a tool. */
  readonly isAgent?: boolean;
  /** Also notifies of new output (`tool.content`), at most once until somebody reads it. Default false. */
  readonly notifyContent?: boolean;
  /** Returns the error in the arguments in plain words, or undefined if they are valid. */
  check?(args: Args): string | undefined;
  /** True if these arguments ask for a spawn even without an `action` (`background: true`). */
  spawns?(args: Args): boolean;
  /**
   * Does the work. The returned value is the result; a thrown error is the failure (a `ToolFailure` has the most details). Called
   * once for each handle. It should end soon after `handle.signal` aborts: after 10 s it is given up.
   */
  run(args: Args, handle: HandleSide): Promise<string | Ending>;
};

/** A handle as its tool sees it. */
export interface HandleSide {
  /** The model's name for it. */
  readonly id: string;
  /** Never reused. */
  readonly uid: string;
  readonly signal: AbortSignal;
  /** No call waits for its end: it was spawned, or waits for input. */
  readonly background: boolean;
  /** A separate folder for files that live as long as the handle can be fetched. Made on first use, mode 0700. */
  readonly folder: string;
  /** Replaces the content that a fetch shows. For content longer than an answer, serve `read`. */
  show(content: string): void;
  /** Shown to a person while the call that started it runs; never to the model. */
  progress(text: string): void;
  /** New content can be read. Called by `show`. `lastLine`: called when a notification needs it. */
  produced(lastLine?: () => string | undefined): void;
  /** Waits for an answer (`apply`). One question at a time. */
  ask(question: string): Promise<string>;
  /** It seems to wait for input that goes to `input`. Call `resumed` if it continues by itself. */
  waiting(question: string): void;
  resumed(): void;
  /** Registers how to read it, give it input, and know that it is steady. Call it at once, before the first await. */
  serve(serves: Serves): void;
  /** A process that must not survive its agent. */
  owns(process: { readonly pid: number }): void;
}

export type Serves = {
  /** The content for a fetch; with a range, that part of it. */
  readonly read?: (range?: Range) => Reading | Promise<Reading>;
  /** Takes input, when it runs or seems to wait. Throws `EarpieceError` for input that it does not accept. */
  readonly input?: (input: Input) => void | Promise<void>;
  /** Awaited before spawn, fetch and apply answer: resolves when the content is steady, or after a while. */
  readonly settle?: () => Promise<void>;
};

/** `range`: the part that this is (`lines 1–200 of 5,230`). */
export type Reading = { readonly content: string; readonly range?: string };

/** Names that the arguments of a background tool may not have: the registry adds them to each. */
export const RESERVED: readonly string[] = ['action', 'id', 'input', 'keys', 'from', 'lines', 'from_byte', 'bytes'];

export const actionsOf = (tool: StatefulTool): readonly Action[] => ['spawn', ...(tool.actions ?? ['fetch', 'abort'])];

/** Throws `bad_argument` for a definition that cannot work. */
export function checkDefinition(tool: StatefulTool): void {
  const taken = Object.keys(tool.parameters.properties).filter((name) => RESERVED.includes(name));
  if (taken.length > 0)
    throw new EarpieceError(
      'bad_argument',
      `tool ${tool.name}: the parameters ${taken.join(', ')} belong to the protocol of stateful tools; choose other names`,
    );
  if (tool.name === 'await')
    throw new EarpieceError('bad_argument', 'a tool cannot be called await: that is the name of the tool that waits for handles');
}

/**
 * The JSON Schema for the model. The `oneOf` is on `action` and not over whole schemas. Anthropic refuses a `oneOf` at the top
 * level ("input_schema does not support oneOf, allOf, or anyOf at the top level"), and so does OpenAI ("must … not have 'oneOf'
 * … at the top level"): every request that lists the tool would fail.
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
        description: oneShot ? 'Leave it out to run to the end and get the result.' : 'What to do.',
        oneOf: actions.map((action) => ({ const: action, description: WHAT[action] })),
      },
      id: {
        type: 'string',
        description: 'Name of the handle, chosen by you at spawn (e.g. "build"); unique among those that are active.',
      },
      ...(can('fetch')
        ? {
            from: { type: 'integer', description: 'fetch: first line to read, from 1; negative counts from the end.' },
            lines: { type: 'integer', description: 'fetch: how many lines.' },
            from_byte: { type: 'integer', description: 'fetch: first byte to read, from 0, where lines are too long.' },
            bytes: { type: 'integer', description: 'fetch: how many bytes.' },
          }
        : {}),
      ...(can('apply')
        ? {
            input: {
              type: 'string',
              description: 'apply: the text. An answer to a question is completed by Enter, other input is sent as it is.',
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
  spawn: 'Start in the background under `id`; you are notified when it stops.',
  fetch: 'Read its state and output.',
  apply: 'Send `input` or `keys`, or answer its question.',
  abort: 'End it.',
};
