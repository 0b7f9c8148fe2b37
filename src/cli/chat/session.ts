/** Opens and closes an agent together with its parts: model, tools, background handles and MCP servers. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { agentTool } from '../../agent/sub-agents.ts';
import {
  askInquiries,
  createAgent,
  ownTools,
  taskTools,
  type Agent,
  type AgentOptions,
  type BudgetOptions,
  type Tool,
} from '../../agent/index.ts';
import { mcpTools, type McpTools } from '../../agent/mcp-tools.ts';
import { stateFolder, type ServerConfig } from '../../config/index.ts';
import { splitLog, type LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Draft, SentView } from '../../core/records.ts';
import type { LoadedInbox } from '../../loaded-inbox.ts';
import { tellUpstream } from '../../gateway/riding/tell-upstream.ts';
import { handleRegistry, isSecret, runTool, type HandleRegistry, type HandleView, type OnTurnEnd } from '../../handles/index.ts';
import type { Upstream } from '../../gateway/index.ts';
import { HANDLE_OF_VARIABLE, HANDLE_VARIABLE } from '../../inbox/index.ts';
import { offersTaskTools, Tasks } from '../../tasks/index.ts';
import { keepFollowing, keepHouse } from '../housekeeping.ts';
import { upstreamOf, withAbsent } from '../upstream.ts';
import { begunRecord, type Begun, type Choice } from './conversation-choice.ts';
import type { Model } from './model-choice.ts';
import type { Delivered } from './narrator.ts';
import { surroundingsOf, type Surroundings } from './surroundings.ts';

export type SessionOptions = {
  readonly choice: Choice;
  readonly model: Model;
  /** The system prompt. Default: the prompt stored with the conversation, otherwise the configured or built-in prompt. */
  readonly system?: string;
  readonly withTools: boolean;
  /**
   * The purpose of the conversation: `task` for a task, `chat` for a talk with a person. Default: the stored purpose. A
   * conversation without a purpose gets the notifications of every purpose.
   */
  readonly purpose?: string;
  /** Limits that override the configured limits. */
  readonly budget?: BudgetOptions;
  /** The effect of a turn's end on running background tools. Default `inquire`. */
  readonly onTurnEnd?: OnTurnEnd;
  readonly tellUser: (message: string) => void;
  /** Shows a person one line about events outside of the conversation. */
  readonly note: (line: string) => void;
  /** Updates the shown handles when one begins, changes or ends, and when the session has closed. */
  readonly onHandles?: () => void;
};

/** The maximum depth of agents that start agents. An agent at this depth cannot start another agent. */
const MAX_DEPTH = 3;

export class Session implements AsyncDisposable {
  readonly ear: LoadedInbox;
  readonly model: string;
  readonly choice: Choice;
  readonly #seat: Seat;
  readonly #mcp: McpTools;
  readonly #endHousekeeping: () => void;
  #closed: Promise<void> | undefined;

  private constructor(ear: LoadedInbox, options: SessionOptions, seat: Seat, mcp: McpTools) {
    this.ear = ear;
    this.choice = options.choice;
    this.model = options.model.name;
    this.#seat = seat;
    this.#mcp = mcp;
    void keepFollowing(ear, process.cwd()).catch(() => {});
    this.#endHousekeeping = keepHouse(() => ear, { folder: process.cwd(), complain: options.note });
  }

  /**
   * Opens the agent and its parts. MCP servers that do not start are reported and left out. Throws `store_refused` if another
   * process writes the conversation.
   */
  static async open(ear: LoadedInbox, options: SessionOptions): Promise<Session> {
    const { choice, model, withTools, note } = options;
    const seats = new Set<Seat>();
    const mcp = withTools ? await serversOf(ear, choice.address, seats, note) : NO_SERVERS;
    const system = options.system ?? choice.begun.system ?? ear.config.agent.system ?? defaultSystem(withTools);
    try {
      const purpose = options.purpose ?? choice.begun.purpose ?? (await ear.conversation(choice.address).purpose());
      const tasks = withTools && (await worksOnTasks(ear, choice, purpose));
      const room = { ear, model, system, mcp, seats, options, depth: 1, tasks };
      const seat = await takeSeat({ ...room, ...defined({ purpose }) }, choice.address, choice.log);
      const begun: Begun = {
        model: model.name,
        system,
        ...defined({ purpose }),
        ...(withTools ? { tasks } : {}),
      };
      if (Object.entries(begun).some(([key, value]) => choice.begun[key as keyof Begun] !== value))
        await seat.agent.conversation.record([begunRecord(begun)]);
      return new Session(ear, options, seat, mcp);
    } catch (error) {
      await mcp.close();
      throw error;
    }
  }

  get agent(): Agent {
    return this.#seat.agent;
  }

  /** The background handles that have not stopped. */
  get handles(): readonly HandleView[] {
    return this.#seat.handles?.list().filter(({ background, state }) => background && state !== 'stopped') ?? [];
  }

  /** Reads the notifications of a carrier from the store. The carrier's record contains the texts that the model read. */
  async delivered(ids: readonly NotificationId[]): Promise<Delivered> {
    const { log } = this.agent.conversation;
    const items = await this.ear.store.items(log, { kind: 'ids', ids });
    const carrier = this.agent.records.findLast(
      (record) =>
        'notifications' in record && (record.notifications as readonly { id: string }[]).some(({ id }) => id === ids[0]),
    ) as { summarizes?: readonly string[]; view?: SentView } | undefined;
    return {
      notifications: ids.flatMap((id) =>
        items
          .filter((item) => item.id === id)
          .slice(0, 1)
          .map((item) => ({ ...item.notification, count: item.count })),
      ),
      summarized: carrier?.summarizes?.length ?? 0,
      said: carrier?.view?.items ?? [],
      ...(items.length === 0 ? {} : { queuedAt: Math.min(...items.map(({ at }) => at)) }),
      now: this.ear.store.now(),
    };
  }

  /** Stops the turn, and ends the background tools and the servers. */
  close(): Promise<void> {
    return (this.#closed ??= (async () => {
      this.#endHousekeeping();
      await this.#seat.close();
      await this.#mcp.close();
    })());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

type Seat = { readonly agent: Agent; readonly handles?: HandleRegistry; close(): Promise<void> };
type Room = {
  readonly ear: LoadedInbox;
  readonly model: Model;
  readonly system: string;
  readonly mcp: McpTools;
  readonly seats: Set<Seat>;
  readonly options: SessionOptions;
  readonly depth: number;
  readonly purpose?: string;
  /** Whether the agent has the tools for tasks. */
  readonly tasks: boolean;
};

/**
 * Opens an agent and its handles. An agent that this agent starts is opened in the same way, with a `depth` that is one higher.
 */
async function takeSeat(room: Room, address: string, log: LogKey): Promise<Seat> {
  const { ear, model, system, options, depth, purpose } = room;
  let agent: Agent | undefined;
  const made = (): Agent => {
    if (agent === undefined) throw new Error('the agent is not open yet');
    return agent;
  };
  const handles = options.withTools ? handlesFor(room, address, log, made) : undefined;
  const around = options.withTools ? await surroundingsOf({ ear, address, withGit: depth === 1, note: options.note }) : undefined;
  const agentOptions: AgentOptions = {
    model: model.model,
    earpiece: ear,
    address,
    system,
    ...defined({ purpose }),
    maxCycles: ear.config.agent.maxCycles,
    budget: { ...ear.config.agent.budget, ...options.budget },
    onTrouble: (error) => options.note(`the agent continues after an error: ${messageOf(error)}`),
    tools: handles === undefined || around === undefined ? [] : toolsOf(room, handles, around, made),
    ...(handles === undefined
      ? {}
      : { onTurnEnd: (turn) => handles.endOfTurn({ signal: turn.signal, ask: askInquiries((question) => turn.ask(question)) }) }),
  };
  // `createAgent` adds answers for interrupted calls. These answers have not reached the model, so `answeredCalls` must run
  // before `createAgent`.
  const answers = await answeredCalls(ear, address);
  agent = await createAgent(agentOptions);
  await handles?.recover({ answered: (call) => answers.has(call) });
  await around?.start();
  const seat: Seat = {
    agent,
    ...defined({ handles }),
    close: async () => {
      room.seats.delete(seat);
      // Stopping the turn also stops its foreground calls. A sub-agent in the background is a handle, so `handles.close` ends it.
      made().stop();
      await handles?.close();
      await around?.stop(made().conversation);
      // The conversation of a sub-agent is never continued.
      await made().close({ over: depth > 1 });
      if (depth === 1) options.onHandles?.();
    },
  };
  room.seats.add(seat);
  return seat;
}

function handlesFor(room: Room, address: string, log: LogKey, agent: () => Agent): HandleRegistry {
  const { ear, options, depth } = room;
  const { onTurnEnd } = options;
  const { purpose: _purpose, ...shared } = room;
  const deeper = agentTool({
    log,
    open: async (its) =>
      takeSeat(
        // A sub-agent gets no tools for tasks, because no person or agent can assign a task to it.
        { ...shared, system: `${room.system}\n\n${SUB_AGENT}`, depth: depth + 1, tasks: false },
        its,
        its.slice(0, its.indexOf('#')) as LogKey,
      ),
  });
  const run = runTool({
    cwd: process.cwd(),
    passEnv: ear.config.agent.passEnv,
    ...defined({ onTurnEnd }),
  });
  return handleRegistry({
    tools: [run, ...(depth < MAX_DEPTH ? [{ ...deeper, ...defined({ onTurnEnd }) }] : [])],
    address,
    folder: join(
      stateFolder({ env: process.env }),
      'handles',
      createHash('sha256').update(`${ear.config.db}\n${address}`).digest('hex').slice(0, 24),
    ),
    inbox: ear,
    emitter: ear.bus,
    ids: ear.ids,
    owner: ear.owner,
    record: async (draft: Draft) => void (await agent().conversation.record([draft])),
    onChange: () => options.onHandles?.(),
    onTrouble: (error) => options.note(`a background tool could not be recorded: ${messageOf(error)}`),
  });
}

/** Returns all tools of the agent. A server's tool is left out if an earlier tool has the same name. */
function toolsOf(
  { mcp, options, depth, tasks }: Room,
  handles: HandleRegistry,
  around: Surroundings,
  agent: () => Agent,
): readonly Tool[] {
  const tools: Tool[] = [
    ...around.tools(handles.tools),
    ...ownTools({ agent, ...(depth === 1 ? { tellUser: options.tellUser } : {}) }),
    ...(tasks ? taskTools(agent) : []),
  ];
  for (const tool of mcp.tools) {
    if (!tools.some(({ name }) => name === tool.name)) tools.push(tool);
    else if (depth === 1)
      options.note(`the tool ${tool.name} of an MCP server is left out, because another tool has the same name`);
  }
  return tools;
}

/**
 * Whether the agent has the tools for tasks. Changed tools would invalidate the prompt cache. So the first decision for a
 * conversation stays, unless the configuration overrides it or the purpose changes.
 */
async function worksOnTasks(ear: LoadedInbox, { begun, log }: Choice, purpose: string | undefined): Promise<boolean> {
  return offersTaskTools({
    purpose,
    always: ear.config.agent.tasks ?? (purpose === begun.purpose ? begun.tasks : undefined),
    any: () => new Tasks(ear).any(splitLog(log).project),
  });
}

async function answeredCalls(ear: LoadedInbox, address: string): Promise<ReadonlySet<string>> {
  const answered = new Set<string>();
  for await (const { body } of ear.transcript(ear.conversation(address), { types: ['tool_call_response'] }))
    answered.add((body as unknown as { id: string }).id);
  return answered;
}

const NO_SERVERS: McpTools = { tools: [], close: async () => {} };

async function serversOf(
  ear: LoadedInbox,
  address: string,
  seats: ReadonlySet<Seat>,
  note: (line: string) => void,
): Promise<McpTools> {
  const { servers, leftOut, problems } = ear.config.gateway;
  for (const { message } of problems) note(message);
  const untrusted = ear.config.untrusted[0];
  if (untrusted !== undefined)
    note(`some settings of ${untrusted.file} are not trusted and are left out; read the file, then run: earpiece trust`);
  const upstreams = Object.values(servers).map((server) =>
    ofAgent(upstreamOf(server), server, address, ear.config.agent.passEnv),
  );
  if (upstreams.length === 0) return NO_SERVERS;
  try {
    return await mcpTools(withAbsent(upstreams, leftOut), {
      maxChars: ear.config.agent.maxResultChars,
      folder: join(stateFolder({ env: process.env }), 'results'),
      report: note,
      onUpstream: (event) => {
        for (const { agent } of seats)
          tellUpstream({ inbox: ear, emitter: ear.bus }, agent.conversation, event).catch((error: unknown) =>
            note(`cannot queue the notification that the MCP server ${event.server} has ${event.state}: ${messageOf(error)}`),
          );
      },
    });
  } catch (error) {
    note(`${messageOf(error)}; the agent continues without the tools of MCP servers`);
    return NO_SERVERS;
  }
}

/**
 * Returns the MCP server with the environment for this agent. The server gets a secret variable only if its configuration or
 * `agent.pass_env` names the variable.
 */
function ofAgent(upstream: Upstream, { target }: ServerConfig, address: string, pass: readonly string[]): Upstream {
  if (upstream.kind !== 'stdio' || target.kind === 'http') return upstream;
  const secrets = Object.keys(process.env).filter((name) => isSecret(name) && !pass.includes(name));
  return {
    ...upstream,
    env: {
      ...upstream.env,
      ...Object.fromEntries(secrets.map((name) => [name, target.env?.[name]])),
      [HANDLE_VARIABLE]: 'mcp',
      [HANDLE_OF_VARIABLE]: address,
    },
  };
}

/** Returns the built-in system prompt. The prompt must be the same at each start, because the prompt cache depends on it. */
function defaultSystem(withTools: boolean): string {
  if (!withTools) return 'You talk with a person in a terminal. Answer in plain text, without Markdown tables.';
  return [
    `You work for a person, through your tools, in the folder ${process.cwd()} (${process.platform}). The person reads you in a terminal: plain text, briefly.`,
    'Run long work in the background and continue with other work: you are notified when it ends. Never poll.',
    'The last message of your turn is your answer to them.',
  ].join('\n');
}

const SUB_AGENT = 'Another agent has given you this task and sees only your last message: put the whole result into it.';

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
