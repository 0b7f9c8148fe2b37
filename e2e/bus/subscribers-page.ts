/** Makes the tables of `docs/subscribers.md` from the code and the shipped files. */
import { EVENT_TYPES, type EventType } from '../../src/bus/event-types.ts';
import { matchesType } from '../../src/bus/matching.ts';
import type { Subscriber, SubscriberSet } from '../../src/bus/subscriber.ts';
import { FIELDS } from '../../src/bus/subscribers/fields.ts';

/** Returns the page with the right content in each part between `<!-- made: name -->` and `<!-- made -->`. */
export function withTables(page: string, set: SubscriberSet): string {
  const made: Readonly<Record<string, string>> = { fields: fields(), shipped: shipped(set), types: types(set) };
  return page.replaceAll(/(<!-- made: (\w+) -->\n)[^]*?(<!-- made -->)/gu, (all, head: string, name: string, end: string) =>
    made[name] === undefined ? all : `${head}\n${made[name]}\n\n${end}`,
  );
}

type AnyField = {
  readonly value: { readonly expects: string };
  readonly required?: true | undefined;
  readonly default?: string | undefined;
  readonly what: string;
};

function fields(): string {
  return Object.entries(FIELDS as Readonly<Record<string, Readonly<Record<string, AnyField>>>>)
    .flatMap(([table, all]) => [
      `**[${table}]**`,
      '',
      '| field | meaning | value | default |',
      '|---|---|---|---|',
      ...Object.entries(all).map(
        ([name, field]) =>
          `| \`${name}\` | ${cell(field.what)} | ${cell(field.value.expects)} | ${field.required ? '**required**' : cell(field.default ?? '')} |`,
      ),
      '',
    ])
    .join('\n')
    .trimEnd();
}

function shipped({ subscribers }: SubscriberSet): string {
  return [
    '| id | does | events | priority, moment | window, max_size, key, dedupe window | template |',
    '|---|---|---|---|---|---|',
    ...subscribers.map(
      (subscriber) =>
        `| \`${subscriber.id}\`${subscriber.output.core ? ' (core)' : ''} | ${cell(subscriber.description)} | ${hears(subscriber)} | ${rides(subscriber)} | ${batches(subscriber)} | ${template(subscriber)} |`,
    ),
  ].join('\n');
}

const hears = ({ events, withdraw, condition }: Subscriber): string =>
  [
    `${events.types.map((type) => `\`${type}\``).join(', ')} from ${events.severityFilter}`,
    ...(condition ? [`where \`${condition.expression}\``] : []),
    ...(withdraw ? [`withdrawn by ${withdraw.types.map((type) => `\`${type}\``).join(', ')}`] : []),
  ].join('; ');

const rides = ({ output }: Subscriber): string =>
  [
    output.priority,
    output.injectAt,
    ...(output.supersede ? ['supersedes'] : []),
    ...(output.kind ? [`kind \`${output.kind}\``] : []),
  ].join(', ');

const batches = ({ batching: b }: Subscriber): string =>
  `${b.windowMs} ms, ${b.maxSize}, ${b.dedupeKey ? `\`${b.dedupeKey.join(':')}\`` : 'none'}, ${b.dedupeWindowMs} ms`;

const template = ({ output }: Subscriber): string =>
  output.template ? `[${output.template.name.replace('.toon.j2', '')}](../subscribers/${output.template.name})` : 'none';

function types({ subscribers }: SubscriberSet): string {
  const told = (type: string): string =>
    subscribers
      .flatMap(({ id, events, withdraw }) => [
        ...(events.types.some((pattern) => pattern === type || matchesType(pattern, type)) ? [`\`${id}\``] : []),
        ...(withdraw?.types.includes(type) ? [`withdraws \`${id}\``] : []),
      ])
      .join(', ') || 'nobody';
  return [
    '| type | severity | when | payload | heard by |',
    '|---|---|---|---|---|',
    ...Object.entries(EVENT_TYPES as Readonly<Record<string, EventType>>).map(
      ([type, { severity, payload, what }]) =>
        `| \`${type}\` | ${severity} | ${cell(what)} | ${cell(payload.join(', '))} | ${told(type)} |`,
    ),
  ].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
