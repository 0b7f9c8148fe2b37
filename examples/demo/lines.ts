/** Formats the parts of the story: a command, a waiting notification, and a result with its notifications. */
import { level, paint, plain } from '../../src/cli/terminal.ts';
import type { Item } from '../../src/core/items.ts';
import type { Level } from '../../src/core/notification.ts';
import type { Given } from './agent.ts';
import type { Line, Style } from './page.ts';

/** Only the first and last lines of a tool's long result are shown. Earpiece's part is never cut. */
const FIRST_LINES = 2;
const LAST_LINES = 6;

export const ABOUT =
  'While an agent works, things happen around it: tests end, files change, a person says stop. The agent learns about them from the messages that its model gets anyway, each once.';

export const seenAt = (login: string): Line => ({ text: login, sign: paint('bold', 'console  ') });
export const command = (text: string): Line => ({ text, sign: paint('dim', '$ '), style: 'cyan' });
export const printed = (text: string): Line => ({ text, sign: '  ', style: 'dim' });
export const done = (text: string): Line => ({ text, sign: paint('green', '✔ ') });

/** Formats a waiting notification: hollow and dashed until a result carries it. */
export const waiting = (of: Level, kind: string, times = 1): Line => ({
  text: `${kind}${times > 1 ? `, ${times} times` : ''}: waits for delivery`,
  bar: `${paint('yellow', '┆')} `,
  sign: `${level(of)} `,
});

export const rode = ({ notification: { level: of, kind } }: Item, on: string, afterMs: number): Line => ({
  text: `${kind.source}.${kind.name}: delivered with ${on.slice(on.indexOf(':') + 1)}, ${(afterMs / 1000).toFixed(1)} s after it was queued`,
  bar: `${paint('yellow', '┃')} `,
  sign: `${level(of)} `,
});

/** Returns Earpiece's text in a result: a separate block, recognized by its frame. */
export const ours = (given: Given): string => given.blocks.filter(isOurs).join('\n');

const isOurs = (block: string): boolean => block.startsWith('[ep ');

/** Formats a tool call, and each block of its result as the client received it. */
export function toModel(given: Given, { sameAs }: { sameAs: Given | undefined }): Line[] {
  const refused = given.isError && given.blocks.every(isOurs);
  const same = sameAs !== undefined && ours(given) !== '' && ours(given) === ours(sameAs);
  const style: Style = refused ? ['red', 'bold'] : 'yellow';
  const bar = `${paint(style, '┃')} `;
  const riding: Line[] = same
    ? [{ text: 'the same text, byte for byte', bar, style }]
    : given.blocks.filter(isOurs).flatMap((block) => textLines(block).map((text) => ({ text, bar, style })));
  return [
    { text: titleOf(given), sign: paint('cyan', '⚙ '), style: 'bold' },
    ...given.blocks.filter((block) => !isOurs(block)).flatMap(resultLines),
    ...riding,
  ];
}

const titleOf = ({ tool, args }: Given): string => (typeof args['path'] === 'string' ? `${tool} ${args['path']}` : tool);

function resultLines(block: string): Line[] {
  const lines = textLines(block.trimEnd()).map((text): Line => ({ text, bar: '  ' }));
  const left = lines.length - FIRST_LINES - LAST_LINES;
  if (left <= 1) return lines;
  return [...lines.slice(0, FIRST_LINES), { text: `… ${left} lines …`, bar: '  ', style: 'dim' }, ...lines.slice(-LAST_LINES)];
}

/** Formats Earpiece's text as the model reads it. */
export const riding = (text: string): Line[] =>
  textLines(text).map((line) => ({ text: line, bar: `${paint('yellow', '┃')} `, style: 'yellow' }));

const textLines = (text: string): string[] => text.split('\n').map((line) => plain(line.replaceAll('\t', '  ')));
