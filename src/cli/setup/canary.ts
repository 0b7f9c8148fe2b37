/**
 * Tests a hook. The test queues a random word in a separate database, and runs the hook command from the agent's settings. The
 * hook's answer must contain the word.
 */
import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLoadedInbox } from '../../loaded-inbox.ts';
import type { HookHost, Host, Moment } from '../../hosts/index.ts';
import { partsOfLine } from '../../hosts/setup/index.ts';
import { quote } from '../../hosts/setup/ours.ts';

export type Proof =
  /**
   * The hook's answer contains the word. `allowed` is the time that the agent waits, in milliseconds, and is set only if the hook
   * took longer.
   */
  | { readonly kind: 'heard'; readonly event: string; readonly ms: number; readonly allowed?: number }
  | { readonly kind: 'deaf'; readonly event: string; readonly why: string };

/** A hook of the host. A hook without a command is a call of Earpiece's MCP server, which cannot be tested here. */
type Hook = { readonly event: string; readonly command?: string };

/** The maximum time of one try, in ms: longer than any host waits, so that a slow hook is not reported as broken. */
export const LIMIT_MS = 30_000;
/** The maximum number of tries: on a busy machine, a working hook may stop waiting for its database after 250 ms. */
const TRIES = 3;

/** Formats the time that the hook took, and says if the agent would not have waited that long. */
export const duration = ({ ms, allowed }: Extract<Proof, { kind: 'heard' }>): string =>
  allowed === undefined ? `${ms} ms` : `${ms} ms, but the agent waits only ${allowed} ms: this machine is busy`;

/**
 * Tests the main hook of a host. `given` are the environment variables that the host sets for its hooks. Returns undefined if no
 * hook can carry a notification.
 */
export async function canary(
  host: HookHost,
  hooks: readonly Hook[],
  given: Readonly<Record<string, string>> = {},
): Promise<Proof | undefined> {
  const found = carrying(host, hooks);
  return found === undefined ? undefined : tried(host, (at) => once(host, found, { ...at, env: { ...at.env, ...given } }));
}

/** The word of a test, queued for the host in the database that `env` names. `folder` is deleted afterwards. */
type Word = { readonly word: string; readonly folder: string; readonly env: Readonly<Record<string, string>> };

/** Repeats a test with a new word, until a word arrives or the last try has failed. */
export async function tried(host: Host, listen: (at: Word) => Promise<Proof>): Promise<Proof> {
  for (let tries = 1; ; tries++) {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-canary-')));
    try {
      const word = `canary-${randomBytes(6).toString('hex')}`;
      const env = environment(folder, host);
      {
        await using ear = await openLoadedInbox({ db: databaseIn(folder), cwd: folder, env });
        await ear.queue(env['EARPIECE_ADDRESS'] ?? '', { message: word, kind: 'earpiece.canary' });
      }
      const proof = await listen({ word, folder, env });
      if (proof.kind === 'heard' || tries === TRIES) return proof;
    } finally {
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

export const databaseIn = (folder: string): string => join(folder, 'canary.db');

/** Finds the main hook that can carry a notification. */
const carrying = (host: HookHost, hooks: readonly Hook[]): Required<Hook> | undefined =>
  hooks
    .flatMap(({ event, command }) => (command === undefined ? [] : [{ event, command }]))
    .map((hook) => ({ hook, rank: rankOf(momentOf(host, inputOf(hook.event, tmpdir()))) }))
    .filter(({ rank }) => rank >= 0)
    .toSorted((a, b) => a.rank - b.rank)[0]?.hook;

async function once(host: HookHost, { event, command }: Required<Hook>, { word, folder, env }: Word): Promise<Proof> {
  const started = performance.now();
  const { code, stdout, stderr } = await ran(elsewhere(command, folder), JSON.stringify(inputOf(event, folder)), { folder, env });
  const ms = Math.round(performance.now() - started);
  const allowed = (host.events[event]?.timeoutS ?? 10) * 1_000;
  if (stdout.includes(word)) return { kind: 'heard', event, ms, ...(ms > allowed ? { allowed } : {}) };
  return { kind: 'deaf', event, why: whyDeaf(code, stderr) };
}

/** Describes the end of a process that did not print the word. `code`: undefined if the process did not end in time. */
export function whyDeaf(code: number | undefined, stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const said = lines.find((line) => /^(?:\w*Error|earpiece):/u.test(line)) ?? lines[0] ?? '';
  const ended = code === undefined ? `did not end within ${LIMIT_MS / 1_000} s` : `ended with exit code ${code}`;
  return `${ended}${said === '' ? ' and carried nothing' : `: ${said.slice(0, 300)}`}`;
}

/** Replaces the database that the command names, if it names one, by a database in `folder`, which is deleted afterwards. */
function elsewhere(command: string, folder: string): string {
  const { db } = partsOfLine(command);
  return db === undefined ? command : command.replaceAll(`--db ${quote(db)}`, `--db ${quote(databaseIn(folder))}`);
}

/**
 * Returns the user's environment, changed for the test. The variables that assign this process to an agent or a database are
 * removed. The address, the database and the folders of the test are added.
 */
function environment(folder: string, host: Host): Record<string, string> {
  const own = Object.entries(process.env).flatMap(([name, value]) =>
    value === undefined || /^(?:EARPIECE_|CLAUDE|CODEX_|GEMINI_|QWEN_)/u.test(name) ? [] : [[name, value] as const],
  );
  return {
    ...Object.fromEntries(own),
    EARPIECE_DB: databaseIn(folder),
    EARPIECE_ADDRESS: `canary/${host.agent}`,
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CONFIG_HOME: join(folder, 'config'),
  };
}

/** Makes the input of a hook, with the fields of all hosts. */
const inputOf = (event: string, folder: string): Readonly<Record<string, unknown>> => ({
  session_id: SESSION,
  conversation_id: SESSION,
  hook_event_name: event,
  cwd: folder,
  workspace_roots: [folder],
  transcript_path: join(folder, 'transcript.jsonl'),
  prompt: 'canary',
  tool_name: 'Bash',
  tool_input: { command: 'true' },
  tool_response: { stdout: '', stderr: '' },
  tool_use_id: 'canary',
  tool_calls: [{ tool_name: 'Bash', tool_input: { command: 'true' }, tool_use_id: 'canary', tool_response: '' }],
});

export const SESSION = randomUUID();
/** The moments at which a hook can carry notifications, the main moment first. */
const CARRYING: readonly Moment['kind'][] = ['batch_end', 'after_tool', 'prompt'];

const rankOf = (moment: Moment['kind'] | undefined): number => (moment === undefined ? -1 : CARRYING.indexOf(moment));

function momentOf(host: HookHost, input: Readonly<Record<string, unknown>>): Moment['kind'] | undefined {
  try {
    const moment = host.parse(input)?.moment;
    return moment?.kind === 'after_tool' && moment.takesNoText ? undefined : moment?.kind;
  } catch {
    return undefined;
  }
}

type Ran = { readonly code: number | undefined; readonly stdout: string; readonly stderr: string };

function ran(
  command: string,
  input: string,
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd: folder, env, stdio: 'pipe' });
    const said = { stdout: '', stderr: '' };
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, LIMIT_MS);
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said.stderr += text));
    child.stdin.on('error', () => {}).end(input);
    child.once('error', (error) => (said.stderr += error.message));
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve({ code: late ? undefined : (code ?? -1), ...said });
    });
  });
}
