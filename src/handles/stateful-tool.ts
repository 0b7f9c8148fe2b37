/**
 * What a stateful tool is written against. A program's own tool needs a name, a description, the JSON Schema of its
 * arguments and `run`; spawning, fetching, awaiting, notifications and the end of the turn come from the registry.
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

/** `spawn` is always there. */
export type Action = 'spawn' | 'fetch' | 'apply' | 'abort';

/** What happens to a handle that still runs when the turn ends: the model is asked, it is waited for, or it is ended. */
export type OnTurnEnd = 'inquire' | 'await' | 'abort';

/** What of the content to read: lines from 1 (negative: from the end), or bytes from 0. */
export type Range = { readonly from: number; readonly lines?: number } | { readonly fromByte: number; readonly bytes?: number };

/** `keys` are names of keys (`enter`, `ctrl-c`), pressed after the text. `answers`: it was waiting for this. */
export type Input = { readonly text: string; readonly keys: readonly string[]; readonly answers: boolean };

export type StatefulTool = {
  readonly name: string;
  readonly description: string;
  /** The arguments of a spawn and of a one-shot call. Must not use the names in {@link RESERVED}. */
  readonly parameters: { readonly properties: Readonly<Record<string, Json>>; readonly required?: readonly string[] };
  /** What its handles can do beside being spawned. Default `fetch` and `abort`. */
  readonly actions?: readonly Exclude<Action, 'spawn'>[];
  /** It may be called without `action`, as an ordinary tool. Default true. */
  readonly oneShot?: boolean;
  /** Default `inquire`. */
  readonly onTurnEnd?: OnTurnEnd;
  /** How long the end of a turn waits for a handle. Default 60. */
  readonly turnEndSecs?: number;
  /** Its end is told as that of an agent (`subagent.complete`, `subagent.failed`) instead of that of a tool. */
  readonly isAgent?: boolean;
  /** Also notifies of new output (`tool.content`), at most once until somebody looks. Default false. */
  readonly notifyContent?: boolean;
  /** What is wrong with the arguments, in plain words; undefined when nothing is. */
  check?(args: Args): string | undefined;
  /** These arguments, which have no `action`, ask for a spawn all the same (`background: true`). */
  spawns?(args: Args): boolean;
  /**
   * Does the work. What it returns is the result; what it throws is the error (`ToolFailure` says more than others).
   * Called once a handle. Should end soon after `handle.signal` aborts: after 10 s it is given up.
   */
  run(args: Args, handle: HandleSide): Promise<string | Ending>;
};

/** A handle as its tool sees it. */
export interface HandleSide {
  /** As the model named it. */
  readonly id: string;
  /** Unique for ever. */
  readonly uid: string;
  readonly signal: AbortSignal;
  /** No call waits for its end: it was spawned, or waits for input. */
  readonly background: boolean;
  /** A folder of its own, for files that live as long as it can be fetched. Made when it is asked for, mode 0700. */
  readonly folder: string;
  /** What a fetch shows, as a whole. For what is longer than an answer, serve `read`. */
  show(content: string): void;
  /** Shown to a person while the call that started it runs; never to the model. */
  progress(text: string): void;
  /** Something new can be read. Called by `show`. `lastLine`: asked when somebody is to be told. */
  produced(lastLine?: () => string | undefined): void;
  /** Waits until it is answered (`apply`). One question at a time. */
  ask(question: string): Promise<string>;
  /** It seems to wait for input that goes to `input`; `resumed` when it turns out that it went on by itself. */
  waiting(question: string): void;
  resumed(): void;
  /** How it is read, fed and known to be steady. To be called at once, before anything is awaited. */
  serve(serves: Serves): void;
  /** A process that must not survive its agent. */
  owns(process: { readonly pid: number }): void;
}

export type Serves = {
  /** What a fetch shows; with a range, that part of it. */
  readonly read?: (range?: Range) => Reading | Promise<Reading>;
  /** Input, when it runs or seems to wait. Throws `EarpieceError` for what it cannot take. */
  readonly input?: (input: Input) => void | Promise<void>;
  /** Awaited before spawn, fetch and apply answer: resolves when what they would show is steady, or after a while. */
  readonly settle?: () => Promise<void>;
};

/** `range`: which part this is (`lines 1–200 of 5,230`). */
export type Reading = { readonly content: string; readonly range?: string };

export const RESERVED: readonly string[] = ['action', 'id', 'input', 'keys', 'from', 'lines', 'from_byte', 'bytes'];

export const actionsOf = (tool: StatefulTool): readonly Action[] => ['spawn', ...(tool.actions ?? ['fetch', 'abort'])];

/** Throws `bad_argument` for a definition that could not work. */
export function checkDefinition(tool: StatefulTool): void {
  const taken = Object.keys(tool.parameters.properties).filter((name) => RESERVED.includes(name));
  if (taken.length > 0)
    throw new EarpieceError(
      'bad_argument',
      `tool ${tool.name}: the parameters ${taken.join(', ')} belong to the protocol of stateful tools; name them otherwise`,
    );
  if (tool.name === 'await')
    throw new EarpieceError('bad_argument', 'a tool cannot be called await: that is the one that waits for handles');
}

/**
 * The JSON Schema that the model sees. The choice is a `oneOf` on `action` and not one of whole schemas: a `oneOf` at
 * the top level is refused by Anthropic ("input_schema does not support oneOf, allOf, or anyOf at the top level") and by
 * OpenAI ("must … not have 'oneOf' … at the top level"), and with it every request that lists the tool.
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
  spawn: 'Start in the background under `id`; you are told when it stops.',
  fetch: 'Read its state and output.',
  apply: 'Send `input` or `keys`, or answer its question.',
  abort: 'End it.',
};
