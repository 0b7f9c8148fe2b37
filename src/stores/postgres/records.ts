import type { LogKey } from '../../core/address.ts';
import type { ReadQuery } from '../../core/ports.ts';
import type { Draft, Stored } from '../../core/records.ts';
import type { Query } from './database.ts';
import { toColumn } from './text.ts';

type Row = {
  readonly seq: number;
  readonly log: LogKey;
  readonly at: number;
  readonly clock: number | null;
  readonly body: string;
};

/**
 * Makes the condition for the logs of a project. These logs are adjacent in the index: their range ends at "0", the character
 * after "/". `value`: the number of the parameter with the project. If this parameter is NULL, each log matches.
 */
export const inProject = (value: number, log = 'log'): string =>
  `($${value}::text IS NULL OR (${log} > $${value} || '/' AND ${log} < $${value} || '0'))`;

export async function readRecords(query: Query, wanted: ReadQuery): Promise<Stored[]> {
  const { log, project, after = 0, upTo, limit = 1_000, conversation, types, newestFirst, seqs } = wanted;
  const conditions = ['seq > $1'];
  const values: unknown[] = [after];
  const and = (condition: (value: number) => string, value: unknown): void => {
    if (value === undefined) return;
    values.push(value);
    conditions.push(condition(values.length));
  };
  and((n) => `log = $${n}`, log);
  and((n) => inProject(n), project);
  and((n) => `seq <= $${n}`, upTo);
  and((n) => `conversation = $${n}`, conversation === undefined ? undefined : toColumn(conversation));
  and((n) => `type = ANY($${n})`, types?.map(toColumn));
  and((n) => `seq = ANY($${n})`, seqs);
  values.push(Number.isFinite(limit) ? limit : null);
  const rows = await query<Row>(
    `SELECT seq, log, at, clock, body FROM @records WHERE ${conditions.join(' AND ')}
     ORDER BY seq ${newestFirst ? 'DESC' : 'ASC'} LIMIT $${values.length}`,
    ...values,
  );
  return rows.map(storedOf);
}

export const storedOf = ({ seq, log, at, clock, body }: Row): Stored => ({
  seq,
  log,
  at,
  ...(clock === null ? {} : { clock }),
  body: JSON.parse(body) as Draft,
});

/** Reads the bodies of the records at these positions. Without `log`, the records may be of any log. */
export async function bodiesOf(
  query: Query,
  log: LogKey | undefined,
  seqs: readonly number[],
): Promise<{ readonly seq: number; readonly body: Draft }[]> {
  if (seqs.length === 0) return [];
  const rows = await query<{ seq: number; body: string }>(
    `SELECT seq, body FROM @records WHERE seq = ANY($1) ${log === undefined ? '' : 'AND log = $2'} ORDER BY seq`,
    seqs,
    ...(log === undefined ? [] : [log]),
  );
  return rows.map(({ seq, body }) => ({ seq, body: JSON.parse(body) as Draft }));
}
