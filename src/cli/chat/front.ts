/** What a conversation is led through: a terminal, a pipe, or another program. */
import type { Session } from './session.ts';

export interface Front {
  /** What a person should know of what goes on beside the conversation. May be called before `run`. */
  note(line: string): void;
  /** The agent tells its user something in the middle of its work. */
  told(message: string): void;
  /** Something in the background began or ended. */
  handles(): void;
  /** Leads the conversation to its end, and resolves with the exit code. `first` is said at once, where it is not empty. The session is closed by the caller. */
  run(session: Session, first: string): Promise<number>;
}
