/** Compares the objects in the schema with the objects that the migrations create. */
import { STEPS } from './migrations.ts';

/** A missing object, such as `table settings` or `primary key of items`. */
export type Missing = { readonly kind: string; readonly name: string };
type Ask = (text: string, ...values: readonly unknown[]) => Promise<readonly Missing[]>;

function expected(): readonly Missing[] {
  const sql = STEPS.join('\n');
  const named = (kind: string, pattern: RegExp): Missing[] => [...sql.matchAll(pattern)].map(([, name = '']) => ({ kind, name }));
  const dropped = new Set(named('table', /DROP TABLE @([a-z]+)/gu).map(({ name }) => name));
  const tables = ['meta', ...named('table', /CREATE TABLE @([a-z]+)/gu).map(({ name }) => name)].filter(
    (name) => !dropped.has(name),
  );
  return [
    ...tables.map((name) => ({ kind: 'table', name })),
    // Each table has a primary key.
    ...tables.map((name) => ({ kind: 'primary key of', name })),
    ...named('sequence', /CREATE SEQUENCE @([a-z]+)/gu),
    ...named('function', /CREATE FUNCTION @([a-z]+)/gu),
    ...named('index', /CREATE INDEX ([a-z_]+)/gu),
  ];
}

/** Returns the tables, primary keys, sequences, functions and indexes that the schema lacks. An invalid index counts as missing. */
export async function missingObjects(ask: Ask, schema: string): Promise<readonly Missing[]> {
  const all = expected();
  const gone = await ask(
    `SELECT w.kind, w.name FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS w(kind, name, nth)
     WHERE NOT EXISTS (
       SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = c.oid
       WHERE n.nspname = $1 AND c.relname = w.name AND CASE w.kind
         WHEN 'table' THEN c.relkind IN ('r', 'p')
         WHEN 'sequence' THEN c.relkind = 'S'
         WHEN 'index' THEN c.relkind IN ('i', 'I') AND i.indisvalid
         WHEN 'primary key of' THEN EXISTS (SELECT 1 FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')
         ELSE false END)
       AND NOT (w.kind = 'function' AND EXISTS (
         SELECT 1 FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
         WHERE n.nspname = $1 AND p.proname = w.name))
     ORDER BY w.nth`,
    schema,
    all.map(({ kind }) => kind),
    all.map(({ name }) => name),
  );
  // The list names a missing table once, without its primary key.
  const tables = new Set(gone.flatMap(({ kind, name }) => (kind === 'table' ? [name] : [])));
  return gone.filter(({ kind, name }) => kind !== 'primary key of' || !tables.has(name));
}

export const isMissingTable = ({ kind }: Missing): boolean => kind === 'table';
export const listOf = (gone: readonly Missing[]): string => gone.map(({ kind, name }) => `the ${kind} ${name}`).join(', ');
