/**
 * `earpiece/agent`: an agent on any AI SDK model. The agent continues from its log after a restart, and its tools can run in the
 * background.
 */
import '../node-version.ts';

import type { LanguageModelV4 } from '@ai-sdk/provider';
import * as inner from '../agent/index.ts';
import type { FileToolsOptions } from '../agent/file-tools.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Stored } from '../core/records.ts';
import * as handles from '../handles/index.ts';
import { check, checkName, fullName, innerOf, type Earpiece, type Table } from '../library/index.ts';

export type AgentOptions = inner.AgentSettings & {
  readonly earpiece: Earpiece;
};

/** Events of a running agent. `close` ends the iteration. */
export type AgentEvents = AsyncIterable<inner.AgentEvent> & { close(): void };

export interface Agent extends AsyncDisposable {
  /** `project/agent#conversation`. */
  readonly address: string;
  readonly mode: inner.Mode;
  /** Whether the last turn did not finish, for example because its process ended. */
  readonly cutOff: boolean;
  /**
   * Runs a turn: sends the text to the model with the due notifications. A failure of the model is a result, and not an
   * exception.
   */
  send(text: string, options?: { readonly author?: string; readonly signal?: AbortSignal }): Promise<inner.TurnResult>;
  /** Continues an unfinished turn. Resolves to undefined if the last turn had finished, or if a turn runs. */
  resume(options?: { readonly signal?: AbortSignal }): Promise<inner.TurnResult | undefined>;
  /**
   * Adds a person's words to the running turn, and ends the current answer or tools. Returns false if no turn can take the words,
   * because no turn runs or the turn has just ended. `send` then begins a new turn.
   */
  reply(text: string): boolean;
  /** Ends the turn now. Open notifications stay open. */
  stop(): void;
  events(): AgentEvents;
  /** Whether the agent is paused. */
  paused(): Promise<boolean>;
  /**
   * Releases the conversation. `over` says that no later agent will continue the conversation, so the agent's notes for itself
   * are closed too.
   */
  close(options?: { readonly over?: boolean }): Promise<void>;
}

const AGENT: Table<AgentOptions> = {
  model: { needed: 'any' },
  earpiece: { needed: 'any' },
  address: { needed: 'text' },
  tools: { listOf: { methods: ['execute'], like: 'a tool with execute()' } },
  system: 'text',
  purpose: 'text',
  maxCycles: 'amount',
  maxRetries: 'amount',
  maxRetryAfterMs: 'amount',
  maxOutputTokens: 'amount',
  budget: {
    keys: {
      tokens: 'number',
      contextTokens: 'number',
      timeoutMs: 'number',
      warnAt: { keys: { tokens: 'number', iterations: 'number', context: 'number', time: 'number' } },
    },
  },
  providerOptions: 'object',
  placement: { methods: ['afterTools', 'request'], like: 'an object with afterTools() and request()' },
  onTurnEnd: 'function',
  chance: 'function',
  onTrouble: 'function',
};

/**
 * Makes an agent, and opens its conversation for writing. Throws `store_refused` while another process writes to the
 * conversation.
 */
export async function createAgent(options: AgentOptions): Promise<Agent> {
  check('createAgent', options, AGENT);
  inner.checkModel(options.model, 'createAgent: the model cannot be used');
  const { earpiece, address, ...rest } = options;
  return inner.createAgent({
    ...rest,
    earpiece: innerOf(earpiece),
    address: fullName('createAgent', earpiece.project, address),
  });
}

/**
 * Makes the tools for every agent: to read its notifications, to leave notes for itself, and with `tellUser` to send messages to
 * its user.
 */
export const ownTools = (options: {
  /** Returns the agent. Called only after the agent exists. */
  readonly agent: () => Agent;
  readonly tellUser?: (message: string) => void;
}): readonly Tool[] => {
  check('ownTools', options, { agent: { needed: 'function' }, tellUser: 'function' });
  return inner.ownTools({ ...options, agent: () => madeHere(options.agent()) });
};

/** Makes the tools with which an agent takes and reports tasks. */
export const taskTools = (agent: () => Agent): readonly Tool[] => {
  check('taskTools', { agent }, { agent: { needed: 'function' } });
  return inner.taskTools(() => madeHere(agent()));
};

export type HandleOptions = handles.HandleSettings & {
  readonly earpiece: Earpiece;
};

const HANDLES: Table<HandleOptions> = {
  earpiece: { needed: 'any' },
  tools: { needed: { listOf: { methods: ['run'], like: 'a tool with run(), such as runTool()' } } },
  address: { needed: 'text' },
  folder: { needed: 'name' },
  onChange: 'function',
  onTrouble: 'function',
  withdrawAtOnce: 'flag',
};

export interface HandleRegistry extends AsyncDisposable {
  /** The tools to pass to the agent: each background tool, and `await`. */
  readonly tools: readonly Tool[];
  /** The number of handles that run or wait for an answer. */
  readonly active: number;
  list(): readonly handles.HandleView[];
  /**
   * Treats each tool that still runs in the background as its `onTurnEnd` says: asks the model, waits for the tool, or ends it.
   * Call this method in `onTurnEnd` of the agent.
   */
  endOfTurn(turn: inner.TurnEnding): Promise<handles.TurnEnd>;
  /**
   * Ends the processes of handles that an earlier process left running, and notifies the agent. Call this method once, after
   * the agent exists.
   */
  recover(): Promise<readonly handles.Recovered[]>;
  /** Ends all running handles. */
  close(): Promise<void>;
}

/**
 * Makes the registry of one conversation's background tools. Pass the registry's `tools` to the agent, and call its `endOfTurn`
 * in `onTurnEnd`.
 */
export function handleRegistry(options: HandleOptions): HandleRegistry {
  check('handleRegistry', options, HANDLES);
  const { earpiece, address, ...rest } = options;
  const inbox = innerOf(earpiece);
  const conversation = inbox.conversation(fullName('handleRegistry', earpiece.project, address));
  const registry = handles.handleRegistry({
    ...rest,
    address: conversation.address,
    inbox,
    emitter: inbox.bus,
    ids: inbox.ids,
    owner: inbox.owner,
    record: async (draft: Stored['body']) => void (await conversation.record([draft])),
  });
  return {
    tools: registry.tools,
    get active() {
      return registry.active;
    },
    list: () => registry.list(),
    endOfTurn: ({ signal, ask }) => registry.endOfTurn({ signal, ask: inner.askInquiries(ask) }),
    recover: () => registry.recover(),
    close: () => registry.close(),
    [Symbol.asyncDispose]: () => registry.close(),
  };
}

function madeHere(agent: Agent): inner.Agent {
  if (agent instanceof inner.Agent) return agent;
  throw new EarpieceError('bad_argument', 'agent must be the result of createAgent() of this package');
}

type Tool = inner.Tool;

/**
 * Makes the tools `read_file` and `write_file`. With a `filesSource` as `files`, the agent is notified when another program
 * changes a file that the agent has read.
 */
export function fileTools(options: FileToolsOptions): readonly Tool[] {
  check('fileTools', options, FILE_TOOLS);
  return inner.fileTools(options);
}

const FILE_TOOLS: Table<FileToolsOptions> = {
  root: { needed: 'name' },
  files: { methods: ['noteRead', 'withOwnWrite', 'about'], like: 'what filesSource() returns' },
};

/** Makes the built-in tool `run`, which runs a shell command in the foreground or the background, with or without a terminal. */
export function runTool(options: handles.RunOptions = {}): handles.StatefulTool {
  check('runTool', options, RUN);
  return handles.runTool(options);
}

const RUN: Table<handles.RunOptions> = {
  cwd: 'name',
  env: { each: 'text' },
  passEnv: { listOf: 'name' },
  shell: 'name',
  timeoutSecs: 'amount',
  onTurnEnd: ['inquire', 'await', 'abort'],
  turnEndSecs: 'amount',
  maxChars: 'amount',
  maxOutputBytes: 'amount',
  graceMs: 'amount',
  settleMs: 'amount',
  promptMs: 'amount',
};

/** Makes a stateful tool that runs the command that `commandOf` returns. */
export function processTool(options: handles.ProcessToolOptions): handles.StatefulTool {
  check('processTool', options, PROCESS);
  return handles.processTool(options);
}

const PROCESS: Table<handles.ProcessToolOptions> = {
  name: { needed: 'name' },
  description: { needed: 'text' },
  parameters: { needed: { keys: { properties: { needed: 'object' }, required: { listOf: 'name' } } } },
  commandOf: { needed: 'function' },
  actions: { listOf: ['fetch', 'apply', 'abort'] },
  oneShot: 'flag',
  onTurnEnd: ['inquire', 'await', 'abort'],
  turnEndSecs: 'amount',
  isAgent: 'flag',
  notifyContent: 'flag',
  check: 'function',
  spawns: 'function',
  maxChars: 'amount',
  maxOutputBytes: 'amount',
  graceMs: 'amount',
  settleMs: 'amount',
  promptMs: 'amount',
};

/**
 * Opens a model by its name, such as `openai:gpt-5`. Throws `bad_argument` for an invalid name, and `bad_config` for a missing
 * key, base URL or package.
 */
export async function openModel(name: string, env: Readonly<Record<string, string | undefined>>): Promise<LanguageModelV4> {
  checkName('openModel', 'the name of the model', name);
  check('openModel', { env }, { env: { needed: { each: 'text' } } });
  return inner.openModel(name, env);
}

export { ToolFailure } from '../handles/index.ts';
export type { AgentEvent, BudgetOptions, Mode, Tool, ToolCall, ToolOutcome, TurnEnding, TurnResult } from '../agent/index.ts';
export type { FileToolsOptions };
export type { HandleSide, HandleView, ProcessToolOptions, RunOptions, StatefulTool } from '../handles/index.ts';
