/**
 * `node scripts/wire.ts` checks that the types in `src/wire/types/` match the schemas of the HTTP API. `--update` writes the
 * types.
 *
 * The types are generated from the schemas. TypeScript could infer these types, but inferred types have no comments in the
 * declarations of the package, and a client's declarations would need zod.
 */
import '../src/node-version.ts';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { z } from 'zod';
import { ACTIONS, LEVELS } from '../src/core/notification.ts';
import { ALL_RECEIPTS } from '../src/core/receipts.ts';
import { CONTACT_POINTS } from '../src/core/records.ts';
import { TASK_PRIORITIES, TASK_STATUSES } from '../src/core/task.ts';
import * as access from '../src/wire/schemas/access.ts';
import * as agents from '../src/wire/schemas/agents.ts';
import * as base from '../src/wire/schemas/base.ts';
import * as events from '../src/wire/schemas/events.ts';
import * as notifications from '../src/wire/schemas/notifications.ts';
import * as settings from '../src/wire/schemas/settings.ts';
import * as tasks from '../src/wire/schemas/tasks.ts';
import { FORCES, TOKEN_KINDS } from '../src/wire/words.ts';

const FOLDER = join(import.meta.dirname, '../src/wire/types');

type Row = readonly [name: string, schema: z.ZodType, about?: string];

/** The generated types, by the file of their schemas. */
const TYPES: Readonly<Record<string, readonly Row[]>> = {
  base: [
    [
      'Problem',
      base.problem,
      'An error as RFC 9457 defines it. `code` is for programs: an `ErrorCode`, or a code of the server.',
    ],
    ['Counts', base.counts],
  ],
  access: [
    ['TokenInfo', access.token],
    ['CreatedToken', access.createdToken],
    [
      'TokenRequest',
      access.tokenInput,
      'A request for a token. An admin token is for every project. Each other token needs `project`, and an agent token also `agent`. Without `conversation`, an agent token is for all conversations of the agent. Without `expiresInMs`, the token does not expire.',
    ],
    ['ShellInfo', access.shell],
    ['SessionReply', access.session],
    ['Health', access.health],
  ],
  agents: [
    [
      'Doing',
      agents.doing,
      '`nothing`: the agent is idle, or its state is unknown. `what` is the name of the running tool or, with `nothing`, of the last called tool; null if none is known.',
    ],
    ['ConversationSummary', agents.conversation],
    ['Held', agents.held],
    ['AgentSummary', agents.agent],
    ['RecordsPage', agents.recordsPage],
    ['Fork', agents.fork],
    ['ForksReply', agents.forks],
    ['Hit', agents.hit, 'One match of a search.'],
    ['SearchPage', agents.searchPage],
  ],
  events: [
    ['EmittedReply', events.emitted],
    [
      'Delivery',
      events.delivery,
      'The times from queue to delivery: 50 % took at most `p50Ms`, and 95 % at most `p95Ms`. Null if no notification was delivered.',
    ],
    ['ActivityReply', events.activity],
  ],
  notifications: [
    ['NotificationView', notifications.notification],
    ['NotificationsPage', notifications.notificationsPage],
    ['Sent', notifications.sent],
    ['StoryItem', notifications.storyItem],
    ['Story', notifications.story, 'The history of a notification and its reasons, for each audience.'],
    ['QueuedReply', notifications.queued],
    ['Effect', notifications.effect],
    ['InterruptReply', notifications.interrupted],
    ['LiftedPause', notifications.lifted],
    ['ResumeReply', notifications.resumed, 'The lifted pauses. Empty if nothing was paused.'],
    ['WithdrawReply', notifications.withdrawn],
    ['ReceiptReply', notifications.receipt],
  ],
  settings: [
    ['SettingChange', settings.settingChange],
    ['SettingReply', settings.setting],
    ['SettingsReply', settings.settings],
    ['SubscriberItem', settings.subscriber, 'A subscriber in a list.'],
    ['SubscribersReply', settings.subscribers],
    [
      'SubscriberTestReply',
      settings.subscriberTest,
      'The text for a sample event. If the request names an agent, also the test notification for that agent.',
    ],
    ['MuteView', settings.muted, 'A kind that a person silenced for an agent: `*`, `source`, `source.*` or `source.name`.'],
    ['MutesReply', settings.mutes],
  ],
  tasks: [['TaskView', tasks.task, 'A task, with its last execution.']],
};

/** Types of other files that replace the types of these schemas. */
const ELSEWHERE: readonly (readonly [file: string, name: string, what: z.ZodType | readonly string[]])[] = [
  ['../../core/cause.ts', 'EndCause', notifications.endCause],
  ['../../core/json.ts', 'Json', base.json],
  ['../../core/notification.ts', 'Action', ACTIONS],
  ['../../core/notification.ts', 'Level', LEVELS],
  ['../../core/plan.ts', 'Decision', notifications.decision],
  ['../../core/receipts.ts', 'Receipt', ALL_RECEIPTS],
  ['../../core/records.ts', 'ContactPoint', CONTACT_POINTS],
  ['../../core/records.ts', 'Stored', agents.record],
  ['../../core/task.ts', 'TaskExecution', tasks.execution],
  ['../../core/task.ts', 'TaskPriority', TASK_PRIORITIES],
  ['../../core/task.ts', 'TaskStatus', TASK_STATUSES],
  ['../../core/verdict/kinds.ts', 'Verdict', notifications.verdict],
  ['../words.ts', 'Force', FORCES],
  ['../words.ts', 'TokenKind', TOKEN_KINDS],
];

/** Returns the texts of the generated files, by name. */
export const wireTypes = (): ReadonlyMap<string, string> =>
  new Map(Object.entries(TYPES).map(([file, rows]) => [`${file}.ts`, fileText(file, rows)]));

/** Returns the names of generated files that do not match the schemas. */
export const outdated = (): readonly string[] =>
  [...wireTypes()].flatMap(([file, text]) => (read(join(FOLDER, file)) === text ? [] : [file]));

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function fileText(file: string, rows: readonly Row[]): string {
  const types = rows
    .map(([name, schema, about]) => `\n${comment(about)}export type ${name} = ${objectText(schema, '')};\n`)
    .join('');
  const others = Object.entries(TYPES).filter(([other]) => other !== file);
  const names = [
    ...ELSEWHERE.map(([from, name]) => [from, name] as const),
    ...others.flatMap(([other, all]) => all.map(([name]) => [`./${other}.ts`, name] as const)),
  ].filter(([, name]) => new RegExp(`[:(|] *(?:readonly )?${name}\\b`, 'u').test(types));
  const imports = [...Map.groupBy(names, ([from]) => from)].map(
    ([from, all]) => `import type { ${all.map(([, name]) => name).join(', ')} } from '${from}';\n`,
  );
  return `/** Made of \`../schemas/${file}.ts\` by \`node scripts/wire.ts --update\`. */\n${imports.join('')}${types}`;
}

/** Whether two schemas have the same definition, as a schema and its copy with a description have. */
const isSame = (one: z.ZodType, other: z.ZodType): boolean => one._zod.def === other._zod.def;

function nameOf(schema: z.ZodType): string | undefined {
  const ours = Object.values(TYPES)
    .flat()
    .find(([, known]) => isSame(known, schema));
  return ours?.[0] ?? ELSEWHERE.find(([, , what]) => 'parse' in what && isSame(what, schema))?.[1];
}

function textOf(schema: z.ZodType, indent: string): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  // oxlint-disable-next-line typescript/no-explicit-any -- the fields of a definition depend on its type
  const def = schema._zod.def as any;
  switch (def.type) {
    case 'string':
    case 'number':
    case 'boolean':
      return def.type;
    case 'literal':
      return unionOf(def.values);
    case 'enum': {
      const words = Object.values<string>(def.entries);
      return ELSEWHERE.find(([, , what]) => !('parse' in what) && what.join() === words.join())?.[1] ?? unionOf(words);
    }
    case 'nullable':
      return `${textOf(def.innerType, indent)} | null`;
    case 'optional':
      return textOf(def.innerType, indent);
    case 'array':
      return `readonly ${textOf(def.element, indent)}[]`;
    case 'union': {
      const inner = `${indent}  `;
      const all = def.options as readonly z.ZodType[];
      return all.map((option) => `\n${inner}${comment(option.description, inner)}| ${textOf(option, inner)}`).join('');
    }
    case 'object':
      return objectText(schema, indent);
    default:
      throw new Error(`scripts/wire.ts has no type for a schema of type ${String(def.type)}`);
  }
}

const unionOf = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' | ');

/** The maximum length of a line in the sources. */
const WIDTH = 130;

function objectText(schema: z.ZodType, indent: string): string {
  const { shape } = schema._zod.def as unknown as { readonly shape: Readonly<Record<string, z.ZodType>> };
  const inner = `${indent}  `;
  const members = Object.entries(shape).map(([key, member]) => {
    const mark = member._zod.def.type === 'optional' ? '?' : '';
    const about = comment(COMMON.has(member.description) ? undefined : member.description, inner);
    return `${about}readonly ${key}${mark}: ${textOf(member, inner)}`.replace(': \n', ':\n');
  });
  const line = `{ ${members.join('; ')} }`;
  // A type with a name has one member per line.
  if (indent !== '' && !line.includes('\n') && line.length + 40 < WIDTH) return line;
  return `{\n${members.map((member) => `${inner}${member};\n`).join('')}${indent}}`;
}

/** Descriptions that all schemas of a kind share, and that therefore say nothing about one member. */
const COMMON: ReadonlySet<string | undefined> = new Set(
  [base.time, base.json, base.level, notifications.verdict].map(({ description }) => description),
);

function comment(text: string | undefined, indent = ''): string {
  if (text === undefined) return '';
  const sentences = `${text[0]?.toUpperCase()}${text.slice(1)}${text.endsWith('.') ? '' : '.'}`;
  const line = `/** ${sentences} */`;
  if (indent.length + line.length <= WIDTH) return `${line}\n${indent}`;
  const lines = [`${indent} *`];
  for (const word of sentences.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= WIDTH) lines[lines.length - 1] = longer;
    else lines.push(`${indent} * ${word}`);
  }
  return `/**\n${lines.join('\n')}\n${indent} */\n${indent}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--update')) {
    mkdirSync(FOLDER, { recursive: true });
    for (const [file, text] of wireTypes()) writeFileSync(join(FOLDER, file), text);
  } else
    for (const file of outdated()) {
      process.exitCode = 1;
      console.log(`src/wire/types/${file} differs from the schemas: node scripts/wire.ts --update`);
    }
}
