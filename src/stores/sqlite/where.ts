import type { SQLInputValue } from 'node:sqlite';

/** Conditions joined with AND; the empty text without any. */
export class Where {
  readonly values: SQLInputValue[] = [];
  #sql = '';

  and(condition: string, ...values: SQLInputValue[]): void {
    this.#sql += this.#sql === '' ? `WHERE ${condition}` : ` AND ${condition}`;
    this.values.push(...values);
  }

  get sql(): string {
    return this.#sql;
  }
}
