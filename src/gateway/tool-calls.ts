/**
 * Handles tool calls on their way to one server. Answers calls of the gateway's own tools, refuses the calls that the rider
 * refuses, and passes all other calls.
 */
import { frameOf, type Frame, type Note, type Request } from '../mcp/frames/frame.ts';
import { staysOpen, toolOf } from '../mcp/frames/protocol.ts';
import { refusal, withoutId } from './failing.ts';
import type { OpenCall, Outgoing } from './riding/carry.ts';
import type { GuardedRider } from './riding/guarded.ts';
import { answerOwn, type OwnTools } from './riding/own-tools.ts';
import type { Awaitable, Connection, Verdict } from './riding/rider.ts';

/** A request of the client that has not been answered yet. */
export type Open =
  | { readonly kind: 'call'; readonly call: OpenCall; readonly request: Request; phase: 'asking' | 'running' }
  | { readonly kind: 'own'; readonly call: OpenCall; readonly request: Request }
  | { readonly kind: 'list'; readonly connection: Connection; readonly request: Request }
  | { readonly kind: 'other'; readonly request: Request; cursor?: string };

/** Whether the client waits for the answer to the request. A stream has no answer until it ends. */
export const isAwaited = (open: Open): boolean => open.kind !== 'other' || !staysOpen(open.request);

/** Whether the gateway itself answers the request. */
export const isOwn = ({ kind }: Open): boolean => kind === 'own';

export type ToolCallsOptions = {
  readonly server: string;
  readonly rider: GuardedRider;
  readonly own: OwnTools;
  readonly open: Map<string, Open>;
  /** Sends frames to the server in the order of the calls. `undefined` sends nothing. */
  readonly toServer: (frame: Awaitable<Frame | undefined>) => void;
  /** Sends the gateway's own answer to a call. */
  readonly toClient: (out: Outgoing, call: OpenCall) => void;
  readonly report: (line: string) => void;
};

export class ToolCalls {
  readonly #options: ToolCallsOptions;
  readonly #saidWithoutId = new Set<string>();

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  call(frame: Request, client: Connection): void {
    const { open: requests, rider, server, toClient, toServer } = this.#options;
    const name = toolOf(frame);
    if (name === undefined) {
      requests.set(frame.id, { kind: 'other', request: frame });
      return toServer(frame);
    }
    const beganAt = performance.now();
    const connection = rider.callerOf(client, frame);
    const call: OpenCall = {
      server,
      tool: name,
      requestId: frame.id,
      beganAt,
      connection,
      cancelled: false,
    };
    const own = this.#options.own.meant(frame, client, name);
    if (typeof own === 'string') return this.#callOwn(frame, call, own);

    const open: Open & { kind: 'call' } = { kind: 'call', call, request: frame, phase: 'asking' };
    requests.set(frame.id, open);
    const decide = (verdict: Verdict): Frame | undefined => {
      if (call.cancelled) {
        requests.delete(frame.id);
        if (verdict.kind === 'refuse') verdict.delivery?.release('late');
        return undefined;
      }
      if (verdict.kind === 'pass') {
        open.phase = 'running';
        return frame;
      }
      requests.delete(frame.id);
      toClient(refusal(frame, verdict), call);
      return undefined;
    };
    const ask = (): Awaitable<Verdict> => rider.before(connection, call);
    if (own instanceof Promise) {
      toServer(
        own.then(async (meant) => {
          if (meant === undefined) return decide(await ask());
          requests.delete(frame.id);
          this.#callOwn(frame, call, meant);
          return undefined;
        }),
      );
      return;
    }
    const verdict = ask();
    toServer(verdict instanceof Promise ? verdict.then(decide) : decide(verdict));
  }

  /**
   * Handles a call without an id. A server may run such a call. While the gate is up, or before the client has identified itself,
   * the gateway drops the call. A call without an id gets no answer.
   */
  withoutId(frame: Note, client: Connection | undefined): void {
    const { report, rider, server, toServer } = this.#options;
    const tool = toolOf(frame) ?? '';
    const dropped = (when: string): void => {
      if (!this.#saidWithoutId.has(when)) report(`${withoutId(tool)} ${when}; the gateway drops such calls`);
      this.#saidWithoutId.add(when);
    };
    // No gate can be read for this client yet.
    if (client === undefined) return dropped('before it identified itself');
    const decide = (verdict: Verdict): Note | undefined => {
      if (verdict.kind === 'pass') return frame;
      verdict.delivery?.release('late');
      dropped('while the gate was up');
      return undefined;
    };
    const connection = rider.callerOf(client, frame);
    const verdict = rider.before(connection, { server, tool, requestId: 'null', beganAt: performance.now() });
    toServer(verdict instanceof Promise ? verdict.then(decide) : decide(verdict));
  }

  #callOwn(frame: Request, call: OpenCall, tool: string): void {
    this.#options.open.set(frame.id, { kind: 'own', call, request: frame });
    void this.#answerOwn(frame, call, tool);
  }

  async #answerOwn(frame: Request, call: OpenCall, tool: string): Promise<void> {
    await answerOwn(this.#options.rider, frame, { call, tool }, (out) => {
      this.#options.open.delete(frame.id);
      if (out) this.#options.toClient(out, call);
    });
  }
}

/** Whether an element of a batch is a tools/call or a tools/list. */
export function concernsTools(element: Buffer): boolean {
  const frame = frameOf(element);
  if (frame.kind === 'note') return frame.method === 'tools/call';
  return frame.kind === 'request' && (frame.method === 'tools/call' || frame.method === 'tools/list');
}
