/** What to do about events that nobody hears: a subscriber's file that would, to be put where it says. */
import { join, relative } from 'node:path';
import { projectFolder, type SubscriberSet } from '../bus/index.ts';
import { userSubscribersFolder } from '../config/index.ts';
import { severityRank, type Emitted } from '../core/event.ts';
import { parseAddress } from '../core/address.ts';
import type { Earpiece } from '../earpiece.ts';

/** As many as one file may name. */
const TYPES = 100;
const ID_CHARS = 64;

/** Undefined where somebody listens for each of them, whatever came of it. */
export function wayToBeHeard(emitted: readonly Emitted[], ear: Earpiece): string | undefined {
  const unheard = emitted.filter(({ heard }) => heard.length === 0).map(({ event }) => event);
  const [first] = unheard;
  if (first === undefined) return undefined;
  const types = [...new Set(unheard.map(({ type }) => type))].slice(0, TYPES);
  const { project } = parseAddress(first.subject);
  const id = idFor(first.type, ear.bus.subscribers(project));
  const folder = project === ear.project ? projectFolder(ear.config.projectRoot) : userSubscribersFolder({ env: process.env });
  const low = unheard.some(({ severity }) => severityRank(severity) < severityRank('info'));
  return [
    `To be told of ${types.length > 1 ? 'them' : 'it'}, put this into ${near(join(folder, `${id}.toml`))}; it counts from the next event on:`,
    '',
    '[subscriber]',
    `id = ${JSON.stringify(id)}`,
    `name = ${JSON.stringify(first.type.slice(0, 100))}`,
    '',
    '[events]',
    `types = [${types.map((type) => JSON.stringify(type)).join(', ')}]`,
    ...(low ? ['severity_filter = "debug"'] : []),
  ].join('\n');
}

function idFor(type: string, { subscribers }: SubscriberSet): string {
  const words = type.toLowerCase().replaceAll(/[^a-z0-9_]/gu, '_');
  const stem = (/^[a-z]/u.test(words) ? words : `on_${words}`).slice(0, ID_CHARS - 3);
  const taken = new Set(subscribers.map(({ id }) => id));
  let id = stem;
  for (let n = 2; taken.has(id); n++) id = `${stem}_${n}`;
  return id;
}

/** From the working folder where it lies in it. */
function near(file: string): string {
  const short = relative(process.cwd(), file);
  return short.startsWith('..') ? file : short;
}
