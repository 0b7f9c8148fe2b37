/**
 * Runs the bridge, a process that answers the plugin of a coding agent. The bridge answers through `attend`, as hooks do, and
 * pushes notifications that cannot wait (see `Session`). The bridge ends when the plugin closes its end of the pipe.
 */
import { defined } from '../../core/defined.ts';
import { holderOf } from '../../core/items.ts';
import type { CarrierId, Owner } from '../../core/records.ts';
import { appendDelivery, nextHead } from '../../inbox/index.ts';
import { attend, conversationOf, type Place } from '../attend.ts';
import type { Host } from '../host.ts';
import type { Attended, Caller, Moment } from '../moment.ts';
import type { FromBridge, FromPlugin, Whose } from './protocol.ts';
import { Session } from './session.ts';

export type BridgeOptions = {
  readonly place: Place;
  readonly host: Host;
  /** The process of the host. */
  readonly process: Owner;
  readonly nested: boolean;
  readonly send: (line: FromBridge) => void;
  readonly complain: (line: string) => void;
};

type Unsettled = Pick<Attended, 'confirm' | 'release' | 'carrier'> & {
  readonly session: Session;
  readonly pushed?: 'wake' | 'force';
};

/** How often the bridge renews the presence of its sessions, so that an unused session stays active while its host runs. */
const STILL_THERE_MS = 10 * 60_000;
const FORCED_FIRST = 'This call was not made: the interrupt in the next message came first.';

export class Bridge {
  readonly #options: BridgeOptions;
  readonly #sessions = new Map<string, Promise<Session>>();
  readonly #unsettled = new Map<number, Unsettled>();
  readonly #answering = new Set<number>();
  /** Unanswered questions whose answers the plugin no longer waits for. */
  readonly #givenUp = new Set<number>();
  readonly #end = new AbortController();
  readonly #background = new Set<Promise<unknown>>();
  readonly #watching: Promise<void>;
  readonly #stillThere: NodeJS.Timeout;
  #order: Promise<void> = Promise.resolve();
  /** The last id of a push. Such ids are negative, so that they differ from the plugin's ids. */
  #pushes = 0;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#watching = this.#watch();
    this.#stillThere = setInterval(() => {
      for (const session of this.#sessions.values())
        this.#run(session.then(({ conversation }) => (conversation.forgetSeen(), conversation.seen())));
    }, STILL_THERE_MS);
    this.#stillThere.unref();
  }

  /** Handles one line of the plugin. Never throws: errors are reported, and the agent continues. */
  receive(line: FromPlugin): void {
    this.#run(this.#handle(line));
  }

  /** Ends all sessions, because the host has ended. */
  async close(): Promise<void> {
    this.#end.abort();
    clearInterval(this.#stillThere);
    await this.#watching;
    await Promise.allSettled(this.#background);
    const sessions = await Promise.all([...this.#sessions.values()].map((each) => each.catch(() => undefined)));
    await Promise.allSettled([...this.#unsettled.values()].map((each) => each.release()));
    for (const session of sessions) {
      await session?.close();
      await session?.conversation.ended().catch(() => undefined);
    }
  }

  /**
   * Handles a line after the earlier receipts, states and `asked` questions, so that these lines take effect before a question is
   * answered. A line does not wait for other questions.
   */
  async #handle(line: FromPlugin): Promise<void> {
    const before = this.#order;
    const isQuestion = line.do === 'ask' && line.moment.kind !== 'asked';
    const work = before.then(() => this.#does(line));
    if (!isQuestion) this.#order = work.catch(() => undefined);
    await work;
  }

  async #does(line: FromPlugin): Promise<void> {
    switch (line.do) {
      case 'ask':
        return this.#answer(line.id, line, line.moment);
      case 'confirm':
        return this.#settle(line.id, async ({ confirm, carrier, session }) => {
          await confirm();
          if (line.evidence !== undefined && carrier !== undefined) await this.#observed(session, carrier, line.evidence);
        });
      case 'release':
        return this.#settle(line.id, async ({ release, session, pushed }) => {
          await release();
          if (pushed !== undefined) session.missed(pushed);
        });
      case 'state':
        return (await this.#session(line)).become(line.state);
      case 'seen':
        return this.#seen(await this.#session(line), line.carrier as CarrierId, line.evidence);
      default:
        this.#options.complain(
          `bridge: ${JSON.stringify(line).slice(0, 200)} is not a message of the plugin; run earpiece install`,
        );
        return line satisfies never;
    }
  }

  async #answer(id: number, whose: Whose, moment: Moment): Promise<void> {
    let answered = false;
    this.#answering.add(id);
    try {
      const session = await this.#session(whose);
      const attended = await this.#attended(session, whose, moment);
      const { answer, carrier } = attended;
      const gives = answer.kind !== 'nothing' && moment.kind !== 'session_start' && !this.#givenUp.has(id);
      if (gives) this.#unsettled.set(id, { ...attended, session });
      else await attended.release();
      this.#options.send({
        re: id,
        kind: gives ? answer.kind : 'nothing',
        ...(gives && 'text' in answer ? { text: answer.text } : {}),
        ...(gives && carrier !== undefined ? { carrier, leaseMs: session.conversation.policy().leaseMs } : {}),
      });
      answered = true;
      if (moment.kind === 'asked') session.become('asking');
      if (moment.kind === 'before_tool' && whose.subagent === undefined && !session.forcing) session.become('working');
      if (moment.kind === 'session_end') {
        this.#sessions.delete(whose.session);
        await session.close();
      }
    } finally {
      this.#answering.delete(id);
      this.#givenUp.delete(id);
      if (!answered) this.#options.send({ re: id, kind: 'nothing' });
    }
  }

  async #attended(session: Session, whose: Whose, moment: Moment): Promise<Attended> {
    const { place, host } = this.#options;
    if (moment.kind === 'before_tool' && session.forcing) return refused(FORCED_FIRST);
    const caller = this.#caller(whose);
    // A gateway with the tool `get_notifications` may have started after the last prompt, so the conversation is read again.
    if (moment.kind === 'prompt') session.conversation = await conversationOf(place, host, caller);
    if (moment.kind === 'prompt' || moment.kind === 'before_tool') await this.#route(session, whose);
    if (moment.kind === 'session_start' && moment.compacted) await session.conversation.seen({ mark: '' });
    if (AMONG_WORK.has(moment.kind) && session.conversation.quiet()) return NOTHING;
    const attended = await attend(place, host, caller, moment, session.conversation);
    // An interrupt may have ended the request while this question was answered.
    if (moment.kind === 'before_tool' && session.forcing) {
      await attended.release();
      return refused(FORCED_FIRST);
    }
    return attended;
  }

  /** Records which session of the host works now. A gateway that the host started reads this binding. */
  async #route({ conversation: { inbox, log, id } }: Session, { subagent }: Whose): Promise<void> {
    const { host, process } = this.#options;
    if (!host.manySessions || subagent !== undefined) return;
    const bound = await inbox.store.binding(process);
    if (bound?.log === log && bound.conversation === id) return;
    // The first session inherits notifications that were queued before it began. Later sessions do not continue the first.
    if (bound === undefined) await inbox.bind(process, { log, conversation: id });
    else await inbox.store.bind(process, { log, conversation: id });
  }

  #session(whose: Whose): Promise<Session> {
    const { place, host, send } = this.#options;
    const name = whose.session;
    const known = this.#sessions.get(name);
    if (known !== undefined) return known;
    const made = conversationOf(place, host, this.#caller(whose)).then((conversation): Session => {
      const session: Session = new Session(name, conversation, {
        maxChars: host.maxChars,
        tell: send,
        push: (kind, { text, ...settled }) => {
          const id = --this.#pushes;
          this.#unsettled.set(id, { ...settled, session, pushed: kind });
          const { carrier } = settled;
          send({ push: kind, id, session: name, text, ...defined({ carrier }) });
        },
      });
      return session;
    });
    this.#sessions.set(name, made);
    made.catch(() => this.#sessions.delete(name));
    return made;
  }

  #caller({ session, subagent, folder, transcript }: Whose): Caller {
    const { process, nested } = this.#options;
    return {
      session,
      folder,
      process,
      ...defined({ subagent, transcript }),
      ...(nested ? { nested } : {}),
    };
  }

  async #settle(id: number, how: (unsettled: Unsettled) => Promise<void>): Promise<void> {
    const unsettled = this.#unsettled.get(id);
    this.#unsettled.delete(id);
    if (unsettled !== undefined) await how(unsettled);
    else if (this.#answering.has(id)) this.#givenUp.add(id);
  }

  /** Confirms a delivery that the transcript proves. The offering process may have died before it wrote the receipt. */
  async #seen(session: Session, carrier: CarrierId, evidence: string): Promise<void> {
    const { conversation } = session;
    const { inbox, log, id } = conversation;
    const newer = (await inbox.store.items(log, { kind: 'carrier', carrier })).filter(({ state }) => state === 'offered');
    const drafts = [{ type: 'carrier_confirmed', conversation: id, carrier }] as const;
    if (newer.length > 0) await appendDelivery(inbox.store, { log, id, contact: conversation }, { drafts, newer });
    await this.#observed(session, carrier, evidence);
  }

  /**
   * Records that the transcript contains a carrier. The record names the conversation that got the carrier, because another
   * conversation of the agent may have the same notification without a proof.
   */
  async #observed({ conversation: { inbox, log, id } }: Session, carrier: CarrierId, evidence: string): Promise<void> {
    const items = await inbox.store.items(log, { kind: 'carrier', carrier });
    const unproven = items.filter(({ observed }) => !observed);
    const by = Map.groupBy(unproven, (item) => holderOf(item) || id);
    const records = [...by].map(([conversation, proven]) => ({
      type: 'notification_observed' as const,
      conversation,
      ids: proven.map((item) => item.id),
      evidence,
    }));
    if (records.length > 0) await inbox.store.append(log, records);
  }

  async #watch(): Promise<void> {
    const { store } = this.#options.place.inbox;
    const { signal } = this.#end;
    let seen = await store.head().catch(() => 0);
    while (!signal.aborted) {
      seen = await nextHead(store, seen, signal);
      for (const session of this.#sessions.values()) this.#run(session.then((each) => each.check()));
    }
  }

  #run(work: Promise<unknown>): void {
    const done: Promise<void> = work
      .catch((error: unknown) =>
        this.#options.complain(`bridge: ${error instanceof Error ? error.message : String(error)}; the agent continues`),
      )
      .then(() => void this.#background.delete(done));
    this.#background.add(done);
  }
}

/** The moments that need no answer if no notification waits and no gate is up. */
const AMONG_WORK: ReadonlySet<Moment['kind']> = new Set<Moment['kind']>(['before_tool', 'after_tool', 'asked', 'batch_end']);

const NOTHING: Attended = { answer: { kind: 'nothing' }, confirm: async () => {}, release: async () => {} };

const refused = (text: string): Attended => ({
  answer: { kind: 'deny', text },
  confirm: async () => {},
  release: async () => {},
});
