/** Makes the events about a conversation: its resumption, the beginning and the end of its turns, and its end. */
import { defined } from '../../core/defined.ts';
import { isType, type Draft } from '../../core/records.ts';
import { cut, plainNumber, seen, type Seen } from './seen.ts';

const QUESTION_CHARS = 100;
const QUERY_CHARS = 200;

/**
 * Returns the events for a conversation that opens with these records; a new conversation has no events. `session` is the address
 * of the conversation.
 */
export function resumed(records: readonly Draft[], session: string): readonly Seen[] {
  const asked = records.flatMap((record) => (isType(record, 'chat_request') ? [record] : []));
  if (asked.length === 0) return [];
  const last = asked.findLast(({ source }) => source !== 'system');
  const question = last === undefined ? undefined : cut(last.content, QUESTION_CHARS);
  return [
    seen(
      `This conversation is resumed, with ${plainNumber(records.length)} records${question === undefined ? '' : `; the last question was: ${question}`}`,
      {
        type: 'session.resumed',
        severity: 'info',
        key: `session.resumed:${session}`,
        supersede: true,
        data: {
          tree_id: session,
          session_id: session,
          nodes_loaded: records.length,
          ...defined({ last_question: question }),
        },
      },
    ),
  ];
}

export const queried = (query: string, session: string, by: 'person' | 'notification'): Seen =>
  seen(cut(query, QUERY_CHARS) || 'The turn continues.', {
    type: 'query.start',
    severity: 'info',
    data: { query: cut(query, QUERY_CHARS), session_id: session, by },
  });

export const turnBegan = (turn: number, session: string): Seen =>
  seen(`Turn ${turn} began`, {
    type: 'agent.turn.start',
    severity: 'info',
    data: { turn_number: turn, session_id: session },
  });

export type EndOfTurn = {
  readonly turn: number;
  readonly reason: 'complete' | 'stopped' | 'failed';
  readonly cycles: number;
  readonly toolCalls: number;
  readonly tokens: number;
  readonly error?: string;
};

export const turnEnded = ({ turn, reason, cycles, toolCalls, tokens, error }: EndOfTurn, session: string): Seen =>
  seen(`Turn ${turn} ended: ${reason}${error === undefined ? '' : ` (${cut(error, QUERY_CHARS)})`}`, {
    type: 'agent.turn.end',
    severity: 'info',
    data: {
      turn_number: turn,
      session_id: session,
      reason,
      cycles,
      tool_calls: toolCalls,
      tokens_used: tokens,
      ...(error === undefined ? {} : { error: cut(error, QUERY_CHARS) }),
    },
  });

/** Returns the event for a conversation that was closed, with the number of turns since it was opened. */
export const sessionEnded = (session: string, turns: number): Seen =>
  seen(`The conversation was left after ${plainNumber(turns)} turn${turns === 1 ? '' : 's'}`, {
    type: 'session.end',
    severity: 'info',
    data: { session_id: session, saved: true, turns },
  });
