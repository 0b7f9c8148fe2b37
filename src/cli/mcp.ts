/**
 * `earpiece mcp`: Earpiece's own MCP server, for a coding agent that also runs the hooks. The
 * tools of the server let the agent read its notifications and reach other agents. Some hosts can call a server's tool as a
 * hook. These hosts call the tool `hook`, so that such a call starts no process.
 */
import { isDeepStrictEqual } from 'node:util';
import { EarpieceError } from '../core/errors.ts';
import { stateFolder } from '../config/index.ts';
import { attend, conversationOf, HOOK_HOSTS, noteServer, type Caller, type Place } from '../hosts/index.ts';
import { HOOK_TOOL } from '../hosts/setup/ours.ts';
import { selfOwner, type Conversation } from '../inbox/index.ts';
import { Talk, TALK_TOOLS } from '../talk/index.ts';
import type { Toolbox } from '../gateway/riding/toolbox.ts';
import { FOLLOW_TOOL } from '../sources/follow/tool-shape.ts';
import { followBox } from './follow-box.ts';
import { ownSessions, sessionsOfHost } from './own-sessions.ts';
import { serve, type GatewayOptions, type OwnServer } from './gateway.ts';

export const serveMcp = (options: GatewayOptions): Promise<number> => serve([], options, { own: OWN });

const OWN: OwnServer = {
  // The agent's host calls the hidden tool, which the model does not see. The tool's arguments are `host` and the fields of the
  // host's event.
  tools: [...TALK_TOOLS, FOLLOW_TOOL, { name: HOOK_TOOL, hidden: true }],
  boxes: (place) => [talkBox(), followBox(place), hookBox(place)],
};

function talkBox(): Toolbox {
  const talk = new Talk();
  return {
    tools: TALK_TOOLS,
    answer: async (call, { conversation }) => ({
      text: JSON.stringify(await talk.answer(conversation, call)),
      carries: true,
    }),
  };
}

function hookBox(place: Place): Toolbox {
  const sessions = new Map<string, Session>();
  return {
    tools: [{ name: HOOK_TOOL, hidden: true }],
    answer: async ({ args }, { identity }) => {
      const input = filled(args);
      const name = input['host'];
      const host = HOOK_HOSTS.find((each) => each.name === name);
      if (host === undefined)
        throw new EarpieceError(
          'bad_argument',
          `host ${JSON.stringify(name)?.slice(0, 80) ?? 'is missing and'} must be one of ${HOOK_HOSTS.map((each) => each.name).join(', ')}`,
        );
      const heard = host.parse(input);
      if (heard === undefined) return { text: '{}' };
      const inside = place.inbox.speaker;
      const own = inside === undefined ? undefined : ownSessions(inside, identity.host?.process);
      const mayAct = own?.mayAct ?? sessionsOfHost(identity.host?.process);
      const found = own?.isBelow === false ? undefined : identity.host;
      const caller: Caller = {
        ...heard.caller,
        ...(found === undefined || host.manySessions
          ? own?.command
          : { process: found.process, ...(found.nested ? { nested: true } : {}) }),
      };
      const known = sessions.get(caller.session);
      const ends = heard.moment.kind === 'batch_end';
      if (ends && caller.subagent !== undefined) return { text: '{}' };
      if (ends && known !== undefined && performance.now() > known.lookUntil && known.conversation.quiet()) return { text: '{}' };
      const now = await conversationOf({ ...place, mayAct }, host, caller);
      const conversation = known !== undefined && isSame(known.conversation, now) ? known.conversation : now;
      const { answer, ...delivery } = await attend(place, host, caller, heard.moment, conversation);
      const lookUntil = answer.kind === 'nothing' ? (known?.lookUntil ?? 0) : performance.now() + LOOKED_FOR_MS;
      if (sessions.size >= MAX_SESSIONS) sessions.clear();
      sessions.set(caller.session, { conversation, lookUntil });
      if (ends && known === undefined) noteServer(stateFolder({ env: process.env }), caller.session, selfOwner());
      const printed = host.format(answer, input);
      return { text: printed.stdout === '' ? '{}' : printed.stdout, delivery };
    },
  };
}

/** A session for which the host has reported an event. Until `lookUntil`, Earpiece searches the transcript for deliveries. */
type Session = { readonly conversation: Conversation; readonly lookUntil: number };

/**
 * Whether the conversation is unchanged. For an unchanged conversation, the earlier object is kept, because that object knows
 * when the presence was last written. A new object would write the presence at each call.
 */
const isSame = (before: Conversation, now: Conversation): boolean =>
  before.log === now.log && isDeepStrictEqual(before.options, now.options);

const MAX_SESSIONS = 100;
const LOOKED_FOR_MS = 60_000;

/**
 * Drops the fields without a value, which are empty or still contain the placeholder from the settings. Converts `true`, `false`
 * and the list `tool_calls` from texts into values.
 */
function filled(args: unknown): Readonly<Record<string, unknown>> {
  const given = Object.entries((args ?? {}) as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    given
      .filter(([, value]) => value !== '' && !(typeof value === 'string' && /^\$\{[^}]*\}$/.test(value)))
      .map(([key, value]) => [
        key,
        key === 'tool_calls' ? listIn(value) : value === 'true' ? true : value === 'false' ? false : value,
      ]),
  );
}

/** Parses a list, which the host writes as JSON. Returns an empty list for a text that is not JSON. */
function listIn(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return [];
  }
}
