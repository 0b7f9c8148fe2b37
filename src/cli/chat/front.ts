/** Defines a front, which shows a conversation on a terminal, in a pipe, or to another program. */
import type { Session } from './session.ts';

export interface Front {
  /** Shows a line about events outside of the conversation. May be called before `run`. */
  note(line: string): void;
  /** Shows a message that the agent sends its user during its work. */
  told(message: string): void;
  /** Updates the shown handles when one begins, changes or ends. */
  handles(): void;
  /**
   * Runs the conversation to its end, and resolves with the exit code. `first` is sent to the agent at once, unless it is empty.
   * The caller closes the session.
   */
  run(session: Session, first: string): Promise<number>;
}
