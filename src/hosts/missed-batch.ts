/**
 * Detects a missed batch end. If a host calls the running MCP server at the end of a batch, that server may be missing: it
 * died, was denied, or starts late. The hook before a tool is a separate process. It notes that a notification waits. If it
 * finds the note again, no batch end has delivered the notification, and the hook delivers it. A note is an empty file; its
 * time is the start of the wait.
 */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { conversationOfSession } from '../inbox/index.ts';
import { quietFolder } from './quiet-mark.ts';

/** The calls of one batch follow each other faster. */
const SAME_BATCH_MS = 1_000;

export class MissedBatch {
  readonly #file: string;

  /** `state`: the state folder. */
  constructor(state: string, session: string) {
    this.#file = join(quietFolder(state), `${conversationOfSession(session)}.waits`);
  }

  /** Something waits now. True: it waited before, and no batch end came. */
  waited(now = Date.now()): boolean {
    try {
      const since = statSync(this.#file, { throwIfNoEntry: false })?.mtimeMs;
      if (since !== undefined) return Math.abs(now - since) > SAME_BATCH_MS;
      mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      writeFileSync(this.#file, '', { mode: 0o600 });
      return false;
    } catch {
      // Without a note nobody knows: a repeated look is better than silence.
      return true;
    }
  }

  /** A batch end came, or nothing waits. Never throws. */
  ended(): void {
    try {
      rmSync(this.#file, { force: true });
    } catch {
      // Then the next tool carries, a moment earlier.
    }
  }
}
