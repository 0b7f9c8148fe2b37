import type { Line } from '../plan.ts';
import { adopted, isCopyable, neutralizeKind, neutralizeName, quote } from './body.ts';
import { ending, opening, type Layout } from './layout.ts';
import { attribution, indent, indentedBody, instructionOf, isListItem, saidBy } from './wording.ts';

const ELEMENT =
  /^<notification(?: [a-z]+="[^"<>]*")+>\n[^<>]*(?:\n<instruction(?: from="[^"<>]*")?>[^<>]*<\/instruction>)?\n<\/notification>$/;

/** The XML view: one element for each notification, with escaped text and attributes. */
export const xml: Layout = {
  item(line, how) {
    const instruction = instructionOf(line, how);
    return [
      `<notification${attributes(line)}>`,
      escape(saidBy(line, how)),
      ...(instruction
        ? [`<instruction${attribute('from', instruction.from)}>${escape(quote(instruction.text))}</instruction>`]
        : []),
      '</notification>',
    ].join('\n');
  },
  owns: (text) => ELEMENT.test(text) && isCopyable(text),
  adopt: (text, { source, name, level }) =>
    `<notification source="${escape(neutralizeKind(source))}" label="${escape(neutralizeKind(name))}" level="${level}">\n${escape(adopted(text))}\n</notification>`,
  page: ({ mark, lead, items, more }) =>
    [opening(mark, lead), items.map(({ text }) => text).join('\n\n'), ...(more ? ['', more.text] : []), ending(mark)].join('\n'),
};

/** The XML view with one element for all notifications: one line for each, and a count of the omitted notifications. */
export const xmlBatch: Layout = {
  item(line, how) {
    const who = attribution(line);
    const from = `${neutralizeKind(line.kind.source)}${line.level === 'info' ? '' : ` ${line.level}`}`;
    return `- [${escape(from)}${who === undefined ? '' : `, ${escape(who)}`}] ${escape(indentedBody(line, how))}`;
  },
  owns: (text) => isListItem(text, /^- \[[^\]]*\] /) && !/[<>]/.test(text),
  adopt: (text, { source, level }) =>
    `- [${escape(neutralizeKind(source))}${level === 'info' ? '' : ` ${level}`}] ${escape(indent(adopted(text)))}`,
  page: ({ mark, lead, items, more }) =>
    [
      opening(mark, lead),
      `<notifications count="${items.length + (more?.count ?? 0)}">`,
      ...items.map(({ text }) => text),
      ...(more ? [`(${more.text})`] : []),
      '</notifications>',
      ending(mark),
    ].join('\n'),
};

function attributes(line: Line): string {
  const all: readonly (readonly [string, string | undefined])[] = [
    ['source', neutralizeKind(line.kind.source)],
    ['label', neutralizeKind(line.kind.name)],
    ['level', line.level],
    ['action', line.action],
    ['person', line.person === undefined ? undefined : neutralizeName(line.person)],
    ['agent', line.sender === undefined ? undefined : neutralizeName(line.sender.agent)],
    ['id', line.sender?.id],
    ['count', line.sender !== undefined && line.rendered === undefined && line.count > 1 ? String(line.count) : undefined],
  ];
  return all.map(([name, value]) => attribute(name, value)).join('');
}

const attribute = (name: string, value: string | undefined): string =>
  value === undefined ? '' : ` ${name}="${escape(value).replaceAll('"', '&quot;')}"`;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes text for XML. Quotation marks stay, because they are common and harmless in the text of an element. */
const escape = (text: string): string => text.replace(/[&<>]/g, (sign) => ENTITIES[sign] ?? sign);
