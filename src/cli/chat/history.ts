/** Summarizes a resumed conversation for the person who continues it. */
import { fromRecord, isType, type Draft } from '../../core/records.ts';
import { formatKind } from '../../core/notification.ts';
import { oneLine } from '../foreign.ts';
import { level, paint } from '../terminal.ts';
import { cut } from '../table.ts';
import { said } from './lines.ts';
import { wrapAll } from './wrap.ts';

const TURNS = 3;
const ROWS = 4;

/**
 * Formats the last turns: the person's message, the number of calls, the notifications, and the beginning of the answer. Returns
 * no lines for a new conversation.
 */
export function historyLines(records: readonly Draft[], width: number): string[] {
  const turns = turnsOf(records);
  if (turns.length === 0) return [];
  const shown = turns.slice(-TURNS);
  const left = turns.length - shown.length;
  return [
    ...(left > 0 ? [paint('dim', `… ${left} earlier ${left === 1 ? 'turn' : 'turns'}`), ''] : []),
    ...shown.flatMap((turn, i) => [...(i > 0 ? [''] : []), ...linesOf(turn, width)]),
  ];
}

/** Lists a person's messages, oldest first, for the prompt's history. */
export const typed = (records: readonly Draft[]): string[] =>
  records.flatMap((record) =>
    isType(record, 'chat_request') && record.source !== 'system' && record.content !== '' ? [record.content] : [],
  );

function turnsOf(records: readonly Draft[]): Draft[][] {
  const turns: Draft[][] = [];
  for (const record of records) {
    if (isType(record, 'turn_start') || turns.length === 0) turns.push([]);
    turns.at(-1)?.push(record);
  }
  return turns.filter((turn) => turn.some((record) => isType(record, 'chat_request')));
}

function linesOf(turn: readonly Draft[], width: number): string[] {
  const requests = turn.flatMap((record) => (isType(record, 'chat_request') ? [record] : []));
  const first = requests[0];
  const calls = turn.filter((record) => isType(record, 'tool_call_request')).length;
  const notes = turn.flatMap((record) =>
    isType(record, 'chat_request') || isType(record, 'tool_call_response') ? (record.notifications ?? []).map(fromRecord) : [],
  );
  const answer = turn.findLast((record) => isType(record, 'chat_response') && (record.message ?? '').trim() !== '');
  const rows = answer !== undefined && isType(answer, 'chat_response') ? wrapAll(answer.message?.trim() ?? '', width) : [];
  return [
    ...(first === undefined
      ? []
      : first.source === 'system'
        ? [paint('dim', 'No person began this turn.')]
        : said(first.content, width).slice(0, ROWS)),
    ...(calls === 0 ? [] : [paint('dim', `⚙ ${calls} ${calls === 1 ? 'call' : 'calls'}`)]),
    ...notes.map((note) =>
      cut(`${paint('yellow', '┃')} ${level(note.level)} ${oneLine(note, note.message, [formatKind(note.kind)])}`, width),
    ),
    ...rows.slice(0, ROWS),
    ...(rows.length > ROWS ? [paint('dim', `… ${rows.length - ROWS} more lines`)] : []),
  ];
}
