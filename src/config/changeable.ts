/**
 * Defines when a change of each setting takes effect, and which settings a person may change while agents work. Only these
 * settings can be changed over the network. None of these settings runs a command, opens a connection, chooses where data is
 * stored, or reduces redaction.
 */
import { nodeAt } from './check.ts';
import { splitKey } from './positions.ts';
import { SETTINGS, type AnySetting } from './schema.ts';
import type { Form } from './values.ts';

/** Returns a text that says when a changed setting takes effect. Returns undefined for an unknown setting. */
export function takesEffect(key: string): string | undefined {
  const path = splitKey(key) ?? [];
  const setting = settingAt(path);
  if (setting === undefined) return undefined;
  if (AT_START_OF_AGENT.has(setting)) return AGENT;
  if (OF_SERVERS.has(setting)) return 'at the next start of earpiece gateway, earpiece chat or earpiece run';
  return PLACES[setting.pattern[0] ?? ''] ?? 'now, from the next carrier on';
}

const AGENT = 'at the next start of earpiece chat or earpiece run';

const PLACES: Readonly<Record<string, string>> = {
  wake: 'now, from the next notification on',
  max_level: 'now, from the next notification on',
  max_open: 'now, from the next notification on',
  ttl: 'now, from the next notification on',
  redact: 'now, from the next notification on',
  retention: 'at the next pruning',
  tasks: 'at the next pruning',
  project: 'at the next start of each command',
  address: 'at the next start of each command',
  db: 'at the next start of each command',
  archive: 'at the next start of each command',
  time_zone: 'at the next start of each command',
  agent: AGENT,
  sources: AGENT,
  gateway: 'at the next start of earpiece gateway',
  server: 'at the next start of earpiece serve',
  follow: 'now, from the next call of a hook on',
  matchers: 'at the next start of earpiece follow or run-and-tell',
  webhooks: 'now, from the next delivery on',
};

const AT_START_OF_AGENT: ReadonlySet<AnySetting> = new Set<AnySetting>([
  SETTINGS.toolSource,
  SETTINGS.toolStateful,
  SETTINGS.toolSpawnStateful,
  SETTINGS.toolTurnEnd,
]);

/** The settings that decide which MCP servers start. The agent of Earpiece starts these servers too. */
const OF_SERVERS: ReadonlySet<AnySetting> = new Set<AnySetting>([SETTINGS.server, SETTINGS.separator]);

export type Change = {
  readonly label: string;
  readonly help: string;
  readonly form: Form;
  /** Whether the effective list joins the values of all layers. */
  readonly addsUp: boolean;
};

/**
 * Returns the input field with which a page offers the setting. Returns undefined if the setting is changed only in its file or
 * by `earpiece config set`.
 */
export function changeOf(key: string): Change | undefined {
  const path = splitKey(key) ?? [];
  const setting = settingAt(path);
  const form = setting?.value.form;
  if (setting === undefined || form === undefined) return undefined;
  const [label, help] = CHANGEABLE.get(setting)?.(path) ?? [];
  return label === undefined || help === undefined ? undefined : { label, help, form, addsUp: setting.addsUp === true };
}

const settingAt = (path: readonly string[]): AnySetting | undefined => nodeAt(path)?.setting;

type Words = readonly [label: string, help: string];
const always = (label: string, help: string) => (): Words => [label, help];
const TTL = 'An undelivered notification expires after this time. Write a duration, or never.';
const ofTool = (path: readonly string[]): Words => [
  `${path.at(-1)} of the tool ${path[2]}`,
  'Off: notifications of this kind from this tool are filtered.',
];

const CHANGEABLE: ReadonlyMap<AnySetting, (path: readonly string[]) => Words> = new Map<
  AnySetting,
  (path: readonly string[]) => Words
>([
  [
    SETTINGS.enable,
    always(
      'Notifications',
      'Off: only actions (cancel, pause, resume) and critical notifications of persons, core subscribers and core kinds are delivered. The log keeps all notifications.',
    ),
  ],
  [SETTINGS.minLevel, always('Lowest level', 'Notifications below this level are filtered at delivery, but the log keeps them.')],
  [
    SETTINGS.kind,
    (path) => [path[3] ?? '', 'Off: this kind is filtered. This setting overrides the setting of the whole source.'],
  ],
  [SETTINGS.kindSource, (path) => [`${path[3]}.*`, 'Off: the notifications of this source are filtered.']],
  [SETTINGS.kindNested, (path) => [`${path[3]}.${path[4]}`, 'Off: this kind is filtered.']],
  [SETTINGS.toolNotification, ofTool],
  [SETTINGS.toolContent, ofTool],
  [SETTINGS.wake.info, always('Wake for info', 'Never wake an idle agent, ask a person first, or wake the agent.')],
  [SETTINGS.wake.warning, always('Wake for a warning', 'Never wake an idle agent, ask a person first, or wake the agent.')],
  [SETTINGS.wake.error, always('Wake for an error', 'Never wake an idle agent, ask a person first, or wake the agent.')],
  [
    SETTINGS.wake.critical,
    always('Wake for a critical notification', 'Never wake an idle agent, ask a person first, or wake the agent.'),
  ],
  [
    SETTINGS.maxItems,
    always(
      'Lines of a message',
      'The maximum number of lines with notifications in one message. Beyond this number, errors wait for the next message, and one line counts the other notifications.',
    ),
  ],
  [
    SETTINGS.maxTokens,
    always(
      'Tokens of a message',
      'The maximum number of tokens of all notifications in one message. Beyond this number, errors wait for the next message.',
    ),
  ],
  [SETTINGS.maxItemChars, always('Characters of an item', 'A longer text is cut, with a note about the cut.')],
  [SETTINGS.view, always('View', 'The format of notifications for the model, unless a host has its own setting.')],
  [
    SETTINGS.interrupt,
    always(
      'Tool calls at an interrupt',
      'Before: the gateway refuses the call. After: the gateway makes the call, and withholds its result. Calls outside of a gateway are always refused.',
    ),
  ],
  [
    SETTINGS.core,
    always(
      'Kinds of the core',
      'No filter stops critical notifications of these kinds. Write a kind, or source.*, on each line.',
    ),
  ],
  [SETTINGS.maxLevel, (path) => [`Highest level of ${path[1]}`, 'A higher level from this source is lowered to this level.']],
  [
    SETTINGS.maxOpen,
    always(
      'Open notifications',
      'All conversations of an agent share this limit. Beyond this number, the oldest notifications of the lowest level are dropped, and one line counts the dropped notifications.',
    ),
  ],
  [
    SETTINGS.maxDefer,
    always(
      'Longest wait for a contact point',
      'After this time, the next message carries a notification that waits for a contact point or a tool.',
    ),
  ],
  [SETTINGS.ttl.info, always('An info notification waits for', TTL)],
  [SETTINGS.ttl.warning, always('A warning waits for', TTL)],
  [SETTINGS.ttl.error, always('An error waits for', TTL)],
  [SETTINGS.ttl.critical, always('A critical notification waits for', TTL)],
  [
    SETTINGS.coalesce,
    always(
      'Window of one line',
      'Within this time, notifications of one kind become one line with a count. Warnings of one source become one line even with different kinds.',
    ),
  ],
  [
    SETTINGS.coalesceSource,
    (path) => [
      `Window of ${path[2]}`,
      'If notifications of this source arrive within this time, those of one kind become one line. Warnings become one line even with different kinds.',
    ],
  ],
  [
    SETTINGS.retention,
    always(
      'Closed notifications are kept for',
      'Records of closed notifications are pruned after this time. Open notifications are never pruned.',
    ),
  ],
  [SETTINGS.taskRetention, always('Finished tasks are kept for', 'After this time, finished tasks are pruned.')],
  [SETTINGS.withheldBytes, always('Bytes of a withheld result', 'A longer result is cut.')],
  [SETTINGS.withheldKeep, always('A withheld result is kept for', 'For this time, the agent can fetch the result.')],
  [
    SETTINGS.lease,
    always('A lease lasts', 'After this time, the notifications of an offer without confirmation or release are open again.'),
  ],
  [
    SETTINGS.agentMaxCycles,
    always(
      'Cycles of a turn',
      'The maximum number of requests to the model in one turn of the built-in agent. The agent is warned at 70 %.',
    ),
  ],
  [
    SETTINGS.agentTokens,
    always(
      'Tokens of a turn',
      'The maximum number of tokens in one turn of the built-in agent. The agent is warned at 80 %. Above the limit, the agent gives one last answer.',
    ),
  ],
  [
    SETTINGS.agentContext,
    always('Tokens of the context', 'The context size of the model of the built-in agent. The agent is warned at 70 %.'),
  ],
  [
    SETTINGS.agentTimeout,
    always(
      'Time of a turn',
      'The expected duration of a turn of the built-in agent. The agent is warned at 80 %, but not stopped.',
    ),
  ],
  [
    SETTINGS.sourceFilesGlobs,
    always('Paths', 'Files to watch in addition to the files that the agent has read. Write one pattern on each line.'),
  ],
  [
    SETTINGS.sourceFilesDebounce,
    always('Quiet time of a file', 'A changed file is reported when no program has written to the file for this time.'),
  ],
  [SETTINGS.sourceFiles, always('Files', 'Reports files that change while the agent works.')],
  [SETTINGS.sourceGit, always('Git', 'Reports switched branches, a moved upstream and conflicts.')],
]);
