/**
 * Reads and writes the two streams of a store for a move. A limit of one byte for a message refuses all writers, and the metadata
 * of the stream of the logs contains the mark.
 *
 * A position is a sequence of the stream. A new stream begins at the position of the first record. Messages on a separate subject
 * fill a gap between two records. These messages are then removed, and their sequences stay used.
 */
import type { StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { fault } from '../../core/faults.ts';
import { isType, type Stored } from '../../core/records.ts';
import type { Presence, Progress, Wait, Withheld } from '../../core/ports.ts';
import {
  type Cursor,
  type End,
  FIRST_PAGE,
  type Found,
  GROWTH,
  type Mark,
  PAGE,
  PATIENCE_MS,
  type RecordPage,
  type Row,
} from '../moving/port.ts';
import { Late } from '../insist.ts';
import { addressOf } from './address.ts';
import { enterLog } from './append.ts';
import { bodyOf, bodyText } from './body.ts';
import { type Binding, bindingRow, presenceRow, withheldRow } from './conversations.ts';
import { loadDriver } from './driver.ts';
import { inTurns } from './in-turns.ts';
import { logNames, verify } from './lists.ts';
import { type Cut, Logs } from './logs.ts';
import { frozen, marked, markOf, thawed } from './marks.ts';
import { token } from './names.ts';
import { Server } from './server.ts';
import { NO_STREAM } from './trouble.ts';
import { type Setting, Settings, settingSubject } from './settings.ts';
import { Tables } from './tables.ts';
import { isBeaten } from './trouble.ts';
import { View } from './view.ts';

const WAIT: Wait = { withinMs: PATIENCE_MS };
const LONG: Wait = { withinMs: 24 * 3_600_000 };
/** The maximum number of messages that are on their way to the server at the same time. */
const WINDOW = 512;
/** The number of filler messages that are removed at once. */
const GAP = 100_000;
/** The maximum number of attempts to finish the appends and changes of settings that other processes have left unfinished. */
const ROUNDS = 20;
const KINDS = ['presence', 'binding', 'withheld', 'setting'] as const;

export async function openNatsEnd(url: string): Promise<End> {
  const address = addressOf(url);
  return new NatsEnd(await Server.open(await loadDriver(), address, { moving: true }));
}

class NatsEnd implements End {
  readonly engine = 'nats';
  readonly name: string;
  readonly address: string;
  readonly #server: Server;
  readonly #tables: Tables;
  readonly #logs: Logs;
  readonly #settings: Settings;
  readonly #entered = new Set<LogKey>();
  #fillers = 0;

  constructor(server: Server) {
    this.#server = server;
    this.name = server.address.name;
    this.address = server.address.shown;
    this.#tables = new Tables(server);
    this.#logs = new Logs(server, this.#tables, new Set());
    this.#settings = new Settings(this.#tables, this.#logs);
  }

  find(): Promise<Found> {
    return this.#try(async () => {
      const info = await this.#info(this.#server.logs);
      if (info === undefined) return { kind: 'none' };
      const mark = markOf(info.config);
      if (mark !== undefined) return { kind: 'marked', mark };
      await this.#server.checkBoth(info, await this.#info(this.#server.tables));
      const { messages } = info.state;
      const holds = [...(messages === 0 ? [] : [`${messages.toLocaleString('en')} records`]), ...(await this.#rowsHeld())];
      return { kind: 'store', ...(holds.length === 0 ? {} : { holds: holds.join(', ') }) };
    });
  }

  async freeze(mark: Mark): Promise<void> {
    for (let round = 0; ; round++) {
      await this.#try(async () => {
        await this.#update(this.#server.logs, (config) => frozen(marked(config, mark)));
        await this.#update(this.#server.tables, frozen);
      });
      const left = await this.#insist(LONG, () => this.#unfinished());
      if (left.logs.length + left.settings.length === 0) return;
      if (round === ROUNDS)
        throw new EarpieceError(
          'store_unavailable',
          `${this.name} still has unfinished appends of other processes after ${ROUNDS} tries: end the programs that use the store, and try again`,
          { retryable: true },
        );
      await this.#try(() => this.#thaw({ unmarked: false }));
      for (const log of left.logs) await this.#try(() => this.#logs.reread(log));
      for (const key of left.settings) await this.#try(() => this.#settings.get(key));
    }
  }

  thaw(): Promise<void> {
    return this.#try(() => this.#thaw({ unmarked: true }));
  }

  begin(mark: Mark, first: number): Promise<void> {
    return this.#try(async () => {
      const { streams } = this.#server.manager;
      const { logs, tables } = this.#server.configs;
      const old = await this.#info(logs.name);
      for (const { name } of [logs, tables]) if ((await this.#info(name)) !== undefined) await streams.delete(name);
      const copies = { num_replicas: Math.max(this.#server.address.replicas, old?.config.num_replicas ?? 1) };
      await streams.add({ ...tables, ...copies });
      // The stream of the logs is made last, because its metadata contains the mark.
      await streams.add(marked({ ...logs, ...copies, ...(first > 1 ? { first_seq: first } : {}) }, mark));
    });
  }

  cursor(): Promise<Cursor | undefined> {
    return this.#try(async () => {
      const state = (await this.#info(this.#server.logs))?.state;
      return state === undefined || state.messages === 0 ? undefined : { seq: state.last_seq, copied: state.messages };
    });
  }

  async take({ records }: RecordPage): Promise<void> {
    const names = [...new Set(records.map(({ log }) => log))].filter((log) => !this.#entered.has(log));
    await this.#try(() => inTurns(names, (log) => enterLog(this.#tables, log)));
    for (const log of names) this.#entered.add(log);
    await this.#try(async () => {
      const last = await this.#server.lastSeq(this.#server.logs);
      await this.#publishAll(
        last,
        records.filter(({ seq }) => seq > last),
      );
    });
  }

  async takeRows(rows: readonly Row[]): Promise<void> {
    await this.#try(async () => {
      await inTurns(rows, (row) => this.#putRow(row));
    });
  }

  takeHead(head: number): Promise<void> {
    return this.#try(async () => {
      const last = await this.#server.lastSeq(this.#server.logs);
      if (last > 0) await this.#publishAll(last, [], head);
      await this.#removeFillers();
    });
  }

  release(): Promise<void> {
    return this.thaw();
  }

  discard(): Promise<void> {
    return this.#try(async () => {
      for (const name of [this.#server.tables, this.#server.logs])
        if ((await this.#info(name)) !== undefined) await this.#server.manager.streams.delete(name);
    });
  }

  async count(after?: Cursor): Promise<number> {
    const messages = await this.#try(async () => (await this.#info(this.#server.logs))?.state.messages ?? 0);
    return Math.max(0, messages - (after?.copied ?? 0));
  }

  bounds(): Promise<{ first: number; head: number }> {
    return this.#try(async () => {
      const state = (await this.#info(this.#server.logs))?.state;
      return { first: state?.first_seq ?? 0, head: state?.last_seq ?? 0 };
    });
  }

  /** Yields the records log by log, because only all messages of a log together show which messages are records. */
  async *records(after: Cursor | undefined): AsyncIterable<RecordPage> {
    let copied = after?.copied ?? 0;
    let page: Stored[] = [];
    let limit = FIRST_PAGE;
    const flush = (): RecordPage => {
      const { log, seq } = page.at(-1) as Stored;
      copied += page.length;
      const records = page;
      page = [];
      limit = Math.min(PAGE, GROWTH * limit);
      return { records, cursor: { log, seq, copied } };
    };
    for (const log of await this.#try(() => logNames({ tables: this.#tables }))) {
      if (after?.log !== undefined && log < after.log) continue;
      const from = log === after?.log ? after.seq : 0;
      for await (const records of this.#recordsOf(log)) {
        for (const record of records) if (record.seq > from) page.push(record);
        if (page.length >= limit) yield flush();
      }
    }
    if (page.length > 0) yield flush();
  }

  async *rows(): AsyncIterable<readonly Row[]> {
    for await (const page of this.#tables.pages<Presence>('presence.>', this.#attempt))
      yield page.map((presence) => ({ kind: 'presence', presence }));
    for await (const page of this.#tables.pages<Binding>('binding.>', this.#attempt))
      yield page.map(({ host: { machine, pid, startedAt }, log, conversation, at }) => ({
        kind: 'binding',
        host: { machine, pid, startedAt },
        log,
        conversation,
        at,
      }));
    for await (const page of this.#tables.pages<Withheld>('withheld.>', this.#attempt))
      yield page.map(({ log, conversation, id, at, until, tool, body }) => ({
        kind: 'withheld',
        held: { log, conversation, id, at, until, tool, body },
      }));
    for await (const page of this.#tables.pages<Setting>('setting.>', this.#attempt))
      yield page.flatMap(({ key, value }): Row[] => (value === undefined ? [] : [{ kind: 'setting', key, value }]));
    const { value } = await this.#try(() => this.#tables.get<string>('secret'));
    if (value !== undefined) yield [{ kind: 'secret', value }];
  }

  verify(options: Progress = {}): Promise<readonly string[]> {
    const all = { server: this.#server, tables: this.#tables, logs: this.#logs };
    return this.#insist(LONG, () => verify(all, options.onProgress));
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async *#recordsOf(log: LogKey): AsyncIterable<readonly Stored[]> {
    const { all } = this.#logs.subjects(log);
    const [cut, last] = await this.#try(() =>
      Promise.all([this.#tables.get<Cut>(this.#logs.cutOf(log)), this.#server.last(this.#server.logs, all)]),
    );
    if (last === undefined) return;
    const view = new View(log, {
      cut: cut.seq,
      removed: new Set(cut.value?.removed),
      upTo: cut.value?.upTo ?? 0,
      pending: new Set(),
    });
    for await (const messages of this.#server.ranges.pages(this.#server.logs, all, {
      after: 0,
      upTo: last.seq,
      attempt: this.#attempt,
    })) {
      yield messages.flatMap((message) => view.apply(message)?.record ?? []);
      // The view needs the items of the whole log, and not its records.
      view.log.records = [];
      view.log.loose.length = 0;
    }
  }

  /** Publishes each record at its position, and filler messages at the positions between the records and up to `head`. */
  async #publishAll(last: number, records: readonly Stored[], head = 0): Promise<void> {
    const sending = new Set<Promise<unknown>>();
    const failed: unknown[] = [];
    let at = last;
    const send = async (subject: string, text: string): Promise<void> => {
      const sent: Promise<unknown> = this.#server
        .publishAfter(at, subject, text)
        .catch((error: unknown) => failed.push(error))
        .finally(() => sending.delete(sent));
      at++;
      sending.add(sent);
      fault('move.written');
      if (sending.size >= WINDOW) await Promise.race(sending);
    };
    const fillTo = async (seq: number): Promise<void> => {
      while (at < seq && failed.length === 0) {
        await send(this.#fillerSubject, '');
        if (++this.#fillers < GAP) continue;
        await Promise.all(sending);
        await this.#removeFillers();
      }
    };
    for (const record of records) {
      await fillTo(record.seq - 1);
      if (failed.length > 0) break;
      await send(...this.#messageOf(record));
    }
    await fillTo(head);
    await Promise.all(sending);
    if (failed.length === 0) return;
    // If one message is lost, the server refuses all later messages (`isBeaten`). Any error of another kind is the cause.
    const cause = failed.find((error) => !isBeaten(error));
    throw cause ?? new Late(`another program writes into ${this.name}`);
  }

  #messageOf({ log, at, clock, body }: Stored): [string, string] {
    const subjects = this.#logs.subjects(log);
    const subject = isType(body, 'system_notification_queued') ? subjects.queued(body.id) : subjects.decided;
    return [subject, bodyText({ tx: '', at, now: clock ?? at }, [{ text: JSON.stringify(body) }])];
  }

  get #fillerSubject(): string {
    return `${this.#server.root}.log.gap`;
  }

  async #removeFillers(): Promise<void> {
    await this.#server.manager.streams.purge(this.#server.logs, { filter: this.#fillerSubject });
    this.#fillers = 0;
  }

  #putRow(row: Row): Promise<unknown> {
    switch (row.kind) {
      case 'presence': {
        const { presence } = row;
        return Promise.all([
          enterLog(this.#tables, presence.log),
          this.#tables.set(presenceRow(presence.log, presence.conversation), presence),
        ]);
      }
      case 'binding': {
        const { host, log, conversation, at } = row;
        return this.#tables.set(bindingRow(host), { host, log, conversation, at } satisfies Binding);
      }
      case 'withheld':
        return this.#tables.set(withheldRow(row.held), row.held);
      case 'setting':
        return this.#tables.set(settingSubject(row.key), { key: row.key, value: row.value } satisfies Setting);
      case 'secret':
        return this.#tables.set('secret', row.value);
    }
  }

  /** Finds logs whose newest append is unfinished, and settings whose change is unfinished. */
  async #unfinished(): Promise<{ readonly logs: readonly LogKey[]; readonly settings: readonly string[] }> {
    const names = await logNames({ tables: this.#tables });
    const open = await inTurns(names, async (log) => {
      const subjects = this.#logs.subjects(log);
      const last = await this.#server.last(this.#server.logs, subjects.decided);
      if (last === undefined) return false;
      const { drafts } = bodyOf(last.text);
      if (drafts.length <= 1) return false;
      const { value } = await this.#tables.get<Cut>(this.#logs.cutOf(log));
      if (last.seq <= (value?.upTo ?? 0)) return false;
      const rest = await Promise.all(
        drafts.slice(1).map((_, n) => this.#server.last(this.#server.logs, subjects.rest(last.seq, n + 1))),
      );
      return rest.includes(undefined);
    });
    const settings: string[] = [];
    for await (const page of this.#tables.pages<Setting>('setting.>', this.#attempt))
      for (const { key, held } of page) if (held !== undefined) settings.push(key);
    return { logs: names.filter((_, n) => open[n]), settings };
  }

  async #rowsHeld(): Promise<string[]> {
    const held: string[] = [];
    for (const kind of KINDS) {
      const filter = `${this.#server.root}.table.${token(kind)}.>`;
      const info = await this.#server.info(this.#server.tables, filter).catch(missing);
      const count = Object.keys(info?.state.subjects ?? {}).length;
      if (count > 0) held.push(`${count.toLocaleString('en')} rows of ${kind}`);
    }
    return held;
  }

  async #thaw(how: { readonly unmarked: boolean }): Promise<void> {
    await this.#update(this.#server.tables, (config) => thawed(config, how));
    await this.#update(this.#server.logs, (config) => thawed(config, how));
  }

  async #update(name: string, to: (config: StreamConfig) => StreamConfig): Promise<void> {
    const info = await this.#info(name);
    if (info !== undefined) await this.#server.manager.streams.update(name, to(info.config));
  }

  async #info(name: string): Promise<StreamInfo | undefined> {
    return (await this.#server.info(name).catch(missing)) ?? undefined;
  }

  readonly #attempt = <T>(work: () => Promise<T>): Promise<T> => this.#try(work);

  #try<T>(work: () => Promise<T>): Promise<T> {
    return this.#insist(WAIT, work);
  }

  #insist<T>(wait: Wait, work: () => Promise<T>): Promise<T> {
    return this.#server.insist(wait, work);
  }
}

function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code !== NO_STREAM) throw error;
}
