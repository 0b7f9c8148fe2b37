/**
 * How an idle Codex terminal is woken: `codex queue` puts a message into the session's queue, and the terminal takes it within the
 * 10 s of its poll. Measured with 0.169: a draft of the person does not stop it, and the queue of `codex exec` is lost.
 */
import type { Process } from '../../inbox/index.ts';
import type { Waker } from '../host.ts';
import { isIdle } from './rollout.ts';

/** Commands of Codex without a terminal that reads its queue. */
const WITHOUT_TERMINAL = /^(exec|e|review|app-server|mcp-server)$/;

export const waker: Waker = {
  wakes: ({ args }: Process): boolean => !args.slice(1).some((arg) => WITHOUT_TERMINAL.test(arg)),
  isIdle: (transcript) => isIdle(transcript) ?? false,
  command: ({ args }, session, message) => [args[0] ?? 'codex', 'queue', '--thread', session, '--message', message],
};
