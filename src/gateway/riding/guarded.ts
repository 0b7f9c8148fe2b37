import { patience } from '../../inbox/index.ts';
import type { Note, Request } from '../../mcp/frames/frame.ts';
import { LateRides, type Late } from './late-rides.ts';
import type {
  Call,
  Connection,
  Delivery,
  Departing,
  Ended,
  OwnAnswer,
  OwnCall,
  OwnTool,
  Awaitable,
  Result,
  Ride,
  ReleaseReason,
  Rider,
  UpstreamEvent,
  Verdict,
} from './rider.ts';
import { SessionConnections } from './session-connections.ts';

/**
 * How long the gateway waits for the rider at a call or a result: see `patience`. After this time, the last known gate decides a
 * call, and a result gets no text.
 */
export const RIDER_WITHIN_MS = 250;
/** How long a handshake waits for the rider's text. A store opens within about 50 ms, and on a busy machine within a second. */
const INSTRUCTIONS_WITHIN_MS = 1_000;
/**
 * How long each call waits while the rider is known not to answer. So an outage costs the agent 250 ms once, and not with each
 * call.
 */
const OUTAGE_WITHIN_MS = 25;

/**
 * The time without failures after which any answer of the rider ends an outage, because the method that failed may never be
 * called again.
 */
const CALM_MS = 60_000;

/** A question to the rider that had no answer in time. `instead`: the answer that was used. */
type Overdue = {
  readonly what: string;
  readonly answer: Promise<Verdict | Ride>;
  readonly instead: Verdict | Ride;
  readonly early: EarlyDelivery;
  readonly askedAt: number;
};

/** A late answer of the rider. `arrives` resolves when the answer is kept, released or recorded. */
type LateAnswer = { readonly what: string; readonly arrives: Promise<void> };

/** Resolves when the late answers have arrived. With `what`, waits only for the answers of the method `what`. */
async function arrived(late: ReadonlySet<LateAnswer>, what?: string): Promise<void> {
  await Promise.all([...late].filter((each) => what === undefined || each.what === what).map(({ arrives }) => arrives));
}

/**
 * Wraps a rider so that the rider cannot stop traffic. After an exception or a late answer, the call passes, unless the last
 * known gate is up. Each outage is reported once. If `before`, `after` or `callTool` failed first, the outage ends when the same
 * method answers again, in time or late. An answer of another of these methods ends an outage only after `CALM_MS`, because reads
 * may work while writes are locked.
 */
export class GuardedRider {
  readonly #rider: Rider;
  readonly #report: (line: string) => void;
  readonly #withinMs: number;
  /**
   * Late answers of the rider, by connection. The next result may carry a late text: see `LateRides`. A late refusal is settled
   * with the refusal that was sent in its place. Any other late delivery is released.
   */
  readonly #late = new Map<Connection['key'], Set<LateAnswer>>();
  readonly #lateRides = new LateRides();
  readonly #closed = new WeakSet<Connection>();
  readonly #sessions = new SessionConnections(
    (connection) => this.opened(connection),
    (connection, how) => this.#end(connection, how),
  );
  /** The method whose failure began this outage. */
  #out: string | undefined;
  #failedAt = 0;

  constructor(rider: Rider, report: (line: string) => void, withinMs: number = RIDER_WITHIN_MS) {
    this.#rider = rider;
    this.#report = report;
    this.#withinMs = withinMs;
  }

  /** Returns the connection of the session that the call names. If the call names none, returns the client's own connection. */
  callerOf(client: Connection, call: Request | Note): Connection {
    return this.#sessions.of(client, call);
  }

  tools(connection: Connection): readonly OwnTool[] {
    return this.#now('tools', () => this.#rider.tools(connection), []);
  }

  toolsKnown(): Promise<void> | undefined {
    return this.#now('tools', () => this.#rider.toolsKnown?.(), undefined);
  }

  before(connection: Connection, call: Call): Awaitable<Verdict> {
    const late = this.#late.get(connection.key);
    const asked: Call = late === undefined ? call : { ...call, landed: () => arrived(late, 'after') };
    const held = (): Verdict => this.#now('before', () => this.#rider.held?.(connection, asked), undefined) ?? { kind: 'pass' };
    return this.#soon(connection, 'before', () => this.#rider.before(connection, asked), held);
  }

  after(connection: Connection, result: Result): Awaitable<Ride> {
    const kept = this.#lateRides.take(connection.key);
    const ask = (): Awaitable<Ride> =>
      kept === undefined ? this.#rider.after(connection, result) : this.#keptOrNew(kept, connection, result);
    const ride = this.#soon(connection, 'after', ask, (): Ride => ({ kind: 'none' }));
    const noted = (now: Ride): Ride => {
      if (now.kind === 'ride' && now !== kept) this.#lateRides.inTime(connection.key);
      return now;
    };
    return ride instanceof Promise ? ride.then(noted) : noted(ride);
  }

  /** Returns the kept text if the text may still be sent, and otherwise asks the rider again. */
  async #keptOrNew(kept: Late, connection: Connection, result: Result): Promise<Ride> {
    const stands = await this.#stands(connection, kept, result);
    return stands ? kept : this.#rider.after(connection, result);
  }

  /** Whether a late text may still be sent. A text that cannot be checked waits for the next result. */
  async #stands(connection: Connection, late: Late, on?: Result): Promise<boolean> {
    try {
      return (await late.stands?.(on)) ?? true;
    } catch (error) {
      this.#keep(connection, late, performance.now());
      throw error;
    }
  }

  #keep(connection: Connection, late: Late, askedAt: number): void {
    if (this.#closed.has(connection) || !this.#lateRides.keep(connection.key, late, askedAt)) late.delivery.release('late');
  }

  /**
   * Returns the rider's text for the handshake. Undefined if the rider has no text, fails, or takes longer than a second. The
   * rider gets more time than for a call, because each connection needs the text only once.
   */
  instructions(connection: Connection): Awaitable<string | undefined> {
    return this.#rider.instructions === undefined ? undefined : this.#instructions(connection);
  }

  async #instructions(connection: Connection): Promise<string | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, INSTRUCTIONS_WITHIN_MS, undefined)));
    try {
      return await Promise.race([this.#rider.instructions?.(connection), late]);
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }

  silent(connection: Connection): boolean {
    // During an outage the result is false, so that the gateway asks the rider: only an answer of the rider ends the outage.
    return (
      this.#out === undefined &&
      !this.#lateRides.has(connection.key) &&
      this.#now('silent', () => this.#rider.silent?.(connection) ?? false, false)
    );
  }

  /**
   * Runs one of the gateway's own tools, without a time limit. If the tool fails, the call fails, because no server could answer
   * the call. Notifications in a late offer would be missing from the tool's answer. So this method first waits for the late
   * offers, and releases them.
   */
  async callTool(connection: Connection, call: OwnCall): Promise<OwnAnswer> {
    const late = this.#late.get(connection.key);
    if (late !== undefined) await arrived(late);
    this.#lateRides.releaseAll(connection.key, 'late');
    try {
      const answer = await this.#rider.callTool(connection, call);
      this.#well('callTool');
      return answer;
    } catch (error) {
      this.#trouble('callTool', reasonOf(error));
      return {
        result: { content: [{ type: 'text', text: `${call.tool} failed: ${reasonOf(error)}` }], isError: true },
        confirm: () => {},
        release: () => {},
      };
    }
  }

  opened(connection: Connection): void {
    this.#now('opened', () => this.#rider.opened(connection), undefined);
  }

  closed(connection: Connection): void {
    this.#sessions.end(connection);
    this.#end(connection, { mayReturn: false });
  }

  #end(connection: Connection, how: Ended): void {
    this.#lateRides.releaseAll(connection.key, 'client_died');
    this.#lateRides.inTime(connection.key);
    this.#closed.add(connection);
    this.#now('closed', () => this.#rider.closed(connection, how), undefined);
  }

  upstream(event: UpstreamEvent, of?: Connection['key']): void {
    this.#now('upstream', () => this.#rider.upstream(event, of), undefined);
  }

  #now<T>(what: string, ask: () => T, otherwise: T): T {
    try {
      return ask();
    } catch (error) {
      this.#trouble(what, reasonOf(error));
      return otherwise;
    }
  }

  #soon<T extends Verdict | Ride>(
    connection: Connection,
    what: string,
    ask: () => Awaitable<T>,
    otherwise: () => T,
  ): Awaitable<T> {
    let asked: Awaitable<T>;
    try {
      asked = ask();
    } catch (error) {
      return this.#failed(what, error, otherwise);
    }
    if (!(asked instanceof Promise)) {
      this.#well(what);
      return asked;
    }
    return this.#inTime(connection, what, asked, otherwise);
  }

  async #inTime<T extends Verdict | Ride>(
    connection: Connection,
    what: string,
    answer: Promise<T>,
    otherwise: () => T,
  ): Promise<T> {
    const askedAt = performance.now();
    const withinMs = this.#out === undefined ? this.#withinMs : Math.min(OUTAGE_WITHIN_MS, this.#withinMs);
    const time = patience(withinMs, () => this.#now('working', () => this.#rider.working?.() ?? false, false));
    try {
      const value = await Promise.race([answer, time.over]);
      if (value !== undefined) {
        this.#well(what);
        return value;
      }
      this.#trouble(what, `no answer within ${withinMs} ms`);
      const known = otherwise();
      const early = new EarlyDelivery(known.kind === 'refuse' ? known.delivery : undefined);
      const instead = known.kind === 'refuse' ? { ...known, delivery: early } : known;
      this.#awaits(connection, { what, arrives: this.#comesLate(connection, { what, answer, instead, early, askedAt }) });
      return instead;
    } catch (error) {
      return this.#failed(what, error, otherwise);
    } finally {
      time.end();
    }
  }

  #failed<T extends Verdict | Ride>(what: string, error: unknown, otherwise: () => T): T {
    this.#trouble(what, reasonOf(error));
    const instead = otherwise();
    if (instead.kind === 'refuse') void instead.ended?.('unrecorded');
    return instead;
  }

  #awaits({ key }: Connection, late: LateAnswer): void {
    const all = this.#late.get(key) ?? new Set();
    this.#late.set(key, all.add(late));
    void late.arrives.finally(() => {
      all.delete(late);
      if (all.size === 0) this.#late.delete(key);
    });
  }

  async #comesLate(connection: Connection, { what, answer, instead, early, askedAt }: Overdue): Promise<void> {
    let value: Verdict | Ride | undefined;
    try {
      value = await answer;
      this.#well(what);
      if (!('delivery' in value) || value.delivery === undefined) return;
      // The gateway has already sent the client a refusal with the same text, from the last known gate.
      if (value.kind === 'refuse' && instead.kind === 'refuse') return early.becomes(value.delivery);
      if (value.kind !== 'ride' || this.#closed.has(connection) || !this.#lateRides.isLateAgain(connection.key))
        return value.delivery.release('late');
      if (await this.#stands(connection, value)) this.#keep(connection, value, askedAt);
    } catch {
      // The rider failed after its answer was reported as late. The delivery, if there is one, is kept or released.
    } finally {
      if (instead.kind === 'refuse')
        await instead.ended?.(isRecorded(instead, value) || early.unsent ? 'recorded' : 'unrecorded');
    }
  }

  #trouble(what: string, why: string): void {
    this.#failedAt = performance.now();
    if (this.#out !== undefined) return;
    this.#out = what;
    this.#report(
      `notifications cannot be reached (${what}: ${why}); until the store answers, tool calls pass without notifications, except while a known gate is up`,
    );
  }

  #well(what: string): void {
    if (this.#out === undefined || (this.#out !== what && performance.now() - this.#failedAt < CALM_MS)) return;
    this.#out = undefined;
    this.#report('notifications can be reached again');
  }
}

/**
 * The delivery of a refusal that is sent before the store answers. `known`: the delivery of the known refusal. The store may later
 * return a delivery of the same text. That delivery is confirmed or released together with this delivery, because the client may
 * never read the refusal.
 */
class EarlyDelivery implements Delivery {
  readonly #known: Delivery | undefined;
  #delivery: Delivery | undefined;
  #hasLeft = false;
  #outcome: ((delivery: Delivery) => void) | undefined;
  /** Whether the refusal was dropped instead of sent. */
  unsent = false;
  readonly departure: Departing = {
    isOvertaken: false,
    leave: () => {
      this.#hasLeft = true;
      this.#known?.departure?.leave();
      this.#delivery?.departure?.leave();
    },
  };

  constructor(known: Delivery | undefined) {
    this.#known = known;
  }

  becomes(delivery: Delivery): void {
    this.#delivery = delivery;
    if (this.#hasLeft) delivery.departure?.leave();
    this.#outcome?.(delivery);
  }

  confirm(): void {
    this.#end((delivery) => delivery.confirm());
  }

  release(reason: ReleaseReason): void {
    this.unsent = reason === 'late';
    this.#end((delivery) => delivery.release(reason));
  }

  #end(outcome: (delivery: Delivery) => void): void {
    this.#outcome = outcome;
    if (this.#known !== undefined) outcome(this.#known);
    if (this.#delivery !== undefined) outcome(this.#delivery);
  }
}

/** Whether the rider has recorded the refusal that was sent in place of its answer. */
const isRecorded = (sent: Verdict & { kind: 'refuse' }, answer: Verdict | Ride | undefined): boolean =>
  answer?.kind === 'refuse' && answer.text === sent.text;

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
