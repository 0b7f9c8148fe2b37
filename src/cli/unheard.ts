/**
 * Advises about events that no subscriber matches: shows a subscriber file that would match these events, and the folder for the
 * file.
 */
import { join, relative } from 'node:path';
import { matchesType, projectFolder, subscriberTrust, type Subscriber, type SubscriberSet } from '../bus/index.ts';
import { userSubscribersFolder } from '../config/index.ts';
import { severityRank, type Emitted, type Event } from '../core/event.ts';
import { parseAddress } from '../core/address.ts';
import type { LoadedInbox } from '../loaded-inbox.ts';

/** The maximum number of event types that one file may name. */
const TYPES = 100;
const ID_CHARS = 64;

/** Returns the advice; undefined if each event has a subscriber that listens to its type. */
export function wayToBeHeard(emitted: readonly Emitted[], ear: LoadedInbox): string | undefined {
  const unheard = emitted.filter(({ heard }) => heard.length === 0).map(({ event }) => event);
  const held = new Set<string>();
  const unknown = unheard.filter((event) => {
    const files = wouldHear(event, ear);
    for (const { from } of files) held.add(near(from.file));
    return files.length === 0;
  });
  const parts = [
    held.size === 0
      ? undefined
      : `${[...held].join(', ')} would match ${unheard.length - unknown.length > 1 ? 'these events' : 'this event'}, but its folder is not trusted. Read the files in the folder, then run: earpiece trust`,
    fileFor(unknown, ear),
  ].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join('\n\n');
}

/** Finds subscribers of the project that listen to this event but are not trusted yet. */
const wouldHear = ({ type, subject, severity }: Event, ear: LoadedInbox): readonly Subscriber[] =>
  (ear.bus.subscribers(parseAddress(subject).project).held ?? []).filter(
    ({ events }) =>
      events.types.some((pattern) => matchesType(pattern, type)) && severityRank(severity) >= severityRank(events.severityFilter),
  );

/** Returns the text of a file that matches these events, and the place for the file. */
function fileFor(unheard: readonly Event[], ear: LoadedInbox): string | undefined {
  const [first] = unheard;
  if (first === undefined) return undefined;
  const types = [...new Set(unheard.map(({ type }) => type))].slice(0, TYPES);
  const { project } = parseAddress(first.subject);
  const id = idFor(first.type, ear.bus.subscribers(project));
  const at = { env: process.env };
  const own = project === ear.project;
  const folder = own ? projectFolder(ear.config.projectRoot) : userSubscribersFolder(at);
  const needsTrust = own && !subscriberTrust(at).isTrusted(folder);
  const low = unheard.some(({ severity }) => severityRank(severity) < severityRank('info'));
  return [
    `To be notified of ${types.length > 1 ? 'these events' : 'this event'}, put this into ${near(join(folder, `${id}.toml`))}${needsTrust ? '' : '; the file takes effect with the next event'}:`,
    '',
    '[subscriber]',
    `id = ${JSON.stringify(id)}`,
    `name = ${JSON.stringify(first.type.slice(0, 100))}`,
    '',
    '[events]',
    `types = [${types.map((type) => JSON.stringify(type)).join(', ')}]`,
    ...(low ? ['severity_filter = "debug"'] : []),
    ...(needsTrust ? ['', 'then run: earpiece trust'] : []),
  ].join('\n');
}

function idFor(type: string, { subscribers, held = [] }: SubscriberSet): string {
  const words = type.toLowerCase().replaceAll(/[^a-z0-9_]/gu, '_');
  const stem = (/^[a-z]/u.test(words) ? words : `on_${words}`).slice(0, ID_CHARS - 3);
  const taken = new Set([...subscribers, ...held].map(({ id }) => id));
  let id = stem;
  for (let n = 2; taken.has(id); n++) id = `${stem}_${n}`;
  return id;
}

/** Returns the path relative to the working folder, if the file is inside that folder. */
function near(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith('..') ? file : short;
}
