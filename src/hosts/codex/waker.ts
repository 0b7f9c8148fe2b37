/**
 * Wakes an idle Codex terminal: `codex queue` puts a message into the session's queue, which the terminal polls every 10 s.
 * Measured with 0.169: a person's unsent draft does not delay the message, and `codex exec` never reads its queue.
 */
import type { Process } from '../../inbox/index.ts';
import type { Waker } from '../host.ts';
import { isIdle } from './rollout.ts';

/** Matches commands of Codex that have no terminal to read the queue. */
const WITHOUT_TERMINAL = /^(exec|e|review|app-server|mcp-server)$/;

export const waker: Waker = {
  wakes: ({ args }: Process): boolean => !args.slice(1).some((arg) => WITHOUT_TERMINAL.test(arg)),
  isIdle: (transcript) => isIdle(transcript) ?? false,
  command: ({ args }, session, message) => [args[0] ?? 'codex', 'queue', '--thread', session, '--message', message],
};
