/**
 * Stores the settings: values by name. An append that changes settings first holds their rows, is then stored in its log, and
 * then writes the new values. A process that finds a held row searches that log for the append. If the append is stored, the
 * process writes the new value. If the append is not stored, the process restores the old value, but only after the holder had
 * enough time to store the append.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { LogKey } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Swap } from '../../core/ports.ts';
import { type Known, staleKey } from '../settle-batch.ts';
import type { Logs } from './logs.ts';
import { token } from './names.ts';
import { KEEP, type Named, type Row, type Tables } from './tables.ts';
import type { View } from './view.ts';

/**
 * A row of a setting. `value` is absent if the setting is not set. `key` is stored too, because the subject may contain only a
 * digest of the key.
 */
export type Setting = { readonly key: string; readonly value?: Json; readonly held?: Held };
type Held = { readonly tx: string; readonly log: LogKey; readonly to?: Json };
type Found = Row<Setting> & { readonly key: string };

/** The rows that an append holds, with their new values. */
export type Hold = {
  readonly rows: readonly Found[];
  readonly to: ReadonlyMap<string, Json | undefined>;
  readonly tx: string;
  readonly until: number;
};

export type Look = (log: LogKey) => Promise<View>;

/**
 * The time after which a held row gets its old value back. The holder gives up earlier, because it stores its append within
 * `HOLD_MS` or not at all.
 */
const PATIENCE_MS = 10_000;
const HOLD_MS = 5_000;
const LOOK_EVERY_MS = 20;

export const settingSubject = (key: string): string => `setting.${token(key)}`;

export class Settings {
  readonly #tables: Tables;
  readonly #logs: Logs;

  constructor(tables: Tables, logs: Logs) {
    this.#tables = tables;
    this.#logs = logs;
  }

  async get(key: string): Promise<Json | undefined> {
    return (await this.#settled(key)).value?.value;
  }

  async set(key: string, value: Json | undefined, by: string): Promise<void> {
    await this.#settled(key);
    await this.#tables.change<Setting>(settingSubject(key), by, () => rowOf(key, value));
  }

  async swap({ key, from, to }: Swap, by: string): Promise<boolean> {
    for (;;) {
      const row = await this.#settled(key);
      let held = false;
      let swapped = true;
      await this.#tables.change<Setting>(settingSubject(key), by, (now) => {
        held = now?.held !== undefined;
        swapped = !held && staleKey(new Map([[key, textOf(now)]]), [{ key, from, to }]) === undefined;
        return swapped ? rowOf(key, to) : KEEP;
      });
      if (!held || row.value?.held !== undefined) return swapped;
    }
  }

  /** Returns the current rows of these keys, after every hold on them has ended. `look` brings a log up to date. */
  async rows(keys: readonly string[], look: Look): Promise<readonly Found[]> {
    return Promise.all(keys.map((key) => this.#settled(key, look)));
  }

  /** Holds the rows in their seen state. Returns undefined if another writer has changed one of these rows first. */
  async hold(
    rows: readonly Found[],
    to: ReadonlyMap<string, Json | undefined>,
    of: { readonly tx: string; readonly log: LogKey },
  ): Promise<Hold | undefined> {
    const held: Found[] = [];
    const until = performance.now() + HOLD_MS;
    // The rows are held in the order of their names, so that two appends never wait for each other.
    for (const row of rows) {
      const next = to.get(row.key);
      const value: Setting = { ...row.value, key: row.key, held: { ...of, ...(next === undefined ? {} : { to: next }) } };
      const seq = await this.#tables.put(settingSubject(row.key), value, row.seq, of.tx);
      if (seq === undefined) {
        await this.release({ rows: held });
        return undefined;
      }
      held.push({ ...row, seq });
    }
    return { rows: held, to, tx: of.tx, until };
  }

  /** Writes the new values to the held rows. */
  async finish({ rows, to }: Pick<Hold, 'rows' | 'to'>): Promise<void> {
    await Promise.all(rows.map(({ key, seq }) => this.#write(key, to.get(key), seq)));
  }

  /** Restores the old values of the held rows. */
  async release({ rows }: Pick<Hold, 'rows'>): Promise<void> {
    await Promise.all(rows.map(({ key, seq, value }) => this.#write(key, value?.value, seq)));
  }

  async all(): Promise<readonly Named<Setting>[]> {
    return this.#tables.scan<Setting>('setting.>');
  }

  async #settled(key: string, look: Look = (log) => this.#logs.fresh(log)): Promise<Found> {
    const started = performance.now();
    for (;;) {
      const row = await this.#tables.get<Setting>(settingSubject(key));
      const held = row.value?.held;
      if (held === undefined) return { ...row, key };
      if ((await look(held.log)).found.has(held.tx)) await this.#write(key, held.to, row.seq);
      else if (performance.now() - started > PATIENCE_MS) await this.#write(key, row.value?.value, row.seq);
      else await sleep(LOOK_EVERY_MS);
    }
  }

  async #write(key: string, value: Json | undefined, seen: number): Promise<void> {
    if (value === undefined) await this.#tables.drop(settingSubject(key), seen);
    else await this.#tables.put(settingSubject(key), rowOf(key, value), seen);
  }
}

const rowOf = (key: string, value: Json | undefined): Setting | undefined => (value === undefined ? undefined : { key, value });
const textOf = (row: Setting | undefined): string | undefined =>
  row?.value === undefined ? undefined : JSON.stringify(row.value);

export const knownOf = (rows: readonly Found[]): Known => new Map(rows.map(({ key, value }) => [key, textOf(value)]));
