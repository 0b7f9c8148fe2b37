/** Appends to one log. Calls that wait during a write are written together, and each call gets its own answer. */
import { randomUUID } from 'node:crypto';
import type { LogKey } from '../../core/address.ts';
import { clockBeside } from '../../core/clocks.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { type Item, itemKey, putItem, touches } from '../../core/items.ts';
import type { Appended } from '../../core/ports.ts';
import { isType, type Stored } from '../../core/records.ts';
import type { Answer, Asked, Batch } from '../appends.ts';
import { found as cellsOf } from '../memory-log.ts';
import { freshItems, storedAs } from '../placing.ts';
import { settleBatch } from '../settle-batch.ts';
import { bodyText } from './body.ts';
import type { Logs, OnEffect } from './logs.ts';
import { logTokens } from './names.ts';
import type { Server } from './server.ts';
import { type Hold, knownOf, type Look, type Settings } from './settings.ts';
import { KEEP, type Tables } from './tables.ts';
import { isBeaten } from './trouble.ts';
import { Late } from '../insist.ts';
import type { Effect, View } from './view.ts';

export type Writing = {
  readonly server: Server;
  readonly tables: Tables;
  readonly logs: Logs;
  readonly settings: Settings;
  /** The names (`tx`) of the appends that this process has not answered yet. */
  readonly pending: Set<string>;
  readonly now: () => number;
  /** The newest time in the store that this process knows. */
  readonly lastAt: () => number;
};

/** A message of decided appends that is being published, with the settings that it holds. */
type Sent = { readonly going: readonly One[]; readonly hold: Hold };
type One = { readonly asked: Asked; readonly tx: string; answer?: Answer };

export async function appendAll(writing: Writing, log: LogKey, batch: readonly Asked[], withinMs: number): Promise<Batch> {
  const all: One[] = batch.map((asked) => ({ asked, tx: randomUUID() }));
  for (const { tx } of all) writing.pending.add(tx);
  const run = new Run(writing, log);
  await writing.logs
    .exclusive(log, (refresh, known) => {
      // For single notifications, the known view may be outdated, because the server decides whether a notification is new. A
      // retry reads the log first, to find the effects of the earlier try.
      let stale = known;
      return writing.server.insist({ withinMs }, async (deadline) => {
        const look: Look = (other) => (other === log ? refresh(run.onEffect) : writing.logs.fresh(other));
        let fresh = stale === undefined;
        let view = stale ?? (await look(log));
        stale = undefined;
        fault('append.begun');
        for (let from = 0; from < all.length;) {
          if (all[from]?.answer !== undefined) {
            from++;
            continue;
          }
          const to = from + partOf(all.slice(from));
          const part = all.slice(from, to);
          if (isQueue(part[0]?.asked)) fresh = (await run.queue(view, part, fresh)) && fresh;
          else if (fresh) await run.decide(view, part, look);
          if (part.every(({ answer }) => answer !== undefined)) continue;
          if (performance.now() > deadline) throw new Late('other writers always wrote first');
          view = await look(log);
          fresh = true;
        }
      });
    })
    .finally(() => {
      for (const { tx } of all) writing.pending.delete(tx);
    });
  return { answers: all.map(({ answer }) => answer as Answer), ...run.head() };
}

/** Whether the append is a single notification without conditions. Such appends of several processes do not conflict. */
const isQueue = (asked: Asked | undefined): boolean => {
  const [draft, ...others] = asked?.drafts ?? [];
  return (
    draft !== undefined && others.length === 0 && asked?.swaps.length === 0 && isType(draft.body, 'system_notification_queued')
  );
};

/** Returns how many appends from the first one on are of the same kind and can be written together. */
function partOf(all: readonly One[]): number {
  const [first] = all;
  const kind = isQueue(first?.asked);
  const other = all.findIndex(({ asked, answer }) => answer !== undefined || isQueue(asked) !== kind);
  return other === -1 ? all.length : other;
}

class Run {
  readonly #w: Writing;
  readonly #log: LogKey;
  readonly #effects = new Map<number, Effect | undefined>();
  #newest: { seq: number; at: number } | undefined;

  constructor(writing: Writing, log: LogKey) {
    this.#w = writing;
    this.#log = log;
  }

  readonly onEffect: OnEffect = (seq, effect) => void this.#effects.set(seq, effect);

  head(): Pick<Batch, 'head'> {
    return this.#newest === undefined ? {} : { head: this.#newest };
  }

  /**
   * Publishes each notification on the subject of its id, unless that subject was used before. Returns whether the view now has
   * all messages of the log up to these notifications.
   */
  async queue(view: View, part: readonly One[], fresh: boolean): Promise<boolean> {
    const subjects = this.#w.logs.subjects(this.#log);
    await this.#exists(view);
    const { at, now } = this.#stamp(view);
    const sending = part.flatMap((one) => {
      const [draft] = one.asked.drafts;
      const id = (draft?.body as { readonly id: string } | undefined)?.id ?? '';
      const seq = view.found.get(one.tx);
      if (seq !== undefined) return (this.#answerQueued(view, one, id, seq), []);
      // A view that is not fresh may have an older state of the item, which must not be the answer.
      if (fresh ? this.#answerKnown(view, one, id) : view.log.byId.has(id as never)) return [];
      return [{ one, id, text: bodyText({ tx: one.tx, at, now }, one.asked.drafts) }];
    });
    const sent = await Promise.all(
      sending.map(async ({ one, id, text }) => {
        const subject = subjects.queued(id);
        try {
          const message = { seq: await this.#w.server.publish(subject, text, 0), subject, text };
          return { one, id, message };
        } catch (error) {
          if (isBeaten(error)) {
            await this.#removeLeft(view, subject);
            return undefined;
          }
          if ((error as { code?: unknown }).code !== 'bad_argument') throw error;
          one.answer = { kind: 'failed', error };
          return undefined;
        }
      }),
    );
    fault('append.record_written');
    const found = sent.filter((one) => one !== undefined).toSorted((a, b) => a.message.seq - b.message.seq);
    let isWhole = true;
    for (const { one, message } of found) {
      if (message.seq <= view.seq) continue;
      // No other message can have a new id, so the answer does not need the earlier messages. These messages are read later.
      isWhole = one.asked.newIds !== true || message.seq === view.seq + 1;
      if (isWhole) await this.#w.logs.take(this.#log, view, message, this.onEffect);
      else this.#effects.set(message.seq, this.#effectOf(one, message.seq, { at, now }));
    }
    await this.#w.logs.finish(this.#log, view, this.onEffect);
    for (const { one, id, message } of found) this.#answerQueued(view, one, id, message.seq);
    return isWhole;
  }

  /** Computes the effect of a notification with a new id. Other messages of the log are not needed. */
  #effectOf({ asked: { drafts } }: One, seq: number, { at, now }: { readonly at: number; readonly now: number }): Effect {
    const place = { seq, at, ...clockBeside(at, now) };
    const bodies = drafts.map(({ body }) => body);
    const [record] = storedAs(place, this.#log, bodies) as [Stored];
    return { record, items: freshItems(place, bodies) };
  }

  /**
   * Deletes the message of a removed notification, if the process that removed the notification ended before it deleted the
   * message.
   */
  async #removeLeft(view: View, subject: string): Promise<void> {
    const left = await this.#w.server.last(this.#w.server.logs, subject);
    if (left !== undefined && view.isRemoved(left.seq)) await this.#w.server.remove(this.#w.server.logs, left.seq);
  }

  /**
   * Settles the appends against the view, and publishes them in one message, unless another process has published a decided
   * append first.
   */
  async decide(view: View, part: readonly One[], look: Look): Promise<void> {
    if (this.#sent !== undefined && (await this.#wasStored(view, this.#sent))) return;
    const keys = [...new Set(part.flatMap(({ asked }) => asked.swaps.map(({ key }) => key)))].toSorted();
    const rows = await this.#w.settings.rows(keys, look);
    const { at, now } = this.#stamp(view);
    const batch = part.map(({ asked }) => asked);
    const { kept, answers } = settleBatch(batch, { seq: view.seq + 1, at, now }, touched(view, batch), knownOf(rows));
    const refused = answers(this.#log);
    const going = part.filter(({ asked }) => kept.includes(asked));
    for (const [n, one] of part.entries()) {
      const answer = refused[n] as Answer;
      // The append may repeat an id of this batch, whose position is not known yet, so the append is settled again in the next
      // round.
      const waits = going.length > 0 && answer.kind === 'done' && answer.appended.kind === 'duplicate';
      if (!going.includes(one) && !waits) one.answer = answer;
    }
    const [first] = going;
    if (first === undefined) return;
    const to = new Map(going.flatMap(({ asked }) => asked.swaps.map(({ key, to: value }) => [key, value] as const)));
    const drafts = going.flatMap(({ asked }) => asked.drafts);
    const hold = await this.#hold(
      rows.filter(({ key }) => to.has(key)),
      to,
      first.tx,
    );
    if (hold === undefined) return;
    if (drafts.length === 0) {
      await this.#w.settings.finish(hold);
      for (const one of going) one.answer = nothing();
      return;
    }
    await this.#publish(
      view,
      { going, hold },
      bodyText({ tx: first.tx, at, now, ...(to.size > 0 ? { swaps: true } : {}) }, drafts),
    );
  }

  async #publish(view: View, sent: Sent, text: string): Promise<void> {
    await this.#exists(view);
    const subject = this.#w.logs.subjects(this.#log).decided;
    this.#sent = sent;
    let seq: number | undefined;
    try {
      if (performance.now() < sent.hold.until) seq = await this.#w.server.publish(subject, text, view.decided);
    } catch (error) {
      if (!isBeaten(error)) {
        if (error instanceof EarpieceError) await this.#w.settings.release(sent.hold);
        throw error;
      }
    }
    if (seq === undefined) {
      this.#sent = undefined;
      await this.#w.settings.release(sent.hold);
      await this.#correct(view);
      return;
    }
    fault('append.record_written');
    await this.#w.logs.take(this.#log, view, { seq, subject, text }, this.onEffect);
    await this.#w.logs.finish(this.#log, view, this.onEffect);
    await this.#wasStored(view, sent);
  }

  /** Answers the callers if the message is in the log and not void. If not, returns false. */
  async #wasStored(view: View, { going, hold }: Sent): Promise<boolean> {
    this.#sent = undefined;
    const seq = view.found.get(hold.tx);
    // A message is void if another process queued one of its ids first. The next round settles the append again and refuses it.
    if (seq === undefined || view.void.has(seq)) {
      await this.#w.settings.release(hold);
      view.found.delete(hold.tx);
      return false;
    }
    await this.#w.settings.finish(hold);
    const effects = (view.parts.get(seq) ?? []).flatMap((at) => this.#effects.get(at) ?? []);
    view.answered(hold.tx, seq);
    for (const one of going) one.answer = this.#appended(effects.splice(0, one.asked.drafts.length));
    return true;
  }

  /** The message that may be in the log, because the result of its publication is unknown. */
  #sent: Sent | undefined;

  async #hold(rows: Parameters<Settings['hold']>[0], to: Hold['to'], tx: string): Promise<Hold | undefined> {
    return this.#w.settings.hold(rows, to, { tx, log: this.#log });
  }

  /**
   * Corrects the view's last decided append: after removals, the last message of the subject may be older than the last message
   * in the view.
   */
  async #correct(view: View): Promise<void> {
    const last = await this.#w.server.last(this.#w.server.logs, this.#w.logs.subjects(this.#log).decided);
    view.decided = Math.min(view.decided, last?.seq ?? 0);
  }

  #answerQueued(view: View, one: One, id: string, seq: number): void {
    const effect = this.#effects.get(seq);
    view.answered(one.tx, seq);
    if (effect !== undefined) one.answer = this.#appended([effect]);
    else this.#answerKnown(view, one, id);
  }

  #answerKnown(view: View, one: One, id: string): boolean {
    const item = view.log.byId.get(id as never)?.[0]?.item;
    if (item === undefined) return false;
    one.answer = { kind: 'done', appended: { kind: 'duplicate', id: item.id, item } };
    return true;
  }

  #appended(effects: readonly Effect[]): Answer {
    const items = new Map<string, Item>();
    for (const effect of effects) for (const item of effect.items) putItem(items, item);
    const last = effects.at(-1)?.record;
    if (last !== undefined && last.seq > (this.#newest?.seq ?? 0)) this.#newest = { seq: last.seq, at: last.at };
    const appended: Appended = { kind: 'appended', records: effects.map(({ record }) => record), items: [...items.values()] };
    return { kind: 'done', appended };
  }

  #stamp(view: View): { readonly at: number; readonly now: number } {
    const now = this.#w.now();
    return { at: Math.max(now, view.lastAt, this.#w.lastAt()), now };
  }

  /** Adds a new log to the list of logs. */
  async #exists(view: View): Promise<void> {
    if (view.isListed || view.log.records.length > 0) return;
    await enterLog(this.#w.tables, this.#log);
    view.isListed = true;
  }
}

const nothing = (): Answer => ({ kind: 'done', appended: { kind: 'appended', records: [], items: [] } });

export const enterLog = (tables: Tables, log: LogKey): Promise<unknown> =>
  tables.change<{ log: LogKey }>(`log.${logTokens(log)}`, randomUUID(), (known) => (known === undefined ? { log } : KEEP));

/** Returns the items that the drafts touch, by `itemKey`. */
function touched(view: View, batch: readonly Asked[]): Map<string, Item> {
  const nobody = { made: new Map(), changed: new Map() };
  const items = batch
    .flatMap(({ drafts }) => drafts)
    .flatMap(({ body }) => cellsOf(view.log, touches(body), nobody))
    .map(({ item }) => item);
  return new Map(items.map((item) => [itemKey(item), item]));
}
