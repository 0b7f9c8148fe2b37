/**
 * Separates the calls of a client by the session that the client names in each call, so that each session gets its own
 * notifications. Measured with Codex 0.169: `_meta.sessionId` contains the id that the hooks get. In a call of a sub-agent,
 * `_meta.threadId` has another value.
 *
 * The client sends the value, and the client is trusted. Over stdio, the client has started the gateway. Over HTTP, a client may
 * name any conversation in a header anyway. A wrapped server sees the value, as without a gateway, but cannot set it.
 */
import { param, type Note, type Request } from '../../mcp/frames/frame.ts';
import { stringAt } from '../../mcp/frames/json.ts';
import type { Caller, Connection, Ended } from './rider.ts';

/**
 * The maximum number of sessions of one client. Beyond this maximum, the session whose last call is oldest loses its connection.
 */
const MAX_SESSIONS = 100;
/** The maximum number of characters of a session's id. A longer id is ignored. */
const MAX_CHARS = 200;

export class SessionConnections {
  readonly #opened: (connection: Connection) => void;
  readonly #ended: (connection: Connection, how: Ended) => void;
  readonly #known = new WeakMap<Connection, Map<string, Connection>>();

  /** `opened` and `ended` are called with each connection that this class makes. */
  constructor(opened: (connection: Connection) => void, ended: (connection: Connection, how: Ended) => void) {
    this.#opened = opened;
    this.#ended = ended;
  }

  /** Returns the connection for a call of the client: for a call without a session, the client's own connection. */
  of(client: Connection, call: Request | Note): Connection {
    const caller = client.profile.namesSession === true ? callerIn(client, call) : undefined;
    if (caller === undefined) return client;
    const all = this.#known.get(client) ?? new Map<string, Connection>();
    this.#known.set(client, all);
    const key = `${client.key} ${caller.subagent ? 'sub-agent of ' : ''}${caller.session}`;
    const known = all.get(key);
    if (known !== undefined) {
      all.delete(key);
      all.set(key, known);
      return known;
    }
    const [oldest] = all.values();
    if (oldest !== undefined && all.size >= MAX_SESSIONS) {
      all.delete(oldest.key);
      // The session itself goes on, and may call again.
      this.#ended(oldest, { mayReturn: true });
    }
    const made: Connection = { ...client, key, caller };
    all.set(key, made);
    this.#opened(made);
    return made;
  }

  /** Ends the connections of all sessions of the client. */
  end(client: Connection): void {
    for (const each of this.#known.get(client)?.values() ?? []) this.#ended(each, { mayReturn: false });
    this.#known.delete(client);
  }
}

function callerIn(client: Connection, call: Request | Note): Caller | undefined {
  const thread = idAt(call, 'threadId');
  const session = idAt(call, 'sessionId') ?? thread;
  return session === undefined ? undefined : { client, session, subagent: (thread ?? session) !== session };
}

function idAt(call: Request | Note, name: string): string | undefined {
  const id = stringAt(call.bytes, param(call, '_meta', name));
  return id === undefined || id === '' || id.length > MAX_CHARS ? undefined : id;
}
