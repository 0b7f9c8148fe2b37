/**
 * Reads Codex's transcript of a session, `sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl`. Measured with 0.169: a
 * turn is between `task_started` and `task_complete` or `turn_aborted`, and a hook's context is a developer message. All of these
 * entries are in the file when the next request is sent.
 */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tailOf, transcriptOf, type Entry } from '../transcript.ts';

const TURN = /"type":"(task_started|task_complete|turn_aborted)"/;
const INTERRUPTED = '"reason":"interrupted"';
/**
 * The number of day folders, from the newest, in which a session's file is searched. The file is in the folder of the day on
 * which the session began.
 */
const DAYS = 4;

export const transcript = transcriptOf({ isGiven, ofSession });

/**
 * Whether the session waits for its person and sends a queued line; undefined if the file does not show the state. After a turn
 * that the person interrupted, Codex holds its queue until the next turn.
 */
export function isIdle(file: string): boolean | undefined {
  const lines = tailOf(file)?.split('\n') ?? [];
  for (const line of lines.toReversed()) {
    if (!line.includes('"type":"event_msg"')) continue;
    const type = TURN.exec(line)?.[1];
    if (type !== undefined) return type === 'task_complete' || (type === 'turn_aborted' && !line.includes(INTERRUPTED));
  }
  return undefined;
}

function isGiven({ type, payload }: Entry): boolean {
  if (type !== 'response_item') return false;
  const item = (payload ?? {}) as Entry;
  return item['type'] === 'message' ? item['role'] !== 'assistant' : String(item['type']).endsWith('_output');
}

/**
 * Returns the path of another session's file. If the `DAYS` newest day folders have no file of the session, the path does not
 * exist.
 */
function ofSession(file: string, session: string): string {
  const root = dirname(dirname(dirname(dirname(file))));
  const days = ofNames(root).flatMap((year) =>
    ofNames(join(root, year)).flatMap((month) => ofNames(join(root, year, month)).map((day) => join(root, year, month, day))),
  );
  const found = days
    .toSorted()
    .slice(-DAYS)
    .flatMap((day) => ofNames(day).flatMap((name) => (name.endsWith(`-${session}.jsonl`) ? [join(day, name)] : [])));
  return found.at(-1) ?? join(dirname(file), `${session}.jsonl`);
}

function ofNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
