/** The front of a conversation: a terminal, a pipe, or another program. */
import type { Session } from './session.ts';

export interface Front {
  /** Shows a person a line about events outside of the conversation. May be called before `run`. */
  note(line: string): void;
  /** The agent sends its user a message during its work. */
  told(message: string): void;
  /** Something in the background began or ended. */
  handles(): void;
  /**
   * Runs the conversation to its end, and resolves with the exit code. `first` is sent at once, unless it is empty. The caller
   * closes the session.
   */
  run(session: Session, first: string): Promise<number>;
}
