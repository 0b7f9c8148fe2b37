import type { EventInput } from '../../src/core/event.ts';
import { createBus, shippedFolder, subscriberFolders, type Bus, type SubscriberSource } from '../../src/bus/index.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { memoryStore } from '../../src/stores/index.ts';

export const AGENT = 'bench/agent';

/**
 * The nine subscribers of the bus's first design. With all shipped subscribers, the bench would also measure subscribers whose
 * events it never emits.
 */
const NINE = [
  'tool_failure',
  'budget_warning',
  'budget_exceeded',
  'loop_detected',
  'self_notify',
  'context_limit',
  'session_resumed',
  'source_stale',
  'task_checkpoint',
];

/** The number of subscribers in `NINE`. Seven of these subscribers match the events of the bench. */
export const OF_THE_FIRST_DESIGN = NINE.length;

/** Returns the n-th event, which one of the nine subscribers matches. The events name a few tools and files, repeatedly. */
export function event(n: number): EventInput {
  const common = { source: 'agent', subject: AGENT, severity: 'warning' as const };
  switch (n % 9) {
    case 0:
      return {
        ...common,
        type: 'tool.call.failure',
        data: { tool_name: `tool_${n % 20}`, error_type: 'timeout', error_message: `after ${n % 7} s` },
      };
    case 1:
      return { ...common, type: 'budget.token.warning', data: { budget_type: 'token', percentage: 80, remaining: 2_000 } };
    case 2:
      return { ...common, type: 'tool.call.timeout', data: { tool_name: `tool_${n % 20}`, timeout_ms: 30_000 } };
    case 3:
      return { ...common, type: 'context.approaching_limit', data: { percent: 70, remaining_tokens: 60_000 } };
    case 4:
      return {
        ...common,
        type: 'agent.self.remind',
        key: `note-${n % 20}`,
        data: { message: `look at ${n % 20}`, category: 'reminder' },
      };
    case 5:
      return { ...common, type: 'session.resumed', data: { tree_id: `t${n % 10}`, nodes_loaded: 4, last_question: 'why?' } };
    case 6:
      return { ...common, type: 'source.stale', data: { path: `src/file-${n % 30}.ts` } };
    case 7:
      return { ...common, type: 'task.checkpoint', data: { message: 'half done', turn: n % 5 } };
    default:
      return { ...common, type: 'budget.iteration.warning', data: { budget_type: 'iteration', percentage: 70, remaining: 30 } };
  }
}

/**
 * Runs a bus with nine of the shipped subscribers, by default on a log in memory. The caller calls `read` and `forget`, so
 * that the log does not grow without end.
 */
export class Stage {
  readonly inbox: Inbox;
  readonly bus: Bus;

  /** `others`: more subscribers, each for an event type that the bench never emits. */
  constructor(
    inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' }),
    { others = 0 }: { readonly others?: number } = {},
  ) {
    this.inbox = inbox;
    const folders = subscriberFolders({ shipped: shippedFolder() });
    const nine = { ...folders.of('bench'), subscribers: folders.of('bench').subscribers.filter(({ id }) => NINE.includes(id)) };
    if (nine.subscribers.length !== NINE.length) throw new Error(`${nine.subscribers.length} of the nine subscribers ship`);
    const [first] = nine.subscribers;
    const more =
      first === undefined
        ? []
        : Array.from({ length: others }, (_, n) => ({
            ...first,
            id: `other_${n}`,
            events: { ...first.events, types: [`other.type_${n}`] },
          }));
    const whole = { ...nine, subscribers: [...nine.subscribers, ...more] };
    const subscribers: SubscriberSource = { of: () => (folders.of('bench'), whole) };
    this.bus = createBus({ inbox: this.inbox, subscribers, disabled: async () => new Set() });
  }

  /**
   * Returns the text that an agent reads. The agent's host keeps the transcript, because a transcript in the log would grow
   * without end.
   */
  async read(): Promise<string> {
    const offer = await this.inbox.conversation(`${AGENT}#a`).offer({ at: 'tool_batch_end' });
    await offer?.confirm();
    return offer?.view.text ?? '';
  }

  async forget(): Promise<void> {
    await this.inbox.store.prune(Number.MAX_SAFE_INTEGER);
  }

  async close(): Promise<void> {
    await this.bus.close();
    await this.inbox.close();
  }
}

/**
 * Emits `count` events at the pace of a producer that yields to other work. After each 20,000 events, the agent reads and
 * retention runs.
 */
export async function flood(stage: Stage, count: number, make: (n: number) => EventInput = event): Promise<void> {
  const failed: unknown[] = [];
  for (let n = 0; n < count; n++) {
    stage.bus.emit(make(n)).catch((error: unknown) => failed.push(error));
    if (n % 1_000 === 999) await new Promise(setImmediate);
    if (n % 20_000 !== 19_999) continue;
    await stage.bus.flush();
    await stage.read();
    await stage.forget();
  }
  await stage.bus.flush();
  if (failed.length > 0) throw failed[0];
}
