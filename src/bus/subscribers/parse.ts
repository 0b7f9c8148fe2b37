/** Parses a subscriber's file. Returns the subscriber and all problems, each with its place. */
import { pathKey, scanToml, type Place } from '../../config/positions.ts';
import { seen, type Position } from '../../config/problems.ts';
import { isTable, unknownKey, type Table } from '../../config/servers.ts';
import { byPlace, readToml } from '../../config/toml.ts';
import type { Value } from '../../config/values.ts';
import { defined } from '../../core/defined.ts';
import { knownTypeNear } from '../event-types.ts';
import type { FolderName, InjectAt, Priority, Subscriber, SubscriberProblem, Template } from '../subscriber.ts';
import { FIELDS, LIMITS } from './fields.ts';

/** The result of the search for a template's file in the subscriber's folder. */
export type TemplateFound =
  | { readonly kind: 'template'; readonly template: Template }
  /** The file does not exist. The generic view then renders the line. */
  | { readonly kind: 'missing' }
  | { readonly kind: 'refused'; readonly why: string };

export type ParseOptions = {
  /** The name of the file, as problems show it. */
  readonly file: string;
  readonly folder: FolderName;
  readonly template: (name: string) => TemplateFound;
};

/** The subscriber and the problems of a file. Without `subscriber`, at least one problem is an error. */
export type Parsed = {
  readonly subscriber?: Subscriber;
  readonly problems: readonly SubscriberProblem[];
  /** The positions of fields that other files or folders can override or contradict. */
  readonly at: Readonly<Record<'id' | 'types' | 'core' | 'template' | 'condition', Position>>;
  /** The file's own value of `core`, if it has one. */
  readonly core?: boolean;
};

/** Parses a subscriber's file. Never throws. */
export function parseSubscriber(text: string, options: ParseOptions): Parsed {
  const { file } = options;
  const size = Buffer.byteLength(text);
  if (size > LIMITS.fileBytes)
    return refused(file, `has ${size} bytes, but at most ${LIMITS.fileBytes} are allowed; shorten the file`);
  const toml = readToml(text, file);
  if (toml.kind === 'problem') return { problems: [{ ...toml.problem, file, severity: 'error' }], at: NOWHERE };

  const walk: Walk = { file, places: scanToml(text), problems: [] };
  const said = readFields(toml.table, walk);
  checkTogether(said, walk);
  const template = findTemplate(said, options, walk);
  checkTypes(said, walk);
  const problems = walk.problems.sort(byPlace);
  const at = {
    id: placeOf(walk, ['subscriber', 'id']).value,
    types: placeOf(walk, ['events', 'types']).value,
    core: placeOf(walk, ['output', 'core']).value,
    template: placeOf(walk, ['output', 'template']).value,
    condition: placeOf(walk, ['condition', 'expression']).value,
  };
  if (problems.some(({ severity }) => severity === 'error')) return { problems, at };
  const core = said.output?.core;
  return { subscriber: complete(said, template, options), problems, at, ...defined({ core }) };
}

const TOP: Position = { line: 1, column: 1 };
export const NOWHERE: Parsed['at'] = { id: TOP, types: TOP, core: TOP, template: TOP, condition: TOP };

type Walk = {
  readonly file: string;
  readonly places: ReadonlyMap<string, Place>;
  readonly problems: SubscriberProblem[];
};

type Fields = typeof FIELDS;
type Said = {
  readonly [T in keyof Fields]?: {
    readonly [F in keyof Fields[T]]?: Fields[T][F] extends { readonly value: Value<infer V> } ? V : never;
  };
};

const TABLES: Readonly<Record<string, Readonly<Record<string, { readonly value: Value<unknown>; readonly required?: true }>>>> =
  FIELDS as never;

function readFields(root: Table, walk: Walk): Said {
  const said: Record<string, Record<string, unknown>> = {};
  for (const [name, raw] of Object.entries(root)) {
    const fields = Object.hasOwn(TABLES, name) ? TABLES[name] : undefined;
    if (fields === undefined) complain(walk, [name], 'key', unknownTable(name));
    else if (!isTable(raw))
      complain(
        walk,
        [name],
        'value',
        `is ${seen(raw)}, but must be a table: write [${name}] with ${Object.keys(fields).join(', ')}`,
      );
    else said[name] = readTable(name, raw, fields, walk);
  }
  for (const [name, fields] of Object.entries(TABLES))
    for (const [key, { required, value }] of Object.entries(fields))
      if (required && !isSaid(root, name, key)) {
        const where = isTable(root[name]) ? [name] : [];
        complain(walk, where, 'key', `is missing; write ${value.expects}`, `${name}.${key}`);
      }
  return said;
}

function readTable(name: string, raw: Table, fields: (typeof TABLES)[string], walk: Walk): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(raw)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (field === undefined) {
      complain(walk, [name, key], 'key', unknownField(name, key));
      continue;
    }
    const got = field.value.read(inner);
    if (got.kind === 'value') read[key] = got.value;
    else for (const { text, at = [] } of got.problems) complain(walk, [name, key, ...at], 'value', text, `${name}.${key}`);
  }
  return read;
}

const isSaid = (root: Table, name: string, key: string): boolean => {
  const table = root[name];
  return isTable(table) && Object.hasOwn(table, key);
};

/** Describes the problem of an unknown table, or of a field before the first header. */
function unknownTable(name: string): string {
  const home = Object.entries(TABLES).find(([, fields]) => Object.hasOwn(fields, name))?.[0];
  return home === undefined ? unknownKey(name, Object.keys(TABLES)) : `is unknown here; ${name} belongs in [${home}]`;
}

function unknownField(table: string, key: string): string {
  const here = Object.keys(TABLES[table] ?? {});
  const plain = unknownKey(key, here);
  if (plain.includes('did you mean')) return plain;
  const home = Object.entries(TABLES).find(([, fields]) => Object.hasOwn(fields, key))?.[0];
  return home === undefined ? plain : `is unknown here; ${key} belongs in [${home}]`;
}

/** Checks rules that concern several fields. */
function checkTogether(said: Said, walk: Walk): void {
  const key = keyOf(said);
  if (said.output?.supersede === true && key === undefined)
    complain(
      walk,
      ['output', 'supersede'],
      'key',
      'needs [batching] dedupe_key, because the newest state of a key replaces older ones',
    );
  if (said.withdraw === undefined) return;
  if (said.withdraw.types === undefined) {
    if (!walk.problems.some(({ message }) => message.startsWith('withdraw.')))
      complain(walk, ['withdraw'], 'key', 'is empty; write types = ["build.fixed"], or remove the table');
  } else if (key === undefined)
    complain(
      walk,
      ['withdraw'],
      'key',
      'needs [batching] dedupe_key, because this table withdraws open notifications with the same key',
    );
  else if (key.includes('type'))
    complain(
      walk,
      ['batching', 'dedupe_key'],
      'value',
      `is ${seen(key.join(':'))}; remove "type", because [withdraw] needs the same key for events of different types`,
    );
}

/** Returns the parts of the dedupe key. Undefined for an empty key. */
function keyOf({ batching }: Said): readonly string[] | undefined {
  return batching?.dedupe_key?.length === 0 ? undefined : batching?.dedupe_key;
}

function findTemplate(said: Said, { template }: ParseOptions, walk: Walk): Template | undefined {
  const name = said.output?.template;
  if (name === undefined) return undefined;
  const found = template(name);
  if (found.kind === 'template') return found.template;
  const path = ['output', 'template'];
  if (found.kind === 'refused') complain(walk, path, 'value', `is ${seen(name)}, which ${found.why}`);
  else warn(walk, path, `is ${seen(name)}, which is not in this folder, so the generic view is used; add the file`);
  return undefined;
}

/** Warns about types that look mistyped. Any type is allowed. */
function checkTypes(said: Said, walk: Walk): void {
  for (const table of ['events', 'withdraw'] as const)
    for (const [i, type] of (said[table]?.types ?? []).entries()) {
      const near = knownTypeNear(type);
      if (near !== undefined)
        warn(
          walk,
          [table, 'types', i],
          `${table}.types has ${seen(type)}, which no Earpiece source emits; did you mean "${near}"?`,
          true,
        );
    }
}

function complete(said: Said, template: Template | undefined, { file, folder }: ParseOptions): Subscriber {
  const { subscriber, events, batching, output, withdraw, condition } = said;
  const priority = output?.priority ?? 'normal';
  const dedupeKey = keyOf(said);
  return {
    id: subscriber?.id ?? '',
    name: subscriber?.name ?? '',
    description: subscriber?.description ?? '',
    version: subscriber?.version ?? '1.0.0',
    events: {
      types: events?.types ?? [],
      severityFilter: events?.severity_filter ?? 'info',
      ...(events?.sources === undefined ? {} : { sources: events.sources }),
    },
    batching: {
      windowMs: batching?.window_ms ?? 2_000,
      maxSize: batching?.max_size ?? 10,
      ...defined({ dedupeKey }),
      dedupeWindowMs: batching?.dedupe_window_ms ?? 5_000,
    },
    output: {
      priority,
      injectAt: output?.inject_at ?? DEFAULT_MOMENT[priority],
      ...defined({ template }),
      core: output?.core ?? false,
      ...(output?.kind === undefined ? {} : { kind: output.kind }),
      supersede: output?.supersede ?? false,
    },
    ...(withdraw?.types === undefined ? {} : { withdraw: { types: withdraw.types } }),
    ...(condition?.expression === undefined ? {} : { condition: { expression: condition.expression } }),
    from: { folder, file },
  };
}

const DEFAULT_MOMENT: Readonly<Record<Priority, InjectAt>> = {
  critical: 'immediate',
  high: 'turn_start',
  normal: 'turn_start',
  low: 'turn_end',
};

const refused = (file: string, message: string): Parsed => ({ problems: [{ file, severity: 'error', message }], at: NOWHERE });

const placeOf = (walk: Walk, path: readonly (string | number)[]): Place => {
  for (let at = path; at.length > 0; at = at.slice(0, -1)) {
    const place = walk.places.get(pathKey(at));
    if (place !== undefined) return place;
  }
  return { key: TOP, value: TOP };
};

function complain(
  walk: Walk,
  path: readonly (string | number)[],
  about: 'key' | 'value',
  text: string,
  name: string = path.join('.'),
): void {
  walk.problems.push({ file: walk.file, ...placeOf(walk, path)[about], severity: 'error', message: `${name} ${text}` });
}

function warn(walk: Walk, path: readonly (string | number)[], text: string, whole = false): void {
  const message = whole ? text : `${path.join('.')} ${text}`;
  walk.problems.push({ file: walk.file, ...placeOf(walk, path).value, severity: 'warning', message });
}
