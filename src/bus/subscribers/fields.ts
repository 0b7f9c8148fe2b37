/** The fields of a subscriber's file, each with its accepted values and its default. */
import { boolean, integer, oneOf, problem, text, texts, value, type Read, type Value } from '../../config/values.ts';
import { seen } from '../../config/problems.ts';
import { EVENT_LIMITS, SEVERITIES } from '../../core/event.ts';
import { parseKind } from '../../core/notification.ts';
import { INJECTION_POINTS, PRIORITIES } from '../subscriber.ts';

export const LIMITS = {
  /** The limit for a subscriber's file and for a template. */
  fileBytes: 65_536,
  idChars: 64,
  nameChars: 100,
  descriptionChars: 500,
  types: 100,
  sources: 100,
  expressionChars: 1_000,
} as const;

export const TEMPLATE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,200}\.toon\.j2$/;

type Field<T> = {
  readonly value: Value<T>;
  readonly required?: true | undefined;
  /** The default as `docs/subscribers.md` shows it. */
  readonly default?: string | undefined;
  readonly what: string;
};

const field = <T>(value: Value<T>, what: string, more: { required?: true; default?: string } = {}): Field<T> => ({
  value,
  what,
  ...more,
});

/** The strict form of semver.org: three numbers without leading zeros, then an optional pre-release and an optional build. */
const SEMVER = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z.-]+)?$/;

/** The fields that a dedupe key may use in addition to the payload. */
const WHOLE = ['type', 'source', 'severity', 'subject'];

export const FIELDS = {
  subscriber: {
    id: field(
      text(
        `lower-case letters, digits and "_", beginning with a letter, at most ${LIMITS.idChars} characters`,
        (id) => id.length <= LIMITS.idChars && /^[a-z][a-z0-9_]*$/.test(id),
      ),
      'the identifier; a file with the same id in a later folder replaces this file',
      { required: true },
    ),
    name: field(line(LIMITS.nameChars), 'the name shown to people', { required: true }),
    description: field(line(LIMITS.descriptionChars, 'may be empty'), 'the purpose, in one line', { default: '""' }),
    version: field(
      text('a version such as "1.0.0"', (version) => version.length <= 64 && SEMVER.test(version)),
      'the version of the file',
      { default: '"1.0.0"' },
    ),
  },
  events: {
    types: field(types(), 'exact types, or `prefix.*` for all types that begin with `prefix.`', { required: true }),
    severity_filter: field(oneOf(SEVERITIES), 'the lowest severity that matches', { default: '"info"' }),
    sources: field(sources(), 'only events of these sources match', { default: 'any' }),
  },
  batching: {
    window_ms: field(
      integer({ min: 0, max: 10_000 }),
      'the delay before an idle agent is woken, so that related events wake the agent once; 0: one line for each event',
      { default: '2000' },
    ),
    max_size: field(integer({ min: 1, max: 100 }), 'the maximum number of notifications in one line', { default: '10' }),
    dedupe_key: field(dedupeKey(), 'events with the same values of these parts become one notification with a count', {
      default: 'none',
    }),
    dedupe_window_ms: field(
      integer({ min: 0, max: 60_000 }),
      'a repetition that follows the first event within this time is held until the time ends; 0: no repetition is held',
      { default: '5000' },
    ),
  },
  output: {
    priority: field(
      oneOf(PRIORITIES),
      "critical: interrupts the agent; high, normal: before the next request to the model; low: at the end of the agent's cycle",
      { default: '"normal"' },
    ),
    inject_at: field(oneOf(INJECTION_POINTS), 'the moment of delivery', {
      default: '"immediate" for priority critical, "turn_end" for low, else "turn_start"',
    }),
    template: field(
      text('the name of a file in the same folder, such as "build.toon.j2": letters, digits, ".", "_" and "-"', (name) =>
        TEMPLATE_NAME.test(name),
      ),
      'the template file',
      { default: 'the generic view' },
    ),
    core: field(boolean(), "the subscriber cannot be disabled; not allowed in a project's folder", { default: 'false' }),
    kind: field(kind(), '`source.name` of the notification, for filters', { default: "the event's type" }),
    supersede: field(boolean(), 'the newest state of a key replaces the older states; needs a dedupe_key', { default: 'false' }),
  },
  withdraw: {
    types: field(types(), 'events that end a state: open notifications with the same dedupe_key are withdrawn', {
      default: 'none',
    }),
  },
  condition: {
    expression: field(
      expression(),
      'a minijinja expression over `event`, `payload`, `type`, `source`, `severity`; events match only if the expression is true',
      { default: 'always' },
    ),
  },
  // oxlint-disable-next-line typescript/no-explicit-any -- `Value` is invariant in T, and the tables hold values of every T
} as const satisfies Readonly<Record<string, Readonly<Record<string, Field<any>>>>>;

/** Accepts a text of one line for people. */
function line(max: number, empty?: 'may be empty'): Value<string> {
  const expects = `a text of ${empty ? 'at most' : '1 to'} ${max} characters on one line`;
  // oxlint-disable-next-line no-control-regex -- the text is shown on terminals and in logs
  const fine = (raw: string): boolean => raw.length <= max && !/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(raw);
  const { read, ...rest } = text(expects, fine);
  return { ...rest, read: (raw) => (empty && raw === '' ? value('') : read(raw)) };
}

function list(expects: string, max: number, check: (element: string) => string | undefined): Value<readonly string[]> {
  const each = texts(expects, check);
  return {
    ...each,
    read: (raw) => {
      const read = each.read(raw);
      if (read.kind === 'problems') return read;
      if (read.value.length === 0) return problem(`is an empty list; write ${expects}`);
      return read.value.length <= max ? read : problem(`has ${read.value.length} elements, at most ${max} are allowed`);
    },
  };
}

function types(): Value<readonly string[]> {
  return list('a list of event types such as ["build.failed", "deploy.*"]', LIMITS.types, wrongType);
}

function wrongType(type: string): string | undefined {
  if (type.length > EVENT_LIMITS.typeChars)
    return `${JSON.stringify(`${type.slice(0, 20)}…`)} has ${type.length} characters, at most ${EVENT_LIMITS.typeChars} are allowed`;
  if (type === '*') return '"*" alone would match every event; name a prefix such as "build.*"';
  const stem = type.endsWith('.*') ? type.slice(0, -2) : type;
  if (stem.includes('*')) return '"*" is allowed only at the end, after a dot, such as "build.*"';
  return /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(stem)
    ? undefined
    : 'a type is dotted words of letters, digits, "_" and "-", such as "build.failed"';
}

function sources(): Value<readonly string[]> {
  return list('a list of sources such as ["github"]', LIMITS.sources, (source) =>
    source.trim() === '' || source.length > EVENT_LIMITS.textChars
      ? `a source is a text of 1 to ${EVENT_LIMITS.textChars} characters`
      : undefined,
  );
}

function dedupeKey(): Value<readonly string[]> {
  const expects = `parts joined by ":", each one of ${WHOLE.join(', ')} or payload.<field>, such as "type:payload.tool_name"`;
  const part = (name: string): boolean => WHOLE.includes(name) || /^payload(?:\.[A-Za-z0-9_-]+)+$/.test(name);
  const read = (raw: unknown): Read<readonly string[]> => {
    if (typeof raw !== 'string' || raw.length > 500) return problem(`is ${seen(raw)}; write ${expects}`);
    // An empty text means no key, for compatibility with files of an earlier design.
    if (raw.trim() === '') return value([]);
    const parts = raw.split(':');
    const wrong = parts.find((name) => !part(name));
    if (wrong === undefined) return value(parts);
    const meant = /^(?:data|event\.data|event\.payload)\.(.+)$/.exec(wrong)?.[1] ?? (/^[a-z_]+$/.test(wrong) ? wrong : undefined);
    const way = meant !== undefined && part(`payload.${meant}`) ? `did you mean "payload.${meant}"? Write` : 'write';
    return problem(`is ${seen(raw)}, with the part ${seen(wrong)}; ${way} ${expects}`);
  };
  return { read, fromText: read, show: (parts) => parts.join(':'), expects };
}

function kind(): Value<string> {
  return text('"source.name" of letters, digits, "_" and "-", such as "build.failed"', (name) => {
    try {
      parseKind(name);
      return true;
    } catch {
      return false;
    }
  });
}

function expression(): Value<string> {
  return text(
    `an expression on one line of at most ${LIMITS.expressionChars} characters, such as "payload.size > 1000"`,
    (source) => source.length <= LIMITS.expressionChars && !/[\r\n\u2028\u2029]/.test(source),
  );
}
