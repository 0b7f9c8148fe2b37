/** Starts and runs the process that waits during a session of a coding agent and wakes the agent: see `hosts/waiter.ts`. */
import { execFile, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Owner } from '../core/records.ts';
import { openInbox } from '../user-inbox.ts';
import { isWaitedFor, NUDGE, waitFor, type Caller, type HookHost } from '../hosts/index.ts';
import { systemProcesses, type Conversation } from '../inbox/index.ts';
import type { GlobalOptions } from './context.ts';

/** The message from the hook to the process that waits. */
type Wait = { readonly address: string; readonly session: string; readonly host: Owner; readonly transcript: string };

/** The maximum time for the command that wakes the host. The command only writes to a queue, so it is fast. */
const WAKES_WITHIN_MS = 30_000;

/** Starts the process for this session, unless such a process already runs. The process continues when the hook has ended. */
export async function startWaiter(
  host: HookHost,
  conversation: Conversation,
  caller: Caller,
  { db }: GlobalOptions,
): Promise<void> {
  const { process: owner, session, transcript, folder } = caller;
  const known = owner === undefined ? undefined : systemProcesses.get(owner.pid);
  if (host.waker === undefined || owner === undefined || transcript === undefined || known === undefined) return;
  if (!host.waker.wakes(known) || (await isWaitedFor(conversation))) return;
  const wait: Wait = { address: conversation.address, session, host: owner, transcript };
  const entry = process.argv[1] ?? fileURLToPath(new URL('./main.ts', import.meta.url));
  const words = ['hook', host.name, ...(db === undefined ? [] : ['--db', db]), '--beside', JSON.stringify(wait)];
  const child = spawn(process.execPath, [entry, ...words], { cwd: folder, detached: true, stdio: 'ignore' });
  child.on('error', () => {}).unref();
}

export async function runWaiter(host: HookHost, given: string, { db }: GlobalOptions): Promise<void> {
  const { address, session, host: owner, transcript } = JSON.parse(given) as Wait;
  const known = systemProcesses.get(owner.pid);
  const { waker } = host;
  if (waker === undefined || known === undefined) return;
  await using ear = await openInbox({ ...(db === undefined ? {} : { flags: { db } }), thread: true });
  const [command = '', ...args] = waker.command(known, session, NUDGE);
  await waitFor({
    conversation: ear.conversation(address, { host: host.agent, points: host.points }),
    host: owner,
    isIdle: () => waker.isIdle(transcript),
    wake: async () => void (await promisify(execFile)(command, args, { timeout: WAKES_WITHIN_MS })),
  });
}
