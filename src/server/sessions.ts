/** Logs browsers in. A browser exchanges a code, which works once within ten minutes, for a cookie that no script can read. */
import { createHash, randomBytes } from 'node:crypto';
import type { Store } from '../core/ports.ts';
import { notAPerson, type Inbox } from '../inbox/index.ts';
import { ProblemError } from './problems.ts';
import type { Principal, Tokens } from './tokens.ts';

export const CODE_LASTS_MS = 10 * 60_000;
const SESSION_LASTS_MS = 30 * 24 * 3_600_000;
/** The name of the setting with the hash and the end time of each code. */
const CODES = 'login codes';

type Codes = Readonly<Record<string, number>>;
const MAX_CODES = 50;

/**
 * Makes a code that logs in one browser. The code is in the fragment of a URL, which browsers never send to a server. Throws
 * `not_trusted` in a command of an agent, because the code gives the rights of an admin.
 */
export async function makeCode({ store, speaker }: Pick<Inbox, 'store' | 'speaker'>): Promise<string> {
  if (speaker !== undefined) throw notAPerson('to log in to the console', speaker);
  const code = randomBytes(16).toString('base64url');
  await changeCodes(store, (codes) => ({ codes: { ...codes, [hashOf(code)]: store.now() + CODE_LASTS_MS }, answer: true }));
  return code;
}

/** Returns the URL that `earpiece serve` and `earpiece token login` print. */
export const loginUrl = (base: string, code: string): string => `${base}/#code=${code}`;

export class Sessions {
  readonly #store: Store;
  readonly #tokens: Tokens;

  constructor(store: Store, tokens: Tokens) {
    this.#store = store;
    this.#tokens = tokens;
  }

  /** Exchanges a code for a session. A second try with the same code fails in every process. */
  async byCode(code: string): Promise<Session> {
    const hash = hashOf(code);
    const until = await changeCodes(this.#store, ({ [hash]: answer, ...codes }) => ({ codes, answer }));
    if (until === undefined || until <= this.#store.now())
      throw new ProblemError(
        'unauthorized',
        'the login code was already used or has expired; for a new code run: earpiece token login',
      );
    return this.#made(undefined);
  }

  async byToken(text: string): Promise<Session> {
    const who = await this.#tokens.check(text);
    if (who === undefined)
      throw new ProblemError(
        'unauthorized',
        'the token is unknown, revoked or expired; create a token with: earpiece token create',
      );
    return this.#made(who);
  }

  async #made(of: Principal | undefined): Promise<Session> {
    const { id, token, expiresAt, createdAt } = await this.#tokens.session(of, SESSION_LASTS_MS);
    return { id, token, maxAgeS: Math.floor(((expiresAt ?? createdAt) - createdAt) / 1000) };
  }
}

export type Session = { readonly id: string; readonly token: string; readonly maxAgeS: number };

/**
 * Changes the codes atomically among all processes. A change first drops all codes but the newest 50. No code is removed by its
 * end time, because the clock of this process may be wrong.
 */
async function changeCodes<T>(store: Store, change: (codes: Codes) => { codes: Codes; answer: T }): Promise<T> {
  for (;;) {
    const before = await store.setting(CODES);
    const newest = Object.entries((before ?? {}) as Codes).slice(-MAX_CODES);
    const { codes, answer } = change(Object.fromEntries(newest));
    if (await store.swapSetting(CODES, before, Object.keys(codes).length === 0 ? undefined : codes)) return answer;
  }
}

const hashOf = (code: string): string => createHash('sha256').update(code).digest('hex');
