/**
 * What a change of a setting does, and which ones a person changes while agents work: the only ones that are changed over
 * the network, since none of them runs a command, opens a connection or says where things are kept.
 */
import { nodeAt } from './check.ts';
import { splitKey } from './positions.ts';
import { SETTINGS, type AnySetting } from './schema.ts';
import type { Form } from './values.ts';

/** When a changed setting counts; undefined for what is no setting. */
export function takesEffect(key: string): string | undefined {
  const path = splitKey(key) ?? [];
  const setting = settingAt(path);
  if (setting === undefined) return undefined;
  if (AT_START_OF_AGENT.has(setting)) return AGENT;
  return PLACES[setting.pattern[0] ?? ''] ?? 'now, from the next carrier on';
}

const AGENT = 'at the next start of earpiece chat or earpiece run';

const PLACES: Readonly<Record<string, string>> = {
  wake: 'now, from the next notification on',
  project: 'at the next start of each command',
  address: 'at the next start of each command',
  db: 'at the next start of each command',
  time_zone: 'at the next start of each command',
  agent: AGENT,
  sources: AGENT,
  gateway: 'at the next start of earpiece gateway',
  server: 'at the next start of earpiece serve',
  webhooks: 'now, from the next delivery on',
};

const AT_START_OF_AGENT: ReadonlySet<AnySetting> = new Set<AnySetting>([
  SETTINGS.toolSource,
  SETTINGS.toolStateful,
  SETTINGS.toolSpawnStateful,
  SETTINGS.toolTurnEnd,
]);

export type Change = { readonly label: string; readonly help: string; readonly form: Form };

/** How a page offers it; undefined where it is changed in its file, or by `earpiece config set`. */
export function changeOf(key: string): Change | undefined {
  const path = splitKey(key) ?? [];
  const setting = settingAt(path);
  const form = setting?.value.form;
  if (setting === undefined || form === undefined) return undefined;
  const [label, help] = CHANGEABLE.get(setting)?.(path) ?? [];
  return label === undefined || help === undefined ? undefined : { label, help, form };
}

const settingAt = (path: readonly string[]): AnySetting | undefined => nodeAt(path)?.setting;

type Words = readonly [label: string, help: string];
const always = (label: string, help: string) => (): Words => [label, help];
const ofTool = (path: readonly string[]): Words => [
  `${path.at(-1)} of the tool ${path[2]}`,
  'Off: what this tool says of this kind is filtered.',
];

const CHANGEABLE: ReadonlyMap<AnySetting, (path: readonly string[]) => Words> = new Map<
  AnySetting,
  (path: readonly string[]) => Words
>([
  [SETTINGS.enable, always('Notifications', 'Off: nothing rides but criticals of the core; the log keeps everything.')],
  [SETTINGS.minLevel, always('Lowest level', 'What is below it is filtered at delivery; the log keeps it.')],
  [SETTINGS.kind, (path) => [path[3] ?? '', 'Off: this kind is filtered. It counts before what is said of its whole source.']],
  [SETTINGS.kindSource, (path) => [`${path[3]}.*`, 'Off: everything of this source is filtered.']],
  [SETTINGS.kindNested, (path) => [`${path[3]}.${path[4]}`, 'Off: this kind is filtered.']],
  [SETTINGS.toolNotification, ofTool],
  [SETTINGS.toolContent, ofTool],
  [SETTINGS.wake.info, always('Wake for info', 'An idle agent: leave it, ask a person first, or wake it.')],
  [SETTINGS.wake.warning, always('Wake for a warning', 'An idle agent: leave it, ask a person first, or wake it.')],
  [SETTINGS.wake.error, always('Wake for an error', 'An idle agent: leave it, ask a person first, or wake it.')],
  [SETTINGS.wake.critical, always('Wake for a critical', 'An idle agent: leave it, ask a person first, or wake it.')],
  [SETTINGS.maxItems, always('Items of a carrier', 'How many ride at once; the rest is summed up in one line.')],
  [SETTINGS.maxTokens, always('Tokens of a carrier', 'How much all of them together may cost; errors wait for the next one.')],
  [SETTINGS.maxItemChars, always('Characters of an item', 'A longer text is cut, and says so.')],
  [SETTINGS.view, always('View', 'What the model reads, where its host was not told otherwise.')],
  [SETTINGS.interrupt, always('Tool calls at an interrupt', 'Before: refused. After: made, and their result is held back.')],
  [SETTINGS.sourceFiles, always('Files', 'Tells of files that change while the agent works.')],
  [SETTINGS.sourceGit, always('Git', 'Tells of switched branches, a moved upstream and conflicts.')],
]);
