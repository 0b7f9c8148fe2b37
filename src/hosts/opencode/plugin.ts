/**
 * Runs as a plugin inside opencode. Its hooks deliver Earpiece's text at these places.
 *
 * - A prompt: in a synthetic part after the person's words.
 * - The result of a built-in tool: after the result's own text.
 * - The result of an MCP tool and a failing call, which no hook can change: in a synthetic message after the results.
 * - A call while the gate is up: the call fails with Earpiece's text.
 * - The end of the turn, an idle session, and a request that streams: in a synthetic message in the next request.
 *
 * The plugin runs on Bun, in opencode's own process, and throws only refusals.
 */
import { defined } from '../../core/defined.ts';
import { BridgeClient, type BridgeCommand, type Handed } from '../bridge/client.ts';
import type { Whose } from '../bridge/protocol.ts';
import type { Event, Hooks, Input, Model, Part } from './api.ts';

type Shown = {
  readonly id: string;
  readonly whose: Whose;
  agent?: string;
  model?: Model;
  /** Texts that were passed to opencode and whose delivery is not confirmed yet. */
  readonly pending: Set<Handed>;
  /** Calls that need no further message: they were refused, or their results were handled. */
  readonly handled: Set<string>;
  held: boolean;
  forcing: boolean;
  idle?: () => void;
};

/** The agents of opencode's own requests: titles, summaries, compactions. */
const OWN_AGENTS: ReadonlySet<string> = new Set(['title', 'summary', 'compaction']);
const IDLE_WITHIN_MS = 5_000;

export function opencode({ client, directory }: Input, command: BridgeCommand): Hooks {
  const sessions = new Map<string, Promise<Shown>>();
  // `opencode run` ends when its session is idle. So Earpiece neither wakes the session nor aborts its request, because an abort
  // makes the session idle.
  const runsOnce = process.argv.slice(1).includes('run');
  const quietly = async (work: Promise<unknown>): Promise<void> => void (await work.catch(() => undefined));

  const say = (line: string): void => {
    if (runsOnce) process.stderr.write(`${line}\n`);
    void quietly(client.app.log({ body: { service: 'earpiece', level: 'warn', message: line } }));
  };
  const show = (message: string): void =>
    void quietly(
      client.tui.showToast({ body: { title: 'Earpiece: send a message to deliver this', message, variant: 'warning' } }),
    );

  const bridge = new BridgeClient({
    command,
    host: 'opencode',
    folder: directory,
    say,
    show,
    wake: (push) => void wake(push),
    force: (push) => void force(push),
  });

  const shownOf = (id: string): Promise<Shown> => {
    let shown = sessions.get(id);
    if (shown === undefined) sessions.set(id, (shown = find(id)));
    return shown;
  };
  const find = async (id: string): Promise<Shown> => {
    const { data } = await client.session.get({ path: { id } }).catch(() => ({ data: undefined }));
    const parent = data?.parentID === undefined ? undefined : await shownOf(data.parentID);
    const whose: Whose =
      parent === undefined
        ? { session: id, folder: directory }
        : { session: parent.whose.session, subagent: id, folder: directory };
    return { id, whose, pending: new Set(), handled: new Set(), held: false, forcing: false };
  };
  const isSubagent = ({ whose }: Shown): boolean => whose.subagent !== undefined;

  const partOf = ({ text, carrier }: Handed) =>
    ({ type: 'text', text, synthetic: true, metadata: { earpiece: carrier ?? true } }) as const;
  const promptOf = ({ id, agent, model }: Shown, handed: Handed) => ({
    path: { id },
    body: {
      ...defined({ agent }),
      ...(model === undefined ? {} : { model: { providerID: model.providerID, modelID: model.modelID } }),
      ...(model?.variant === undefined ? {} : { variant: model.variant }),
      parts: [partOf(handed)],
    },
  });
  /** Adds a message without starting a turn. The next request of the running turn contains the message. */
  const inject = async (shown: Shown, handed: Handed): Promise<void> => {
    shown.pending.add(handed);
    const prompt = promptOf(shown, handed);
    await settled(shown, handed, client.session.prompt({ ...prompt, body: { ...prompt.body, noReply: true } }));
  };
  /** Begins a turn with a message. */
  const begin = async (shown: Shown, handed: Handed): Promise<void> => {
    shown.pending.add(handed);
    await settled(shown, handed, client.session.promptAsync(promptOf(shown, handed)));
  };
  const settled = async (shown: Shown, handed: Handed, work: Promise<{ readonly error?: unknown }>): Promise<void> => {
    const { error } = await work.catch((thrown: unknown) => ({ error: thrown ?? true }));
    if (error === undefined) return;
    shown.pending.delete(handed);
    handed.release();
  };

  const wake = async (push: Handed & { readonly session: string }): Promise<void> => {
    const shown = await shownOf(push.session);
    await begin(shown, push);
  };
  const force = async (push: Handed & { readonly session: string }): Promise<void> => {
    const shown = await shownOf(push.session);
    if (runsOnce) return inject(shown, push);
    shown.forcing = true;
    const idle = new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, IDLE_WITHIN_MS);
      shown.idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    await quietly(client.session.abort({ path: { id: shown.id } }));
    await idle;
    delete shown.idle;
    shown.forcing = false;
    await begin(shown, push);
  };

  const confirmAll = ({ pending }: Shown): void => {
    for (const handed of pending) handed.confirm();
    pending.clear();
  };

  const stored = async (part: Part): Promise<void> => {
    const shown = await shownOf(part.sessionID);
    const text = part.text ?? part.state?.output ?? part.state?.error;
    for (const handed of shown.pending) {
      if (text?.includes(handed.text) !== true) continue;
      shown.pending.delete(handed);
      handed.confirm(`opencode message ${part.messageID}, part ${part.id}`);
    }
    const { callID, tool = 'tool' } = part;
    if (part.type !== 'tool' || part.state?.status !== 'error' || callID === undefined || shown.handled.has(callID)) return;
    shown.handled.add(callID);
    if (isSubagent(shown) || shown.forcing) return;
    const handed = await bridge.ask(shown.whose, { kind: 'after_tool', tool });
    if (handed !== undefined) await inject(shown, handed);
  };

  const becameIdle = async (id: string): Promise<void> => {
    const shown = await shownOf(id);
    shown.held = false;
    for (const handed of shown.pending) handed.release();
    shown.pending.clear();
    shown.handled.clear();
    shown.idle?.();
    if (!runsOnce && !isSubagent(shown) && !shown.forcing) bridge.tell({ do: 'state', state: 'idle', ...shown.whose });
  };

  const onEvent = async ({ type, properties = {} }: Event): Promise<void> => {
    const id = properties['sessionID'];
    if (type === 'message.part.updated') return stored(properties['part'] as Part);
    if (type === 'session.idle' && typeof id === 'string') return becameIdle(id);
    if (type === 'session.compacted' && typeof id === 'string') {
      const shown = await shownOf(id);
      if (!isSubagent(shown)) await bridge.ask(shown.whose, { kind: 'session_start', compacted: true });
      return undefined;
    }
    if (type === 'session.deleted') {
      const { id: deleted } = (properties['info'] ?? {}) as { readonly id?: string };
      const shown = deleted === undefined ? undefined : await sessions.get(deleted);
      if (deleted !== undefined) sessions.delete(deleted);
      if (shown !== undefined && !isSubagent(shown)) await bridge.ask(shown.whose, { kind: 'session_end' });
    }
    return undefined;
  };

  return {
    dispose: async () => bridge.close(),

    // The work is not awaited, because it must not delay opencode's events.
    event: async ({ event }) => void onEvent(event).catch(() => undefined),

    'chat.message': async ({ sessionID }, { message, parts }) => {
      const shown = await shownOf(sessionID);
      if (message.agent !== undefined) shown.agent = message.agent;
      if (message.model !== undefined) shown.model = message.model;
      if (isSubagent(shown) || parts.some(({ metadata }) => metadata?.['earpiece'] !== undefined)) return;
      const handed = await bridge.ask(shown.whose, { kind: 'prompt' });
      if (handed === undefined) return;
      shown.pending.add(handed);
      parts.push({ ...partOf(handed), id: partIdAfter(parts), messageID: message.id, sessionID });
    },

    'chat.params': async ({ sessionID, agent }) => {
      if (OWN_AGENTS.has(typeof agent === 'string' ? agent : (agent.name ?? ''))) return;
      const shown = await shownOf(sessionID);
      if (isSubagent(shown)) return;
      confirmAll(shown);
      void bridge.ask(shown.whose, { kind: 'asked' });
    },

    'tool.execute.before': async ({ sessionID, tool, callID }) => {
      const shown = await shownOf(sessionID);
      const handed = await bridge.ask(shown.whose, { kind: 'before_tool', tool });
      if (handed?.kind !== 'deny') return;
      shown.handled.add(callID);
      shown.pending.add(handed);
      throw new Error(handed.text);
    },

    'tool.execute.after': async ({ sessionID, tool, callID }, result) => {
      const shown = await shownOf(sessionID);
      shown.handled.add(callID);
      if (isSubagent(shown)) return;
      const handed = await bridge.ask(shown.whose, { kind: 'after_tool', tool });
      if (handed === undefined) return;
      if (typeof result.output !== 'string') return inject(shown, handed);
      shown.pending.add(handed);
      result.output = `${result.output}\n\n${handed.text}`;
    },

    // A message after the answer continues the turn.
    'experimental.text.complete': async ({ sessionID }) => {
      const shown = await shownOf(sessionID);
      if (isSubagent(shown) || shown.forcing) return;
      const handed = await bridge.ask(shown.whose, { kind: 'turn_end', held: shown.held });
      if (handed === undefined) return;
      shown.held = true;
      await inject(shown, handed);
    },
  };
}

/**
 * Makes the id of a part, so that the part sorts after the other parts. The order of parts in opencode follows their ids: `prt_`,
 * twelve hexadecimal digits that grow with time, and fourteen random characters.
 */
function partIdAfter(parts: readonly Part[]): string {
  const last = parts.at(-1)?.id ?? '';
  const time = /^prt_([0-9a-f]{12})/.exec(last)?.[1] ?? (BigInt(Date.now()) * 0x1000n).toString(16).slice(-12);
  const next = (BigInt(`0x${time}`) + 1n).toString(16).padStart(12, '0');
  return `prt_${next}${'0'.repeat(14)}`;
}
