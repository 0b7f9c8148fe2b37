/**
 * Keeps small tables in addition to the logs. A row is the last message of its subject. Except in `set`, a writer passes the
 * sequence of the row that it has read, so the write fails if another writer was first.
 */
import { randomUUID } from 'node:crypto';
import type { Server } from './server.ts';
import { isBeaten } from './trouble.ts';

/** A row of a table. `seq` is 0 if there is no row. A removed row may still have a sequence. */
export type Row<T> = { readonly seq: number; readonly value: T | undefined };
/** An existing row, with its subject relative to the tables. */
export type Named<T> = { readonly seq: number; readonly subject: string; readonly value: T };
type Body = { readonly by: string; readonly value?: unknown };

export class Tables {
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
  }

  async get<T>(subject: string): Promise<Row<T>> {
    const { row } = await this.#get<T>(subject);
    return row;
  }

  /** Returns all rows whose subjects match a pattern with wildcards. */
  async scan<T>(subjects: string): Promise<Named<T>[]> {
    const rows: Named<T>[] = [];
    for (const { seq, subject, text } of await this.#server.ranges.lasts(this.#server.tables, this.#named(subjects))) {
      const { value } = JSON.parse(text) as Body;
      if (value !== undefined) rows.push({ seq, subject: subject.slice(this.#prefix.length), value: value as T });
    }
    return rows;
  }

  /** Writes a row, even if another writer has changed it. */
  set(subject: string, value: unknown): Promise<number> {
    return this.#server.publish(this.#named(subject), JSON.stringify({ by: '', value } satisfies Body));
  }

  /**
   * Yields the values of the rows that `scan` would return, one page after the other. `attempt` retries the calls that read one
   * page.
   */
  async *pages<T>(subjects: string, attempt: <A>(work: () => Promise<A>) => Promise<A>): AsyncIterable<readonly T[]> {
    const upTo = await attempt(() => this.#server.lastSeq(this.#server.tables));
    for await (const page of this.#server.ranges.pages(this.#server.tables, this.#named(subjects), { after: 0, upTo, attempt }))
      yield page.flatMap(({ text }) => {
        const { value } = JSON.parse(text) as Body;
        return value === undefined ? [] : [value as T];
      });
  }

  /**
   * Writes a row, and returns its sequence, or undefined if another writer was first. With `by`, a retry can detect that its
   * earlier try was stored.
   */
  async put(subject: string, value: unknown, seen: number, by: string = randomUUID()): Promise<number | undefined> {
    try {
      return await this.#server.publish(this.#named(subject), JSON.stringify({ by, value } satisfies Body), seen);
    } catch (error) {
      if (isBeaten(error)) return undefined;
      throw error;
    }
  }

  /**
   * Changes one row and returns its value. Retries if another writer was first. `to` returns the new value, undefined to remove
   * the row, or `KEEP` to leave it unchanged.
   */
  async change<T>(
    subject: string,
    by: string,
    to: (value: T | undefined) => T | undefined | typeof KEEP,
  ): Promise<T | undefined> {
    for (;;) {
      const { row, by: writer } = await this.#get<T>(subject);
      // An earlier try of this call was stored, but its answer was lost.
      if (writer === by) return row.value;
      const value = to(row.value);
      if (value === KEEP || (value === undefined && row.value === undefined)) return row.value;
      const seq = await this.put(subject, value, row.seq, by);
      if (seq === undefined) continue;
      if (value === undefined) this.#forget(seq);
      return value;
    }
  }

  /** Removes a row if its sequence is still `seen`. If not, returns false. */
  async drop(subject: string, seen: number): Promise<boolean> {
    const seq = await this.put(subject, undefined, seen);
    if (seq !== undefined) this.#forget(seq);
    return seq !== undefined;
  }

  /**
   * Deletes the tombstone of a removed row. No caller waits for the deletion. If the deletion fails, the tombstone stays, and
   * readers ignore it.
   */
  #forget(seq: number): void {
    this.#server.remove(this.#server.tables, seq).catch(() => {});
  }

  async #get<T>(subject: string): Promise<{ readonly row: Row<T>; readonly by: string | undefined }> {
    const found = await this.#server.last(this.#server.tables, this.#named(subject));
    if (found === undefined) return { row: { seq: 0, value: undefined }, by: undefined };
    const { by, value } = JSON.parse(found.text) as Body;
    return { row: { seq: found.seq, value: value as T | undefined }, by };
  }

  get #prefix(): string {
    return `${this.#server.root}.table.`;
  }

  #named(subject: string): string {
    return `${this.#prefix}${subject}`;
  }
}

export const KEEP: unique symbol = Symbol('keep');
