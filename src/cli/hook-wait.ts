/**
 * `earpiece hook <host> --wait`: the host starts this process in the background when its agent becomes idle. When the process
 * ends with code 2, the host wakes the agent. The process may wait for days, so it loads as little as a hook call without an
 * answer. Four times a second, the process looks at two files of the database. If the open notifications of this session have
 * changed, a separate process checks whether these notifications may wake the agent. While the agent works, no such process
 * starts.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stateFolder, type Env } from '../config/places.ts';
import { isAlive, selfOwner, systemProcesses, type Process } from '../inbox/presence/processes.ts';
import { conversationOfSession } from '../inbox/presence/session-id.ts';
import { isIdle, waiterFile, waitersIn } from '../hosts/claude/working.ts';
import { makeFolders } from '../input/folders.ts';
import { openMark } from '../stores/sqlite/glance.ts';
import { hookAnswers } from './hook-answers.ts';
import { databaseOf } from './hook-glance.ts';
import { inputAtOnce, type HookInput } from './hook-input.ts';

/** The exit code that makes the host wake its agent. */
export const WAKES = 2;
/** The exit code of `--look` if the wait is over, usually because the agent has exited. */
export const OVER = 3;
const LOOK_EVERY_MS = 250;
const ALIVE_EVERY_MS = 1_000;
/** How often the process checks whether a working agent with an open notification has become idle, in ms. */
const WORKING_EVERY_MS = 1_000;
/**
 * How often the process checks the notifications, in ms, if it does not know the file of the database, which would show changes.
 */
const BLIND_EVERY_MS = 5_000;
/**
 * How long after its start the process ignores the code `OVER`, in ms. The hooks of one event run in parallel, so the hook that
 * binds a new session may end after this hook began.
 */
const BOUND_WITHIN_MS = 10_000;

/**
 * Waits for a reason to wake the agent, and sets the exit code. Never throws: after an error the agent is not woken, and its next
 * prompt carries the notifications.
 */
export async function wait(words: readonly string[], env: Env): Promise<void> {
  try {
    const input = inputAtOnce();
    const host = systemProcesses.get(Number(env['CLAUDE_PID']));
    if (input === undefined || host === undefined || isOneShot(host, env)) return;
    // After a compaction, the agent may still be working, and an earlier process may already wait.
    if (input['source'] === 'compact') return;
    if (env['EARPIECE_HANDLE'] && !(await isInCommand(host))) {
      process.stderr.write(
        `earpiece: hook --wait: process ${host.pid} (CLAUDE_PID) does not run in the command that runs this hook, so the hook does not wait. Everything else keeps working\n`,
      );
      return;
    }
    hookAnswers(await waitFor(input, host, { words, env }));
  } catch (error) {
    process.stderr.write(`earpiece: hook --wait: ${String(error)}; the idle agent is not woken; everything else keeps working\n`);
  }
}

/**
 * Whether the host has no idle agent: `claude -p`, or a program that runs Claude Code by its SDK. Such a host would not end
 * before this process.
 */
const isOneShot = ({ args }: Process, env: Env): boolean =>
  args.some((arg) => arg === '-p' || arg === '--print') || env['CLAUDE_CODE_ENTRYPOINT']?.startsWith('sdk') === true;

/** Whether the host runs inside the command of an agent that runs this process. */
async function isInCommand({ pid }: Process): Promise<boolean> {
  const { ancestorsInCommand } = await import('../inbox/producing/inside.ts');
  return ancestorsInCommand().some((each) => each.pid === pid);
}

async function waitFor(input: HookInput, host: Process, given: { words: readonly string[]; env: Env }): Promise<number> {
  const { words, env } = given;
  const owner = { machine: systemProcesses.machine, pid: host.pid, startedAt: host.startedAt };
  const option = words.indexOf('--db');
  const path = databaseOf(option < 0 ? env['EARPIECE_DB'] : words[option + 1], env, String(input['cwd']));
  const conversation = conversationOfSession(String(input['session_id']));
  const lines = words.filter((word) => word !== '--wait');
  using place = takePlace(env, host);
  let [files, mark, dueAt, aliveAt] = ['', '', 0, 0];
  const began = Date.now();
  const about = { since: performance.timeOrigin, transcript: input['transcript_path'] };
  let stopped = false;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => (stopped = true));
  while (!stopped && place.isMine()) {
    const now = Date.now();
    if (now - aliveAt >= ALIVE_EVERY_MS) {
      if (isAlive(owner) === false) return 0;
      aliveAt = now;
    }
    const changed = path === undefined ? '' : changeOf(path);
    if (changed !== files || now >= dueAt) {
      const open = path === undefined ? undefined : openMark({ path, process: owner, conversation });
      const isNews = open === undefined || (open !== '' && open !== mark);
      const isDue = open !== '' && now >= dueAt;
      if ((isNews || isDue) && !isIdle(stateFolder({ env }), host, about)) {
        // `mark` stays unchanged, so the next check finds the notifications again.
        [files, dueAt] = [changed, now + WORKING_EVERY_MS];
        await sleep(LOOK_EVERY_MS);
        continue;
      }
      if (isNews || isDue) {
        const { code, nextAt } = await look(lines, input);
        if (code === WAKES) return WAKES;
        const mayBeBound = now - began < BOUND_WITHIN_MS;
        if (code === OVER && !mayBeBound) return 0;
        dueAt = code === OVER ? now + ALIVE_EVERY_MS : (nextAt ?? Number.POSITIVE_INFINITY);
      } else if (now >= dueAt) dueAt = Number.POSITIVE_INFINITY;
      [files, mark] = [changed, open ?? ''];
      if (path === undefined) dueAt = Math.min(dueAt, now + BLIND_EVERY_MS);
    }
    await sleep(LOOK_EVERY_MS);
  }
  return 0;
}

/** Returns a text that changes with each commit of any process. */
function changeOf(path: string): string {
  return [path, `${path}-wal`]
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((about) => (about === undefined ? '' : `${about.ino} ${about.size} ${about.mtimeMs}`))
    .join(' ');
}

/** Starts `earpiece hook --look`, which checks once and prints the text for the agent on this process's stderr. */
async function look(
  words: readonly string[],
  input: HookInput,
): Promise<{ readonly code: number | null; readonly nextAt?: number | undefined }> {
  const child = spawn(process.execPath, [...process.execArgv, process.argv[1] ?? '', 'hook', ...words, '--look'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin.on('error', () => {}).end(JSON.stringify(input));
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  const nextAt = Number(said.trim());
  return { code, nextAt: said.trim() !== '' && Number.isFinite(nextAt) ? nextAt : undefined };
}

/** Makes this process the only waiter of its host process. An earlier waiter is replaced, even if its session has ended. */
function takePlace(env: Env, host: Process): Disposable & { isMine(): boolean } {
  const folder = waitersIn(stateFolder({ env }));
  makeFolders(folder);
  // A waiter that was killed has left its file.
  for (const name of readdirSync(folder))
    if (systemProcesses.get(Number(name.split('-')[0])) === undefined) rmSync(join(folder, name), { force: true });
  const file = waiterFile(stateFolder({ env }), host);
  const me = JSON.stringify(selfOwner());
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, me, { mode: 0o600 });
  renameSync(draft, file);
  const isMine = (): boolean => {
    try {
      return readFileSync(file, 'utf8') === me;
    } catch {
      return false;
    }
  };
  return {
    isMine,
    [Symbol.dispose]: () => {
      if (isMine()) rmSync(file, { force: true });
    },
  };
}
