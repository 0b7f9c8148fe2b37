/**
 * Formats the parts of a conversation. All lines are safe to print and fit the width, even if an untrusted source wrote their
 * text.
 */
import type { Json } from '../../core/json.ts';
import { formatKind, type Notification } from '../../core/notification.ts';
import { BAR, factsOf, oneLine } from '../foreign.ts';
import { cut, widthOf } from '../table.ts';
import { level, paint, plain } from '../terminal.ts';
import { safe, wrapAll } from './wrap.ts';

/** The maximum number of lines of a notification's text, before wrapping. A longer text is shortened. */
const NOTE_LINES = 3;
const NOTE_CHARS = 200;
/** The maximum width of a result in columns, even if the row is wider. */
const RESULT_CHARS = 200;

/** Formats a message of a person. */
export const said = (text: string, width: number): string[] =>
  wrapAll(text, width, `${paint(['cyan', 'bold'], '›')} `, '  ').map((line) => paint('bold', line));

export type CallView = { readonly name: string; readonly args: Json };
export type ResultView = { readonly content: string; readonly isError: boolean };

/** Formats a call, `⚙ run npm test`, in at most one row. */
export function callLine({ name, args }: CallView, width: number): string {
  const what = summaryOf(args);
  return cut(`${paint('cyan', '⚙')} ${paint('bold', plain(name, 60))}${what === '' ? '' : `  ${plain(what, 500)}`}`, width);
}

/** Formats a call, followed by the most informative line of its result, dimmed and cut to the row. */
export function resultLine(call: CallView, { content, isError }: ResultView, width: number, number?: () => number): string {
  const { text, whole } = gistOf(content, isError);
  const gist = safe(text.trim());
  const sign = isError ? `${paint('red', '✗')} ` : '';
  const between = isError ? 5 : 3;
  // The call gets the width that the result does not need, but always more than half of the row.
  const wanted = widthOf(gist) + between + (whole ? 0 : MORE_CHARS);
  const head = callLine(call, Math.max(width - wanted, Math.floor(width * 0.55)));
  const room = Math.min(RESULT_CHARS, width - widthOf(head) - between);
  const fits = whole && widthOf(gist) <= room;
  const shown = fits ? gist : partly(gist, room, number === undefined ? '' : ` /show ${number()}`);
  return cut(`${head} ${paint('dim', '·')} ${sign}${paint('dim', shown === '' ? '(nothing)' : shown)}`, width);
}

/** The width to keep free for ` … /show 123`. */
const MORE_CHARS = 12;

function partly(gist: string, room: number, more: string): string {
  const shown = cut(gist, room - more.length - 2);
  return `${shown}${shown.endsWith('…') ? '' : ' …'}${more}`;
}

/**
 * Chooses the most informative line of a result: the state of a handle, the last line of a failure, or else the first line.
 * `whole` says whether this line is the whole result.
 */
function gistOf(content: string, isError: boolean): { readonly text: string; readonly whole: boolean } {
  const handle = handleIn(content);
  if (handle !== undefined) return handle;
  const lines = content
    .replace(/\n?\[exit code 0\]\s*$/u, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const [last = '', before] = [lines.at(-1), lines.at(-2)];
  if (!isError || before === undefined) return { text: lines[0] ?? '', whole: lines.length <= 1 };
  // A last line in brackets, such as an exit code, explains little, so the previous line is shown too.
  const both = /^\[.*\]$/u.test(last.trim());
  return { text: both ? `${before} ${last.trim()}` : last, whole: both && lines.length === 2 };
}

/**
 * Returns the state of the handle that a result describes, with the last line of the handle's question, error or output. Returns
 * undefined for a result that describes no handle.
 */
function handleIn(content: string): { readonly text: string; readonly whole: boolean } | undefined {
  if (!content.startsWith('{"id":')) return undefined;
  try {
    const { state, question, content: shown, result } = JSON.parse(content) as Record<string, unknown>;
    if (typeof state !== 'string') return undefined;
    const failure =
      typeof result === 'object' && result !== null ? (result as { error?: { message?: unknown } }).error?.message : undefined;
    const said = [question, failure, typeof result === 'string' ? result : shown].find(
      (each) => typeof each === 'string' && each.trim() !== '',
    );
    const lines = typeof said === 'string' ? said.trim().split('\n') : [];
    return { text: lines.length === 0 ? state : `${state}: ${lines.at(-1)}`, whole: lines.length <= 1 };
  } catch {
    return undefined;
  }
}

/**
 * Returns the main argument of a call in one line, such as its command or path; without a main argument, all arguments. The
 * action, the handle and the way in which the call runs follow in parentheses.
 */
export function summaryOf(args: Json): string {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return JSON.stringify(args);
  const given = args as { readonly [key: string]: Json };
  const { action, id, background, pty, ...rest } = given;
  const main = MAIN.map((key) => rest[key]).find((value) => typeof value === 'string' && value.trim() !== '');
  const about = typeof main === 'string' ? main.trim().replaceAll(/\s+/gu, ' ') : compact(rest);
  const how = [
    ...(action === 'spawn' || background === true ? ['in the background'] : typeof action === 'string' ? [action] : []),
    ...(typeof id === 'string' ? [action === 'spawn' || background === true ? `as ${id}` : id] : []),
    ...(pty === true ? ['in a terminal'] : []),
  ].join(' ');
  if (how === '') return about;
  return about === '' ? how : `${about} (${how})`;
}

/** Names of main arguments, in order of preference. */
const MAIN = ['command', 'task', 'path', 'file', 'file_path', 'url', 'query', 'pattern', 'message', 'input', 'text'] as const;

function compact(rest: { readonly [key: string]: Json }): string {
  const values = Object.values(rest);
  if (values.length === 0) return '';
  if (values.length === 1 && Array.isArray(values[0]) && values[0].every((v) => typeof v === 'string'))
    return values[0].join(', ');
  return JSON.stringify(rest);
}

const PENDING = (): string => paint('yellow', '┆');
const DELIVERED = (): string => paint('yellow', '┃');

export type PendingView = Pick<Notification, 'level' | 'kind' | 'message' | 'action' | 'count' | 'origin' | 'subscriber'>;

/** Formats a waiting notification in one row, with a dashed bar. */
export function pendingLine(note: PendingView, width: number, tail = ''): string {
  const end = tail === '' ? '' : ` ${paint('dim', tail)}`;
  const line = `${PENDING()} ${level(note.level)} ${oneLine(note, note.message, [paint('bold', plain(formatKind(note.kind)))])}`;
  const shown = cut(line, width - widthOf(end));
  return `${shown}${' '.repeat(Number.isFinite(width) ? Math.max(0, width - widthOf(shown) - widthOf(end)) : 1)}${end}`.trimEnd();
}

/**
 * Formats a delivered notification, with a solid bar. A thin bar precedes each row of its text. If the text is shortened, `number`
 * returns its number for `/show`. Without `number`, the whole text is shown.
 */
export function noteLines(note: Notification, width: number, number?: () => number): string[] {
  const bar = DELIVERED();
  const title = `${bar} ${level(note.level)} ${paint('bold', plain(formatKind(note.kind)))}`;
  const facts = factsOf(note).join(', ');
  const head = facts === '' ? title : `${title}, ${facts}`;
  const partOf = (body: string): { readonly text: string; readonly short: boolean } =>
    number === undefined ? { text: body.trimEnd(), short: false } : shortened(body);
  const { text, short } = partOf(note.message);
  const instruction = note.instruction === undefined ? undefined : partOf(note.instruction);
  const hang = `${bar} ${BAR} `;
  // The first line follows the head if there is room for a few words.
  const beside = width - widthOf(head) - 3 >= 24;
  const lines = beside
    ? besideHead(text, width, `${head} ${BAR} `, hang)
    : [
        ...(widthOf(head) <= width ? [head] : [cut(title, width), ...(facts === '' ? [] : wrapAll(facts, width, `${bar}   `))]),
        ...wrapAll(text, width, hang),
      ];
  if (instruction !== undefined) lines.push(...wrapAll(instruction.text, width, `${bar} → ${BAR} `, `${bar}   ${BAR} `));
  if ((short || instruction?.short) && number !== undefined) lines.push(`${bar}   ${paint('dim', `… /show ${number()}`)}`);
  return lines;
}

function besideHead(text: string, width: number, head: string, hang: string): string[] {
  const [first = '', ...others] = text.split('\n');
  // The first row is shorter, because the head precedes it. The remaining text of the line is wrapped to the full width.
  const [row = '', ...more] = wrapAll(first, width, head, head);
  const rest = more.map((each) => each.slice(head.length)).join(' ');
  return [
    row,
    ...(rest === '' ? [] : wrapAll(rest, width, hang)),
    ...(others.length === 0 ? [] : wrapAll(others.join('\n'), width, hang)),
  ];
}

/** Formats how the notifications were delivered (`on`), and how long the oldest notification waited. */
export const rodeLine = (on: string, waitedMs: number | undefined, count: number, width: number, show?: number): string =>
  cut(
    `${DELIVERED()}   ${paint('dim', `${on}${waitedMs === undefined ? '' : ` · ${count > 1 ? 'the oldest ' : ''}${seconds(waitedMs)} after it was queued`}${show === undefined ? '' : ` · /show ${show}`}`)}`,
    width,
  );

export function shortened(text: string): { readonly text: string; readonly short: boolean } {
  const lines = text.trimEnd().split('\n');
  const few = lines.slice(0, NOTE_LINES).join('\n');
  const points = [...few];
  const short = lines.length > NOTE_LINES || points.length > NOTE_CHARS;
  return { text: points.length > NOTE_CHARS ? `${points.slice(0, NOTE_CHARS - 1).join('')}…` : few, short };
}

export function seconds(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 120) return `${s} s`;
  return s < 7_200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`;
}
