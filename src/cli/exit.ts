import { EarpieceError, type ErrorCode } from '../core/errors.ts';

/** The exit codes, which `earpiece help exit-codes` prints. */
export const EXIT = {
  ok: { code: 0, means: 'done' },
  failed: { code: 1, means: 'something unexpected happened; EARPIECE_DEBUG=1 shows the stack trace' },
  usage: {
    code: 2,
    means: 'the command, an option, an address or a file is invalid, or is not allowed for an agent; nothing was changed',
  },
  waited: { code: 3, means: 'the time of --timeout has passed' },
  ended: {
    code: 4,
    means: 'the notification has already ended in another way than requested (delivered, withdrawn, expired, filtered …)',
  },
  nobody: { code: 5, means: 'no conversation can receive the notification, or no subscriber acted on an event' },
  store: { code: 6, means: 'the database cannot be used now' },
  missing: { code: 7, means: 'the named thing (a notification, an agent, a file, a database …) does not exist' },
  problems: { code: 8, means: 'a check found problems' },
  truncated: { code: 9, means: "the model's answer reached its limit of output tokens and is cut off" },
  refused: { code: 10, means: 'the model, or a filter of its provider, refused to answer' },
  upstream: { code: 11, means: 'a server or another program did not answer, is not signed in, or refused the request' },
  conflict: {
    code: 12,
    means: 'existing data does not allow the change, or another process keeps changing the data; nothing was changed',
  },
  timedOut: { code: 124, means: 'run-and-tell ended its command after the time of --timeout' },
  notStarted: { code: 126, means: 'the command of run-and-tell, follow or in cannot be started' },
  noCommand: { code: 127, means: 'the command of run-and-tell, follow or in does not exist' },
  stopped: { code: 130, means: 'Ctrl+C stopped a turn; for other signals, the code is 128 plus the number of the signal' },
} as const;

/** The exit code for each code of an error. */
export const BY_ERROR: Readonly<Record<ErrorCode, number>> = {
  bad_address: EXIT.usage.code,
  bad_notification: EXIT.usage.code,
  bad_event: EXIT.usage.code,
  bad_subscriber: EXIT.usage.code,
  bad_config: EXIT.usage.code,
  bad_argument: EXIT.usage.code,
  bad_frame: EXIT.usage.code,
  not_trusted: EXIT.usage.code,
  not_found: EXIT.missing.code,
  conflict: EXIT.conflict.code,
  nobody_there: EXIT.nobody.code,
  store_unavailable: EXIT.store.code,
  store_refused: EXIT.store.code,
  store_corrupt: EXIT.store.code,
  store_full: EXIT.store.code,
  upstream: EXIT.upstream.code,
  timeout: EXIT.waited.code,
};

export const exitCodeOf = (error: unknown): number => (error instanceof EarpieceError ? BY_ERROR[error.code] : EXIT.failed.code);
