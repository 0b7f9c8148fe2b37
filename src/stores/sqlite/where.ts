import type { SQLInputValue } from 'node:sqlite';

/** Collects conditions and joins them with AND. Without conditions, the text is empty. */
export class Where {
  readonly values: SQLInputValue[] = [];
  #sql = '';

  and(condition: string, ...values: SQLInputValue[]): void {
    this.#sql += this.#sql === '' ? `WHERE ${condition}` : ` AND ${condition}`;
    this.values.push(...values);
  }

  copy(): Where {
    const copy = new Where();
    copy.#sql = this.#sql;
    copy.values.push(...this.values);
    return copy;
  }

  get sql(): string {
    return this.#sql;
  }
}
