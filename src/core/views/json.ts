import { defined } from '../defined.ts';
import type { Line } from '../plan.ts';
import { unlistedOf } from '../unlisted.ts';
import { adopted, isCopyable, neutralizeKind, neutralizeName, withCommas } from './body.ts';
import { neutralData } from './data.ts';
import type { Layout } from './layout.ts';
import { instructionOf, messagesOf, timeOf, wholeOf, type How } from './wording.ts';

/** The JSON view: one compact object with the mark as its first field. */
export const json: Layout = {
  item(line, how) {
    const { shown, left } = messagesOf(line, how);
    const times = line.count > 1;
    const whole = wholeOf(line, how);
    const unlisted = unlistedOf(line);
    return JSON.stringify({
      level: line.level,
      kind: `${neutralizeKind(line.kind.source)}.${neutralizeKind(line.kind.name)}`,
      ...(line.person === undefined ? {} : { person: neutralizeName(line.person) }),
      ...(line.sender === undefined ? {} : defined({ agent: neutralizeName(line.sender.agent), id: line.sender.id })),
      ...defined({ action: line.action }),
      ...(shown.length === 1 ? { message: shown[0] } : { messages: shown }),
      ...(left > 0 ? { other_messages: left } : {}),
      ...(unlisted === undefined ? {} : { not_listed: unlisted.count }),
      ...defined({ all_of_it: whole }),
      ...(times ? { count: line.count, last: timeOf(line.lastAt, how.timeZone) } : {}),
      ...(line.instruction === undefined ? {} : { instruction: instructionOf(line, how)?.text }),
      ...dataOf(line, how),
    });
  },
  owns: (text) => isCopyable(text) && !text.includes('\n') && isObject(text),
  adopt: (text, { source, name, level }) =>
    JSON.stringify({ level, kind: `${neutralizeKind(source)}.${neutralizeKind(name)}`, message: adopted(text) }),
  page({ mark, lead, items, more }) {
    const field = (name: string, text: string | undefined): string =>
      text === undefined ? '' : `,${JSON.stringify(name)}:${JSON.stringify(text)}`;
    const list = items.map(({ text }) => text).join(',');
    return `{"ep":${JSON.stringify(mark)}${field('note', lead)},"notifications":[${list}]${field('more', more?.text)}}`;
  },
};

function dataOf(line: Line, how: How): object {
  if (line.data.length === 0) return {};
  const data = neutralData(line.data.length === 1 ? line.data[0] : line.data, how.maxItemChars);
  return data === undefined ? { data_left_out: `more than ${withCommas(how.maxItemChars)} characters` } : { data };
}

function isObject(text: string): boolean {
  if (!text.startsWith('{')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
