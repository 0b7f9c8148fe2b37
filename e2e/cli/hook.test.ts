/** Tests the cost of one hook call when no notification waits: the loaded files, and the cases that need all files. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { begin, selfOwner, type Conversation } from '../../src/inbox/index.ts';
import { WITH_MARK, WITH_TRANSCRIPT } from '../../src/cli/hook-glance.ts';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { HOOK_HOSTS } from '../../src/hosts/index.ts';
import { askedAbout } from '../../src/talk/waiting.ts';
import { proves } from '../verifies.ts';
import { SourceShell } from './shell.ts';

const SRC = new URL('../../src/', import.meta.url).href;
const SHORT_WAY = [
  'cli/hook-glance.ts',
  'cli/hook-guard.ts',
  'cli/hook-input.ts',
  'cli/main.ts',
  'config/places.ts',
  'core/address.ts',
  'core/errors.ts',
  'hosts/quiet-mark.ts',
  'inbox/presence/processes.ts',
  'inbox/presence/session-id.ts',
  'node-version.ts',
  'stores/sqlite/glance.ts',
];

/** Opens a session of this process, in the state after its SessionStart hook. */
async function inSession(use: (session: { shell: SourceShell; conversation: Conversation }) => Promise<void>): Promise<void> {
  await using shell = new SourceShell();
  const ear = await shell.open();
  const [host, log, id] = [selfOwner(), logKey('shop', 'claude-code'), 'session-1' as ConversationId];
  await ear.bind(host, { log, conversation: id });
  const conversation = ear.conversation({ log, conversation: id }, { process: host, host: 'claude-code', carrier: 'hook' });
  await begin(conversation);
  await use({ shell, conversation });
}

type How = {
  readonly host?: string;
  readonly session?: string;
  readonly more?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly options?: readonly string[];
};
type Called = { readonly stdout: string; readonly loaded: readonly string[] };

async function call(
  shell: SourceShell,
  event: string,
  { host = 'claude', session = 'session-1', more = {}, env = {}, options = [] }: How = {},
): Promise<Called> {
  const coverage = join(shell.folder, 'coverage');
  mkdirSync(coverage, { recursive: true });
  const input = {
    hook_event_name: event,
    session_id: session,
    cwd: shell.folder,
    tool_name: 'Bash',
    tool_calls: [],
    transcript_path: join(shell.folder, 'transcript.jsonl'),
    ...more,
  };
  const { code, stdout, stderr } = await shell.run(['hook', host, ...options], {
    input: JSON.stringify(input),
    env: { NODE_V8_COVERAGE: coverage, ...env },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const loaded = readdirSync(coverage).flatMap((file) => {
    const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as { result: readonly { url: string }[] };
    return result.flatMap(({ url }) => (url.startsWith(SRC) ? [url.slice(SRC.length)] : []));
  });
  rmSync(coverage, { recursive: true });
  return { stdout, loaded: [...new Set(loaded)].toSorted() };
}

/** Writes the transcript that shows that the host has passed the hook's output to its model. */
function given(shell: SourceShell, stdout: string): void {
  const attachment = { type: 'hook_additional_context', content: [JSON.parse(stdout) as unknown] };
  appendFileSync(
    join(shell.folder, 'transcript.jsonl'),
    `${JSON.stringify({ type: 'attachment', attachment, timestamp: new Date().toISOString() })}\n`,
  );
}

describe('a hook call', () => {
  proves('hosts:lean');

  it('knows on its fast path each host that has a transcript, and each host that has a quiet mark', () => {
    const hosts = HOOK_HOSTS.filter(({ transcript }) => transcript !== undefined).map(({ name }) => name);
    expect([...WITH_TRANSCRIPT].toSorted()).toEqual(hosts.toSorted());
    const marked = HOOK_HOSTS.filter(({ events }) => Object.values(events).some((event) => event.marked));
    expect(WITH_MARK).toEqual(Object.fromEntries(marked.map(({ name, sessionVariable }) => [name, sessionVariable])));
  });

  it('loads twelve small files and prints nothing if nothing waits', async () => {
    await inSession(async ({ shell }) => {
      for (const event of ['PreToolUse', 'PostToolBatch', 'PostToolUse', 'Stop'])
        expect([event, await call(shell, event)]).toEqual([event, { stdout: '', loaded: SHORT_WAY }]);
    });
  });

  it('takes the fast path in Gemini CLI, and in Qwen Code without a prompt of a person', async () => {
    await inSession(async ({ shell }) => {
      for (const event of ['BeforeTool', 'AfterTool', 'AfterAgent'])
        expect([event, await call(shell, event, { host: 'gemini' })]).toEqual([event, { stdout: '', loaded: SHORT_WAY }]);
      expect(await call(shell, 'UserPromptSubmit', { host: 'qwen', more: { prompt: '' } })).toEqual({
        stdout: '',
        loaded: SHORT_WAY,
      });
      const prompted = await call(shell, 'UserPromptSubmit', { host: 'qwen', more: { submitted_prompt: 'go' } });
      expect(prompted.loaded).toContain('cli/program.ts');
    });
  });

  it('waits with --wait, even after a global option', async () => {
    await inSession(async ({ shell, conversation }) => {
      await conversation.inbox.queue('shop/claude-code', { message: 'the build ended' });
      const event = { hook_event_name: 'UserPromptSubmit', session_id: 'session-1', cwd: shell.folder, prompt: 'go' };
      const input = JSON.stringify(event);
      // The waiting command prints nothing, and ends at once if no process is its host.
      expect(await shell.run(['--db', shell.db, 'hook', 'claude', '--wait'], { input })).toEqual({
        code: 0,
        stdout: '',
        stderr: '',
      });
      expect((await shell.run(['--db', shell.db, 'hook', 'claude'], { input })).stdout).toContain('the build ended');
    });
  });

  it('reads the database that the command names, and not a database that a file names', async () => {
    await inSession(async ({ shell }) => {
      const env = { EARPIECE_DB: '' };
      shell.config('db = "earpiece.db"');
      expect((await call(shell, 'Stop', { env })).loaded).toContain('cli/program.ts');
      expect((await call(shell, 'Stop', { env, options: ['--db', shell.db] })).loaded).toEqual(SHORT_WAY);
      // A clone's file is not trusted to name a database, so the slow path has created the user's database.
      rmSync(join(shell.folder, 'state/earpiece'), { recursive: true });
      mkdirSync(join(shell.folder, 'state/earpiece'), { recursive: true, mode: 0o700 });
      symlinkSync(shell.db, join(shell.folder, 'state/earpiece/earpiece.db'));
      shell.config('');
      expect((await call(shell, 'Stop', { env })).loaded).toEqual(SHORT_WAY);
    });
  });

  it('takes the slow path if a notification waits, if the gate is up, or if the state is unknown', async () => {
    await inSession(async ({ shell, conversation }) => {
      const { inbox, log } = conversation;
      const isLong = async (event: string, how?: How): Promise<boolean> =>
        (await call(shell, event, how)).loaded.includes('cli/program.ts');

      expect(await isLong('SessionStart', { session: 'session-2' })).toBe(true);
      expect(await isLong('UserPromptSubmit')).toBe(true);
      expect(await isLong('Stop', { session: 'session-3' })).toBe(true);
      expect(await isLong('Stop')).toBe(false);

      await inbox.queue(`${log}#another`, { message: 'for another session', level: 'critical' });
      expect(await isLong('PreToolUse')).toBe(false);
      await inbox.queue(log, { message: 'the build ended' });
      // Before a tool call or a request, a notification that is not an interrupt does not make the hook take the slow path.
      expect([await isLong('PreToolUse'), await isLong('BeforeTool', { host: 'gemini' })]).toEqual([false, false]);
      expect(await isLong('UserPromptSubmit', { host: 'qwen', more: { prompt: '' } })).toBe(false);
      expect(await isLong('UserPromptSubmit', { host: 'qwen', more: { prompt: 'over ACP' } })).toBe(true);
      const { stdout } = await call(shell, 'PostToolBatch');
      expect(stdout).toContain('the build ended');
      // The lease stays until the host's own transcript proves the delivery.
      expect([await isLong('PreToolUse'), await isLong('Stop')]).toEqual([false, true]);
      given(shell, stdout);
      expect([await isLong('Stop'), await isLong('Stop')]).toEqual([true, false]);

      const { id } = await inbox.queue(log, { message: 'wait for me', action: 'pause' });
      given(shell, (await call(shell, 'PreToolUse')).stdout);
      // The pause was delivered, and still holds.
      expect((await call(shell, 'PreToolUse')).stdout).toContain('wait for me');
      await inbox.withdraw(log, { id }, { by: 'test', reason: 'over' });
      expect(await isLong('PreToolUse')).toBe(false);

      await askedAbout(inbox, log, { by: 'shop/other', state: 'idle', at: Date.now() });
      expect(await isLong('Stop')).toBe(true);
      expect(await isLong('Stop')).toBe(false);
      expect(await isLong('Stop', { env: { EARPIECE_TERMINAL: join(shell.folder, 'terminal') } })).toBe(true);

      await conversation.ended();
      expect(await isLong('Stop')).toBe(true);
    });
  });

  it('takes the slow path to write its last contact after 30 s', async () => {
    await inSession(async ({ shell, conversation }) => {
      const { inbox, log, id } = conversation;
      const later = (): Promise<Called> => call(shell, 'Stop');
      expect((await later()).loaded).toEqual(SHORT_WAY);
      const store = inbox.store as { now(): number };
      const now = store.now.bind(store);
      store.now = () => Date.now() - 31_000;
      await inbox.store.touch({ log, conversation: id });
      store.now = now;
      expect((await later()).loaded).toContain('cli/program.ts');
      expect((await later()).loaded).toEqual(SHORT_WAY);
    });
  });
});
