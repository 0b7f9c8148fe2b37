/**
 * `earpiece in -- <agent>`: runs a coding agent in a terminal of Earpiece, for hosts that have hooks but cannot be woken. If a
 * notification may wake the idle agent, this process types one line, and the agent's prompt hook delivers the notification. The
 * line is typed only while the agent waits for its user. If the user has pressed a key during this wait, or if the input box
 * contains unsent text, only the bell rings.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { openInbox, type UserInbox } from '../user-inbox.ts';
import { HOOK_HOSTS, isWoken, NUDGE, PLUGIN_HOSTS, stateIn, TERMINAL_VARIABLE, wakesOf } from '../hosts/index.ts';
import { exitCodeOf, run } from '../sources/processes/index.ts';
import type { GlobalOptions } from './context.ts';
import { Draft } from './draft.ts';
import { NudgeLine } from './nudge-line.ts';
import { complain } from './terminal.ts';
import { addPackages } from '../input/add-package.ts';

const BELL = '\u0007';
/** The minimum time between two rings of the bell. */
const BELL_EVERY_MS = 60_000;
/** The time after a turn during which nothing is typed, because the person may be about to send the next line. */
const SETTLED_MS = 500;
/**
 * The maximum time from an Enter to the beginning of the turn, in ms. This time includes the start of the prompt hook on a busy
 * machine.
 */
const TURN_WITHIN_MS = 4_000;
/** The maximum number of times that Enter is pressed for one line. */
const MAX_ENTERS = 3;

/** Runs the agent, and resolves with its exit code. */
export async function runIn(words: readonly string[], options: GlobalOptions): Promise<number> {
  const [command = '', ...args] = words;
  const host = [...HOOK_HOSTS, ...PLUGIN_HOSTS].find(({ name }) => name === basename(command));
  if (host !== undefined && isWoken(host))
    complain(`the hooks or the plugin that earpiece install adds wake ${host.title}, so earpiece in types nothing`);
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-in-'));
  const file = join(folder, 'state');
  const ended = new AbortController();
  let pressedAt = 0;
  const draft = new Draft();
  let line: NudgeLine | undefined;
  let nudging: Promise<void> = Promise.resolve();
  try {
    const outcome = await run({
      command,
      args,
      cwd: process.cwd(),
      env: { ...process.env, [TERMINAL_VARIABLE]: file },
      stdout: process.stdout,
      stderr: process.stderr,
      endsWithCaller: true,
      wrote: () => {},
      keyPressed: (keys) => {
        pressedAt = performance.timeOrigin + performance.now();
        draft.press(keys);
        return line?.keeps(keys) === true ? 'held' : undefined;
      },
      withoutTerminal: () =>
        complain(
          `an idle agent is not woken, because the package @lydell/node-pty is missing; run: ${addPackages(['@lydell/node-pty'])}`,
        ),
      started: (_signal, type) => {
        if (type === undefined) return;
        line = new NudgeLine((keys) => ended.signal.aborted || type(keys));
        nudging = nudge({ file, line, isTouched: (since) => pressedAt >= since || draft.isOpen, signal: ended.signal, options });
      },
    });
    if (outcome.kind === 'not_started') complain(`${command}: ${outcome.reason}`);
    return exitCodeOf(outcome);
  } finally {
    ended.abort();
    await nudging;
    rmSync(folder, { recursive: true, force: true });
  }
}

type Nudging = {
  readonly file: string;
  readonly line: NudgeLine;
  /** Whether the person has pressed a key since the time `since`, in epoch ms, or has unsent text in the input box. */
  readonly isTouched: (since: number) => boolean;
  readonly signal: AbortSignal;
  readonly options: GlobalOptions;
};

/** Wakes the agent whenever a notification may wake it, until `signal` aborts. */
async function nudge(nudging: Nudging): Promise<void> {
  const { options, signal } = nudging;
  try {
    await using ear = await openInbox({ ...(options.db === undefined ? {} : { flags: { db: options.db } }), thread: true });
    const looker: Looker = { bell: new Bell(), line: undefined };
    for (let head = await ear.store.head(); !signal.aborted;) {
      await look(ear, nudging, looker);
      head = await ear.store.changed(head, { signal, withinMs: 1_000 });
    }
  } catch {
    // After an error, the agent continues without being woken.
  }
}

/** A typed line that may still be in the agent's input box. `idleAt`: when the agent became idle, in epoch ms. */
type TypedLine = { readonly idleAt: number; readonly enters: number; readonly enteredAt: number };
type Looker = { readonly bell: Bell; line: TypedLine | undefined };

async function look(ear: UserInbox, nudging: Nudging, looker: Looker): Promise<void> {
  const { file, line, isTouched } = nudging;
  const { bell } = looker;
  const known = stateIn(file);
  if (known === undefined || known.state === 'over') return;
  const isSame = (): boolean => stateIn(file)?.at === known.at;
  const isIdle = (): boolean => known.state === 'idle' && isSame() && !isTouched(known.at) && Date.now() - known.at >= SETTLED_MS;
  if (looker.line !== undefined && known.state === 'idle' && known.at === looker.line.idleAt) {
    // No turn has begun, so the input box may still contain the line. A second line would be added to the first.
    if (performance.now() - looker.line.enteredAt < TURN_WITHIN_MS) return;
    if (!isIdle() || looker.line.enters === MAX_ENTERS) return bell.ring();
    looker.line = { ...looker.line, enters: looker.line.enters + 1, enteredAt: performance.now() };
    if ((await line.enter()) === 'erased') bell.ring();
    return;
  }
  looker.line = undefined;
  const wakes = await wakesOf(ear.conversation({ log: known.log, conversation: known.conversation }));
  if (wakes.length === 0) return;
  if (!isIdle()) {
    if (known.state === 'idle' && isTouched(known.at)) bell.ring();
    return;
  }
  const { log, conversation } = known;
  await ear.store.append(log, [{ type: 'agent_woken', conversation, ids: wakes }]);
  // The person may have begun to type during the write.
  if (!isIdle()) return bell.ring();
  looker.line = { idleAt: known.at, enters: 1, enteredAt: performance.now() };
  if ((await line.send(NUDGE, { isReady: isSame, isTaken: () => !isSame() })) === 'erased') bell.ring();
}

class Bell {
  #rangAt = Number.NEGATIVE_INFINITY;

  ring(): void {
    if (performance.now() - this.#rangAt < BELL_EVERY_MS) return;
    this.#rangAt = performance.now();
    process.stdout.write(BELL);
  }
}
