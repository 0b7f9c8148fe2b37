import type {
  Call,
  Connection,
  OwnAnswer,
  OwnCall,
  OwnTool,
  Awaitable,
  Result,
  Ride,
  Rider,
  UpstreamEvent,
  Verdict,
} from './rider.ts';

/** A rider that has not answered by then counts as having nothing to say. */
export const RIDER_WITHIN_MS = 250;

/** A rider that cannot stop traffic: what it throws and what comes too late is reported once for each outage, and the call passes. */
export class GuardedRider {
  readonly #rider: Rider;
  readonly #report: (line: string) => void;
  readonly #withinMs: number;
  #out = false;

  constructor(rider: Rider, report: (line: string) => void, withinMs: number = RIDER_WITHIN_MS) {
    this.#rider = rider;
    this.#report = report;
    this.#withinMs = withinMs;
  }

  tools(connection: Connection): readonly OwnTool[] {
    return this.#now('tools', () => this.#rider.tools(connection), []);
  }

  before(connection: Connection, call: Call): Awaitable<Verdict> {
    return this.#soon('before', () => this.#rider.before(connection, call), { kind: 'pass' });
  }

  after(connection: Connection, result: Result): Awaitable<Ride> {
    return this.#soon('after', () => this.#rider.after(connection, result), { kind: 'none' });
  }

  /** An own tool takes the time it takes; when it fails the call fails, since there is nothing to pass it on to. */
  async callTool(connection: Connection, call: OwnCall): Promise<OwnAnswer> {
    try {
      const answer = await this.#rider.callTool(connection, call);
      this.#well();
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
    this.#now('closed', () => this.#rider.closed(connection), undefined);
  }

  upstream(event: UpstreamEvent): void {
    this.#now('upstream', () => this.#rider.upstream(event), undefined);
  }

  #now<T>(what: string, ask: () => T, otherwise: T): T {
    try {
      return ask();
    } catch (error) {
      this.#trouble(what, reasonOf(error));
      return otherwise;
    }
  }

  #soon<T extends Verdict | Ride>(what: string, ask: () => Awaitable<T>, otherwise: T): Awaitable<T> {
    let asked: Awaitable<T>;
    try {
      asked = ask();
    } catch (error) {
      this.#trouble(what, reasonOf(error));
      return otherwise;
    }
    if (!(asked instanceof Promise)) {
      this.#well();
      return asked;
    }
    return this.#inTime(what, asked, otherwise);
  }

  async #inTime<T extends Verdict | Ride>(what: string, answer: Promise<T>, otherwise: T): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(resolve, this.#withinMs, undefined);
    });
    try {
      const value = await Promise.race([answer, timeout]);
      if (value !== undefined) {
        this.#well();
        return value;
      }
      this.#trouble(what, `no answer within ${this.#withinMs} ms`);
      void releaseWhenItComes(answer);
      return otherwise;
    } catch (error) {
      this.#trouble(what, reasonOf(error));
      return otherwise;
    } finally {
      clearTimeout(timer);
    }
  }

  #trouble(what: string, why: string): void {
    if (this.#out) return;
    this.#out = true;
    this.#report(`notifications cannot be reached (${what}: ${why}); calls pass without them until they can`);
  }

  #well(): void {
    if (!this.#out) return;
    this.#out = false;
    this.#report('notifications can be reached again');
  }
}

async function releaseWhenItComes(answer: Promise<Verdict | Ride>): Promise<void> {
  try {
    const value = await answer;
    if ('delivery' in value) value.delivery?.release('late');
  } catch {
    // It was reported as late; there is no delivery to give back.
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
