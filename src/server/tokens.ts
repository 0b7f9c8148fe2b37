/**
 * Creates, checks and revokes tokens. A token is `ep_<id>_<secret>`. The setting `token <id>` contains the token's SHA-256
 * and target. The setting `tokens` lists the ids. Revoking a token deletes the token from the store, so every process refuses the
 * token at once.
 *
 * In a command of an agent, creating, listing and revoking tokens throw `not_trusted`, because a token can give the rights of a
 * person. A login stays possible: it needs a token or a code that somebody else made, and gives no further rights.
 */
import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { nameFrom } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import type { CreatedToken, TokenInfo, TokenRequest } from '../wire/api.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Store } from '../core/ports.ts';
import { notAPerson, type Inbox, type InsideAgent } from '../inbox/index.ts';

/** The caller of a request, as described by its token. */
export type Principal = Pick<
  TokenInfo,
  'id' | 'kind' | 'name' | 'project' | 'agent' | 'conversation' | 'session' | 'expiresAt'
> & {
  /** For a session, the id of the token that created the session, if a token did. Otherwise, the `id` of this principal. */
  readonly account: string;
};

type Kept = TokenInfo & {
  readonly hash: string;
  /** The id of the token that created the session. The session ends with that token. */
  readonly parent?: string;
};

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';
const SHAPE = /^ep_([0-9a-z]{12})_[0-9a-z]{40}$/;
/** The minimum time between two writes of the time of the last use. */
const USED_EVERY_MS = 60_000;
const MAX_TOKENS = 1_000;
/** The maximum number of browser sessions of one token. A further login logs out the oldest session. */
const MAX_SESSIONS = 20;
const MAX_NAME_CHARS = 100;
const LASTS_AT_LEAST_MS = 1_000;
const LASTS_AT_MOST_MS = 3_650 * 86_400_000;

export class Tokens {
  readonly #store: Store;
  readonly #speaker: InsideAgent | undefined;
  readonly #mayForget: () => Promise<boolean>;
  readonly #revoked = new Set<(id: string) => void>();

  /**
   * `mayForget` says whether the clock of this process is reliable enough to remove expired tokens. By default, expired tokens
   * are refused but kept.
   */
  constructor({ store, speaker }: Pick<Inbox, 'store' | 'speaker'>, mayForget: () => Promise<boolean> = async () => false) {
    this.#store = store;
    this.#speaker = speaker;
    this.#mayForget = mayForget;
  }

  async create(request: TokenRequest): Promise<CreatedToken> {
    this.#onlyAPerson('to create a token');
    return this.#make(checked(request), {});
  }

  /**
   * Makes the session of a browser. The session has the permissions of `of`; without `of`, the permissions of an admin. The
   * session ends when it expires, or when the token that created the session is revoked.
   */
  async session(of: Principal | undefined, lastsMs: number): Promise<CreatedToken> {
    const expiresInMs = of?.expiresAt == null ? lastsMs : Math.min(lastsMs, of.expiresAt - this.#store.now());
    // A session that another session created belongs to the same token.
    const parent = of?.session ? ((await this.#kept(of.id))?.parent ?? of.id) : of?.id;
    if (parent !== undefined) await this.#makeRoom(parent);
    return this.#make(
      {
        kind: of?.kind ?? 'admin',
        name: of === undefined ? 'browser' : `browser of ${of.name}`.slice(0, 100),
        ...(of?.project == null ? {} : { project: of.project }),
        ...(of?.agent == null ? {} : { agent: of.agent }),
        ...(of?.conversation == null ? {} : { conversation: of.conversation }),
        expiresInMs,
      },
      { session: true, ...defined({ parent }) },
    );
  }

  /**
   * Returns the principal of a token; undefined for an invalid or expired token. The check takes the same time for every wrong
   * secret.
   */
  async check(text: string): Promise<Principal | undefined> {
    const id = SHAPE.exec(text)?.[1];
    const kept = id === undefined ? undefined : await this.#kept(id);
    const same = timingSafeEqual(digest(text), Buffer.from(kept?.hash ?? NOBODYS, 'hex'));
    if (kept === undefined || !same || !(await this.#lives(kept))) return undefined;
    this.#used(kept);
    return principalOf(kept);
  }

  /** Whether the token with this id still exists and is valid. */
  async lives(id: string): Promise<boolean> {
    const kept = await this.#kept(id);
    return kept !== undefined && this.#lives(kept);
  }

  async list(): Promise<readonly TokenInfo[]> {
    this.#onlyAPerson('to list tokens');
    return this.#list();
  }

  async describe({ id }: Principal): Promise<TokenInfo | undefined> {
    const kept = await this.#kept(id);
    return kept === undefined ? undefined : infoOf(kept);
  }

  async #list(): Promise<readonly TokenInfo[]> {
    const all = await Promise.all((await this.#ids()).map((id) => this.#kept(id)));
    const now = this.#store.now();
    return all.flatMap((kept) => (kept === undefined || isOver(kept, now) ? [] : [infoOf(kept)]));
  }

  /** Whether any token exists, apart from the tokens of browser sessions. */
  async any(): Promise<boolean> {
    return (await this.#list()).some(({ session }) => !session);
  }

  /** Revokes a token and its browser sessions. Returns false if the token does not exist. */
  async revoke(id: string): Promise<boolean> {
    this.#onlyAPerson('to revoke a token');
    return this.#revoke(id);
  }

  /** Ends the browser session of the caller. */
  async logOut({ id }: Principal): Promise<void> {
    await this.#revoke(id);
  }

  async #revoke(id: string): Promise<boolean> {
    const kept = await this.#kept(id);
    if (kept === undefined) return false;
    const others = await Promise.all((await this.#ids()).map((each) => this.#kept(each)));
    const gone = [id, ...others.flatMap((each) => (each?.parent === id ? [each.id] : []))];
    for (const each of gone) await this.#store.setSetting(`token ${each}`, undefined);
    for (const each of gone) for (const tell of this.#revoked) tell(each);
    await this.#changeIds((ids) => ids.filter((each) => !gone.includes(each)));
    return true;
  }

  /**
   * Calls `tell` for each revocation by this process, until the returned function is called. Only `check` and `lives` notice
   * other processes' revocations.
   */
  onRevoked(tell: (id: string) => void): () => void {
    this.#revoked.add(tell);
    return () => this.#revoked.delete(tell);
  }

  #onlyAPerson(what: string): void {
    if (this.#speaker !== undefined) throw notAPerson(what, this.#speaker);
  }

  async #make(request: TokenRequest, more: { session?: true; parent?: string }): Promise<CreatedToken> {
    const id = letters(12);
    const token = `ep_${id}_${letters(40)}`;
    const now = this.#store.now();
    const kept: Kept = {
      id,
      kind: request.kind,
      name: request.name,
      project: request.project ?? null,
      agent: request.agent ?? null,
      conversation: request.conversation ?? null,
      session: more.session ?? false,
      createdAt: now,
      lastUsedAt: null,
      expiresAt: request.expiresInMs === undefined ? null : now + request.expiresInMs,
      hash: digest(token).toString('hex'),
      ...defined({ parent: more.parent }),
    };
    await this.#dropOver();
    await this.#store.setSetting(`token ${id}`, kept);
    try {
      await this.#changeIds((ids) => {
        if (ids.length >= MAX_TOKENS)
          throw new EarpieceError(
            'bad_argument',
            `there are already ${ids.length} tokens and browser sessions; revoke old tokens: earpiece token revoke <id>`,
          );
        return [...ids, id];
      });
    } catch (error) {
      // No caller has the token yet, so the token is removed.
      await this.#store.setSetting(`token ${id}`, undefined);
      throw error;
    }
    return { ...infoOf(kept), token };
  }

  /** Ends the oldest sessions of this token, so that one more session stays within `MAX_SESSIONS`. */
  async #makeRoom(parent: string): Promise<void> {
    const all = await Promise.all((await this.#ids()).map((id) => this.#kept(id)));
    const sessions = all.flatMap((kept) => (kept?.parent === parent ? [kept] : [])).toSorted((a, b) => a.createdAt - b.createdAt);
    for (const { id } of sessions.slice(0, Math.max(0, sessions.length - MAX_SESSIONS + 1))) await this.#revoke(id);
  }

  async #kept(id: string): Promise<Kept | undefined> {
    return (await this.#store.setting(`token ${id}`)) as Kept | undefined;
  }

  async #lives(kept: Kept): Promise<boolean> {
    if (isOver(kept, this.#store.now())) return false;
    return kept.parent === undefined || (await this.lives(kept.parent));
  }

  /**
   * Writes the time of the last use, but only if the token is unchanged. Otherwise the write could restore a token that was
   * revoked in the meantime.
   */
  #used(kept: Kept): void {
    const now = this.#store.now();
    if (Math.abs(now - (kept.lastUsedAt ?? 0)) < USED_EVERY_MS) return;
    // If the time of the last use cannot be written, the request must not fail.
    this.#store.swapSetting(`token ${kept.id}`, kept, { ...kept, lastUsedAt: now }).catch(() => false);
  }

  async #ids(): Promise<readonly string[]> {
    return ((await this.#store.setting('tokens')) ?? []) as readonly string[];
  }

  async #changeIds(change: (ids: readonly string[]) => readonly string[]): Promise<void> {
    for (;;) {
      const ids = await this.#store.setting('tokens');
      const next = change((ids ?? []) as readonly string[]);
      if (await this.#store.swapSetting('tokens', ids, next.length === 0 ? undefined : next)) return;
    }
  }

  async #dropOver(): Promise<void> {
    if (!(await this.#mayForget())) return;
    const now = this.#store.now();
    for (const id of await this.#ids()) {
      const kept = await this.#kept(id);
      if (kept !== undefined && !isOver(kept, now)) continue;
      await this.#store.setSetting(`token ${id}`, undefined);
      await this.#changeIds((ids) => ids.filter((each) => each !== id));
    }
  }
}

function checked(request: TokenRequest): TokenRequest {
  const { kind, name, project, agent, conversation, expiresInMs } = request;
  const refuse = (why: string): never => {
    throw new EarpieceError('bad_argument', `a token of kind ${kind} ${why}`);
  };
  // oxlint-disable-next-line no-control-regex -- a name with control characters is refused
  if (name.trim() === '' || /[\u0000-\u001f\u007f-\u009f]/u.test(name))
    refuse(
      `needs a name that is not blank and has no control characters, got ${JSON.stringify(name.slice(0, 80))}; write e.g. ci`,
    );
  if (name.length > MAX_NAME_CHARS) refuse(`has a name of ${name.length} characters; at most ${MAX_NAME_CHARS} are allowed`);
  if (expiresInMs !== undefined && !(expiresInMs >= LASTS_AT_LEAST_MS))
    refuse(`must last at least one second, got ${expiresInMs} ms; write 1000 or more`);
  if (expiresInMs !== undefined && expiresInMs > LASTS_AT_MOST_MS)
    refuse(`may last at most ten years (3650d), got ${expiresInMs} ms; leave the time out for a token without an end`);
  for (const [what, value] of Object.entries({ project, agent, conversation }))
    if (value !== undefined && nameFrom(value) !== value)
      refuse(`has ${JSON.stringify(value.slice(0, 80))}, which is not a valid ${what}; use the name as in an address`);
  if (kind === 'admin' && project !== undefined) refuse('is for every project; leave the project out');
  if (kind !== 'admin' && project === undefined) refuse('is for one project; name the project');
  if (kind === 'agent' && agent === undefined) refuse('is for one agent; name the agent');
  if (kind !== 'agent' && agent !== undefined)
    refuse('is not for a single agent; leave the agent out, or create a token of kind agent');
  if (kind !== 'agent' && conversation !== undefined) refuse('is not for a single conversation; create a token of kind agent');
  return {
    kind,
    name,
    ...defined({ project, agent, conversation, expiresInMs }),
  };
}

const isOver = (kept: Kept, now: number): boolean => kept.expiresAt !== null && kept.expiresAt <= now;

function infoOf({ hash: _hash, parent: _parent, ...info }: Kept): TokenInfo {
  return info;
}

const principalOf = ({ id, kind, name, project, agent, conversation, session, expiresAt, parent }: Kept): Principal => ({
  id,
  kind,
  name,
  project,
  agent,
  conversation,
  session,
  expiresAt,
  account: parent ?? id,
});

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
/** The hash that an unknown token is compared with, so that the check takes the same time. No token has this hash. */
const NOBODYS = digest('').toString('hex');

/** Makes random characters. Each character has 5.17 bits of randomness, so 40 characters have 206 bits. */
const letters = (n: number): string => Array.from({ length: n }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
