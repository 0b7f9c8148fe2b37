/**
 * Codex's file of a session, `sessions/<date>/rollout-<time>-<session>.jsonl`. Measured with 0.169: a turn is between
 * `task_started` and `task_complete` or `turn_aborted`, and both are in it at once.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** What belongs to the newest turn is at the end; a single result can be long. */
const TAIL_BYTES = 1024 * 1024;
const TURN = /"type":"(task_started|task_complete|turn_aborted)"/;

/** Whether the session waits for its person. Undefined: the file does not say. */
export function isIdle(file: string): boolean | undefined {
  const lines = tailOf(file)?.split('\n') ?? [];
  for (const line of lines.toReversed()) {
    if (!line.includes('"type":"event_msg"')) continue;
    const type = TURN.exec(line)?.[1];
    if (type !== undefined) return type !== 'task_started';
  }
  return undefined;
}

function tailOf(file: string): string | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(file, 'r');
    const { size } = fstatSync(opened);
    const from = Math.max(0, size - TAIL_BYTES);
    const bytes = Buffer.alloc(size - from);
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, bytes.length, from));
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
