/** Stores the data of conversations that is not in records: presence, bindings to host processes, and withheld results. */
import { randomUUID } from 'node:crypto';
import { type ConversationId, type LogKey, splitLog } from '../../core/address.ts';
import type { Presence, PresenceQuery, PresenceUpdate, Withheld } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import { presenceAfter } from '../presence.ts';
import { defined } from '../../core/defined.ts';
import { enterLog } from './append.ts';
import { inTurns } from './in-turns.ts';
import { logNames } from './lists.ts';
import type { Logs } from './logs.ts';
import { logTokens, token } from './names.ts';
import { KEEP, type Tables } from './tables.ts';

export type Bound = { readonly log: LogKey; readonly conversation: ConversationId };
type PresencePage = Omit<PresenceQuery, 'log' | 'limit'> & { readonly limit: number };
export type Binding = Bound & { readonly host: Owner; readonly at: number };

export const presenceRow = (log: LogKey, conversation: ConversationId): string =>
  `presence.${logTokens(log)}.${token(conversation)}`;
export const bindingRow = ({ machine, pid, startedAt }: Owner): string =>
  `binding.${token(JSON.stringify([machine, pid, startedAt]))}`;
export const withheldRow = ({ log, conversation, id }: Bound & { readonly id: string }): string =>
  `withheld.${logTokens(log)}.${token(conversation)}.${token(id)}`;

export class Conversations {
  readonly #tables: Tables;
  readonly #logs: Logs;

  constructor(tables: Tables, logs: Logs) {
    this.#tables = tables;
    this.#logs = logs;
  }

  async touch(update: PresenceUpdate, now: number, by: string): Promise<Presence> {
    const row = presenceRow(update.log, update.conversation);
    let isNew = false;
    const known = await this.#tables.change<Presence>(row, by, (before) => {
      isNew = before === undefined;
      return presenceAfter(before, update, now);
    });
    if (isNew) await enterLog(this.#tables, update.log);
    return known as Presence;
  }

  async presence({ project, log, conversation, after, limit }: PresenceQuery): Promise<readonly Presence[]> {
    if (log !== undefined && conversation !== undefined) {
      const { value } = await this.#tables.get<Presence>(presenceRow(log, conversation));
      return value === undefined || splitLog(log).project !== (project ?? splitLog(log).project) ? [] : [value];
    }
    if (log === undefined && limit !== undefined) return this.#page({ limit, ...defined({ project, conversation, after }) });
    const below = log !== undefined ? `${logTokens(log)}.*` : project !== undefined ? `${token(project)}.*.*` : '*.*.*';
    return (await this.#tables.scan<Presence>(`presence.${below}`))
      .map(({ value }) => value)
      .filter(
        (one) =>
          (conversation === undefined || one.conversation === conversation) &&
          (after === undefined || one.log > after) &&
          (project === undefined || splitLog(one.log).project === project),
      )
      .toSorted((a, b) => compare(a.log, b.log) || compare(a.conversation, b.conversation));
  }

  /** Reads the presence of the first `limit` logs after `after`. A log without conversations does not count. */
  async #page(wanted: PresencePage): Promise<readonly Presence[]> {
    const { project, conversation, after = '', limit } = wanted;
    const names = (await logNames({ tables: this.#tables }, project)).filter((log) => log > after);
    const found: Presence[][] = [];
    for (let from = 0; from < names.length && found.length < limit; from += limit) {
      const rows = await inTurns(names.slice(from, from + limit), (log) => this.presence(defined({ log, conversation })));
      found.push(...rows.filter((each) => each.length > 0).map((each) => [...each]));
    }
    return found.slice(0, limit).flat();
  }

  async bind(host: Owner, { log, conversation }: Bound, at: number): Promise<void> {
    await this.#tables.change<Binding>(bindingRow(host), randomUUID(), () => ({ host, log, conversation, at }));
  }

  async binding(host: Owner): Promise<(Bound & { at: number }) | undefined> {
    const { value } = await this.#tables.get<Binding>(bindingRow(host));
    return value && { log: value.log, conversation: value.conversation, at: value.at };
  }

  async withhold(held: Withheld): Promise<void> {
    await this.#tables.change<Withheld>(withheldRow(held), randomUUID(), () => held);
  }

  /**
   * Returns the withheld results of a conversation. With `take`, the results are removed, and each result is returned to only one
   * process.
   */
  async withheld(
    { log, conversation }: Bound,
    { now, take }: { readonly now: number; readonly take: boolean },
  ): Promise<readonly Withheld[]> {
    const rows = (await this.#tables.scan<Withheld>(`withheld.${logTokens(log)}.${token(conversation)}.*`)).filter(
      ({ value }) => value.until > now,
    );
    const taken = await Promise.all(rows.map(async ({ subject, seq }) => !take || (await this.#tables.drop(subject, seq))));
    return rows
      .filter((_, n) => taken[n])
      .map(({ value }) => value)
      .toSorted((a, b) => a.at - b.at);
  }

  /** Removes conversations that ended before `before`, old bindings without presence, and withheld results that have expired. */
  async prune(before: number, now: number): Promise<void> {
    const [held, seen, bindings] = await Promise.all([
      this.#tables.scan<Withheld>('withheld.>'),
      this.#tables.scan<Presence>('presence.>'),
      this.#tables.scan<Binding>('binding.>'),
    ]);
    for (const { subject, seq, value } of held) if (value.until <= now) await this.#tables.drop(subject, seq);
    const left = new Set<string>();
    for (const { subject, seq, value } of seen) {
      // If notifications wait for the conversation, its presence stays, because a wrong clock may have recorded its end.
      const isOver = value.endedAt !== undefined && value.endedAt < before && !(await this.#isAwaited(value));
      if (!isOver || !(await this.#tables.drop(subject, seq))) left.add(presenceRow(value.log, value.conversation));
    }
    for (const { subject, seq, value } of bindings)
      if (value.at < before && !left.has(presenceRow(value.log, value.conversation))) await this.#tables.drop(subject, seq);
  }

  /**
   * Removes the presence, bindings and withheld results of one log. Returns the numbers of conversations and withheld results.
   */
  async erase(log: LogKey): Promise<{ readonly conversations: number; readonly withheld: number }> {
    const drop = async (rows: readonly { readonly subject: string; readonly seq: number }[]): Promise<number> =>
      (await Promise.all(rows.map(({ subject, seq }) => this.#tables.drop(subject, seq)))).filter(Boolean).length;
    const bindings = (await this.#tables.scan<Binding>('binding.>')).filter(({ value }) => value.log === log);
    await drop(bindings);
    return {
      conversations: await drop(await this.#tables.scan(`presence.${logTokens(log)}.*`)),
      withheld: await drop(await this.#tables.scan(`withheld.${logTokens(log)}.*.*`)),
    };
  }

  async #isAwaited({ log, conversation }: Presence): Promise<boolean> {
    const view = await this.#logs.fresh(log);
    return [...view.log.open].some(({ item }) => item.audience === conversation);
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the secret of the store, which the first caller makes. */
export async function secretOf(tables: Tables, make: () => string): Promise<string> {
  const made = make();
  const kept = await tables.change<string>('secret', randomUUID(), (known) => (known === undefined ? made : KEEP));
  return kept ?? made;
}
