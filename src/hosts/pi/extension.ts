/**
 * Runs as an extension inside pi. Its handlers deliver Earpiece's text at these places.
 *
 * - A prompt: in a message after the person's words.
 * - A finished batch of tools, even if tools failed: in a message after all results.
 * - A call while the gate is up: the call is blocked with Earpiece's text.
 * - The end of a run: in a message, for which pi makes one more request.
 * - An idle session, and a request that streams (after its abort): in a new turn. The new turn begins with a line in place of the
 *   person's words. Without this line, the turn would lose the system prompt of other extensions, and thereby the prompt cache.
 *
 * No handler throws, because pi blocks a tool if a handler throws.
 */
import { defined } from '../../core/defined.ts';
import { BridgeClient, type BridgeCommand, type Handed } from '../bridge/client.ts';
import type { Whose } from '../bridge/protocol.ts';
import type { Boundary, Context, CustomMessage, Entry, Pi } from './api.ts';

const TYPE = 'earpiece';
/**
 * The prompt of a turn that Earpiece begins. The prompt must say that no person wrote it, because it appears in place of a
 * person's words.
 */
const WOKEN = '[earpiece] This session was idle. No human typed this; the notification follows.';
const FORCED = '[earpiece] The answer was ended for an interrupt. No human typed this; the interrupt follows.';
const BEGINS_WITHIN_MS = 10_000;
/**
 * The maximum number of leases of an earlier process that are checked. That process may have ended before it confirmed these
 * leases.
 */
const LEASES_CHECKED = 20;

export function pi(api: Pi, command: BridgeCommand): void {
  let bridge: BridgeClient | undefined;
  let now: Context | undefined;
  /** Texts that were passed to pi and are not in its session yet. */
  const pending = new Set<Handed>();
  /** The turn that is about to begin, and the text that it delivers. */
  let beginning: { readonly line: string; readonly handed: Handed; readonly timer: NodeJS.Timeout } | undefined;
  let forced: Handed | undefined;
  let held = false;

  const whose = (ctx: Context): Whose => {
    const transcript = ctx.sessionManager.getSessionFile();
    return {
      session: ctx.sessionManager.getSessionId(),
      folder: ctx.cwd,
      ...defined({ transcript }),
    };
  };
  /** Whether pi continues after a run. Without a terminal or a client, pi exits after the run, and cannot be woken. */
  const stays = (ctx: Context): boolean => ctx.mode === 'tui' || ctx.mode === 'rpc';
  const say = (line: string): void => {
    if (now?.hasUI) now.ui.notify(line, 'warning');
    else process.stderr.write(`${line}\n`);
  };

  const messageOf = ({ text, carrier }: Handed): CustomMessage => ({
    customType: TYPE,
    content: text,
    display: true,
    ...(carrier === undefined ? {} : { details: { id: carrier } }),
  });

  /** Confirms the texts that are in pi's session. */
  const confirmStored = (ctx: Context): void => {
    if (pending.size === 0) return;
    const branch = ctx.sessionManager.getBranch();
    for (const handed of pending) {
      const entry = branch.findLast((each) => holds(each, handed));
      if (entry === undefined) continue;
      pending.delete(handed);
      handed.confirm(`pi session entry ${entry.id}`);
    }
  };

  const begin = (line: string, handed: Handed): void => {
    const timer = setTimeout(() => {
      beginning = undefined;
      handed.release();
    }, BEGINS_WITHIN_MS);
    timer.unref?.();
    beginning = { line, handed, timer };
    api.sendUserMessage(line, { deliverAs: 'followUp' });
  };

  const wake = (push: Handed): void => {
    if (now?.isIdle() === true && beginning === undefined) begin(WOKEN, push);
    else push.release();
  };
  const force = (push: Handed): void => {
    if (now === undefined || forced !== undefined) return push.release();
    forced = push;
    if (now.isIdle()) runForced();
    else now.abort();
  };
  const runForced = (): void => {
    const push = forced;
    forced = undefined;
    if (push !== undefined) begin(FORCED, push);
  };

  const tellState = (ctx: Context): void =>
    bridge?.tell({ do: 'state', state: ctx.isIdle() && stays(ctx) ? 'idle' : 'working', ...whose(ctx) });

  api.on('session_start', async (_event, ctx) => {
    now = ctx;
    bridge?.close();
    const own: BridgeClient = new BridgeClient({
      command,
      host: 'pi',
      folder: ctx.cwd,
      say,
      wake,
      force,
      show: (text) => {
        if (now?.hasUI) now.ui.notify(`Earpiece: send a message to deliver this.\n${text}`, 'warning');
      },
      began: () => {
        if (now === undefined) return;
        for (const { carrier, evidence } of past(now.sessionManager.getBranch()))
          own.tell({ do: 'seen', carrier, evidence, ...whose(now) });
      },
    });
    bridge = own;
    tellState(ctx);
    await own.ask(whose(ctx), { kind: 'session_start' });
  });

  api.on('session_shutdown', () => {
    bridge?.close();
    bridge = undefined;
    now = undefined;
  });

  api.on('session_compact', async (_event, ctx) => {
    await bridge?.ask(whose(ctx), { kind: 'session_start', compacted: true });
  });

  api.on('before_agent_start', async ({ prompt }, ctx) => {
    now = ctx;
    held = false;
    const ours = beginning?.line === prompt ? beginning : undefined;
    if (ours !== undefined) {
      clearTimeout(ours.timer);
      beginning = undefined;
    }
    const handed = ours?.handed ?? (await bridge?.ask(whose(ctx), { kind: 'prompt' }));
    if (handed === undefined) return undefined;
    pending.add(handed);
    return { message: messageOf(handed) };
  });

  api.on('turn_start', (_event, ctx) => {
    now = ctx;
    bridge?.tell({ do: 'state', state: 'asking', ...whose(ctx) });
  });

  // The model has begun to answer, so its request contained everything in the session.
  api.on('message_start', ({ message }, ctx) => {
    if (message.role !== 'assistant') return;
    now = ctx;
    confirmStored(ctx);
    void bridge?.ask(whose(ctx), { kind: 'asked' });
  });

  api.on('tool_call', async ({ toolName }, ctx) => {
    now = ctx;
    const handed = await bridge?.ask(whose(ctx), { kind: 'before_tool', tool: toolName });
    if (handed?.kind !== 'deny') return undefined;
    pending.add(handed);
    return { block: true, reason: handed.text };
  });

  const append = (event: Boundary, handed: Handed) => {
    pending.add(handed);
    return [...event.entries, { type: 'custom_message', ...messageOf(handed) }];
  };

  api.on('turn_end', async (event, ctx) => {
    now = ctx;
    confirmStored(ctx);
    if (event.outcome !== 'completed' || event.toolResults.length === 0 || forced !== undefined) return undefined;
    const tools = event.toolResults.flatMap(({ toolName }) => (toolName === undefined ? [] : [toolName]));
    const handed = await bridge?.ask(whose(ctx), { kind: 'batch_end', tools });
    return handed === undefined ? undefined : { entries: append(event, handed) };
  });

  api.on('agent_before_settle', async (event, ctx) => {
    now = ctx;
    confirmStored(ctx);
    if (event.outcome !== 'completed' || event.continue === true || forced !== undefined) return undefined;
    const handed = await bridge?.ask(whose(ctx), { kind: 'turn_end', held });
    if (handed === undefined) return undefined;
    held = true;
    return { entries: append(event, handed), continue: true };
  });

  api.on('agent_settled', (_event, ctx) => {
    now = ctx;
    confirmStored(ctx);
    for (const handed of pending) handed.release();
    pending.clear();
    if (forced === undefined) tellState(ctx);
    else runForced();
  });
}

const carrierOf = ({ customType, details, message }: Entry): string | undefined => {
  if ((customType ?? message?.customType) !== TYPE) return undefined;
  const { id } = (details ?? message?.details ?? {}) as { readonly id?: unknown };
  return typeof id === 'string' ? id : undefined;
};

const holds = (entry: Entry, { carrier, text }: Handed): boolean =>
  carrierOf(entry) === carrier && carrier !== undefined
    ? true
    : JSON.stringify(entry).includes(JSON.stringify(text).slice(1, -1));

const past = (branch: readonly Entry[]): readonly { readonly carrier: string; readonly evidence: string }[] =>
  branch
    .flatMap((entry) => {
      const carrier = carrierOf(entry);
      return carrier === undefined ? [] : [{ carrier, evidence: `pi session entry ${entry.id}` }];
    })
    .slice(-LEASES_CHECKED);
