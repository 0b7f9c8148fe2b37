/** The tools `tell_agent`, `list_agents` and `tell_me_when`, with which an agent reaches other agents. */
import { defined, withoutNulls } from '../core/defined.ts';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import type { Conversation } from '../inbox/index.ts';
import { Quota } from './quota.ts';
import { colleagues, MESSAGE_CHARS, SAYABLE, tell, tellWhen } from './talk.ts';
import { STATES } from './waiting.ts';

export type TalkTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
    readonly additionalProperties: false;
  };
  /** MCP's hints for the tool. */
  readonly annotations: { readonly title: string; readonly readOnlyHint: boolean } & Readonly<Record<string, unknown>>;
};

export const TALK_TOOLS: readonly TalkTool[] = [
  {
    name: 'tell_agent',
    description:
      'Sends a short message to another agent of this project, which reads it with its next tool result or prompt. ' +
      'A message is not an order and cannot interrupt. list_agents has the names. Do not wait for an answer: a reply arrives as a notification.',
    inputSchema: {
      type: 'object',
      properties: {
        to: { type: 'string', description: 'An agent of this project, or agent#session' },
        message: { type: 'string', description: `At most ${MESSAGE_CHARS.toLocaleString('en')} characters` },
        level: { type: 'string', enum: SAYABLE, description: 'Default info' },
        reply_to: { type: 'string', description: 'The id of the message that you answer, from get_notifications' },
      },
      required: ['to', 'message'],
      additionalProperties: false,
    },
    annotations: { title: 'Tell another agent', readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
  {
    name: 'list_agents',
    description: 'Lists the agents of this project: names, active sessions, pauses, last contact.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { title: 'List agents', readOnlyHint: true, openWorldHint: false },
  },
  {
    name: 'tell_me_when',
    description: 'Asks for one notification when another agent of this project ends its turn (idle) or its session (done).',
    inputSchema: {
      type: 'object',
      properties: {
        agent: { type: 'string', description: 'An agent of this project' },
        state: { type: 'string', enum: STATES, description: 'Default idle' },
      },
      required: ['agent'],
      additionalProperties: false,
    },
    annotations: { title: 'Tell me when an agent is idle', readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
];

export type TalkCall = { readonly tool: string; readonly args: unknown };

/** Answers the calls of `TALK_TOOLS` in one process. */
export class Talk {
  readonly #quota = new Quota();

  /**
   * Returns the answer as an object, which the caller writes as JSON. If an argument is wrong, throws an error whose message the
   * agent reads. `also` names more arguments that the tool accepts and the caller handles.
   */
  async answer(conversation: Conversation, call: TalkCall, also: readonly string[] = []): Promise<object> {
    const args = argumentsOf(call, also);
    switch (call.tool) {
      case 'tell_agent': {
        const message = args.text('message', MESSAGE_CHARS);
        const replyTo = args.optional('reply_to');
        const said = {
          to: args.text('to', 200),
          message,
          level: args.oneOf('level', SAYABLE, 'info'),
          ...defined({ replyTo }),
        };
        this.#quota.take(conversation.address, conversation.inbox.store.now());
        const { id, to, active } = await tell(conversation, said);
        return {
          success: true,
          id,
          to,
          message: active
            ? "Queued for the agent's next result or prompt."
            : "Queued for the agent's next session: no session is active now.",
        };
      }
      case 'list_agents':
        return { success: true, agents: await colleagues(conversation) };
      case 'tell_me_when': {
        const { agent, now } = await tellWhen(conversation, args.text('agent', 200), args.oneOf('state', STATES, 'idle'));
        return {
          success: true,
          agent,
          message: now ? 'The agent has no active session.' : 'You get one notification when that happens.',
        };
      }
      default:
        throw new EarpieceError('bad_argument', `there is no tool ${JSON.stringify(call.tool.slice(0, 80))}`);
    }
  }
}

function argumentsOf({ tool, args }: TalkCall, also: readonly string[]) {
  const given = withoutNulls((args ?? {}) as Readonly<Record<string, unknown>>);
  const known = Object.keys(TALK_TOOLS.find(({ name }) => name === tool)?.inputSchema.properties ?? {});
  for (const key of Object.keys(given))
    if (!known.includes(key) && !also.includes(key)) {
      const near = didYouMean(key, known);
      throw new EarpieceError(
        'bad_argument',
        `${tool} has no argument ${JSON.stringify(key.slice(0, 80))}${near === undefined ? `; valid arguments: ${known.join(', ') || 'none'}` : `; did you mean ${near}?`}`,
      );
    }
  const optional = (name: string): string | undefined => {
    const value = given[name];
    if (value === undefined || typeof value === 'string') return value;
    throw new EarpieceError('bad_argument', `${name} ${JSON.stringify(value).slice(0, 80)} must be a text`);
  };
  return {
    optional,
    text(name: string, max: number): string {
      const value = optional(name)?.trim() ?? '';
      if (value === '') throw new EarpieceError('bad_argument', `${name} is missing or empty`);
      if (value.length > max)
        throw new EarpieceError(
          'bad_argument',
          `${name} has ${value.length} characters, at most ${max} are sent; send less, or name a file`,
        );
      return value;
    },
    oneOf<T extends string>(name: string, words: readonly T[], otherwise: T): T {
      const value = optional(name);
      if (value === undefined) return otherwise;
      const found = words.find((word) => word === value);
      if (found !== undefined) return found;
      throw new EarpieceError('bad_argument', `${name} ${JSON.stringify(value.slice(0, 80))} must be one of ${words.join(', ')}`);
    },
  };
}
