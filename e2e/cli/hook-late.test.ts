/**
 * Tests a hook that ends near or after the time limit of its agent. After that limit, the agent drops the hook's output and runs
 * the call.
 */
import { spawn } from 'node:child_process';
import { setTimeout as passing } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { begin, selfOwner, type Conversation } from '../../src/inbox/index.ts';
import { proves } from '../verifies.ts';
import { Running, Shell } from './shell.ts';

/** A module that makes each start of a process fail, as if the memory were full. */
const NO_SPAWN = `data:text/javascript,${encodeURIComponent(
  `import child from 'node:child_process';
   import { syncBuiltinESMExports } from 'node:module';
   child.spawn = () => { throw new Error('spawn ENOMEM'); };
   syncBuiltinESMExports();`,
)}`;
const CLOCK = new URL('clock-jumps.ts', import.meta.url).href;

async function inSession(use: (session: { shell: Shell; conversation: Conversation }) => Promise<void>): Promise<void> {
  await using shell = new Shell();
  const ear = await shell.open();
  const [host, log, id] = [selfOwner(), logKey('shop', 'codex'), 'session-1' as ConversationId];
  await ear.bind(host, { log, conversation: id });
  const conversation = ear.conversation({ log, conversation: id }, { process: host, host: 'codex', carrier: 'hook' });
  await begin(conversation);
  await ear.queue(log, { id: 'stop', message: 'stop it', action: 'cancel' });
  await use({ shell, conversation });
}

const eventIn = ({ folder }: Shell, more: object = {}): string =>
  JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: 'session-1',
    cwd: folder,
    tool_name: 'Bash',
    tool_use_id: 'call-1',
    ...more,
  });

/** Checks that the interrupt is open again, and that the next hook refuses its call with the interrupt. */
async function comesAgain({ shell, conversation }: { shell: Shell; conversation: Conversation }): Promise<void> {
  expect((await conversation.gate()).map(({ state, offers }) => ({ state, offers }))).toEqual([{ state: 'open', offers: 1 }]);
  expect((await shell.run(['why', 'stop'])).stdout).not.toContain('The agent has read it');
  const next = await shell.run(['hook', 'codex'], { input: eventIn(shell) });
  expect(next.stdout).toContain('1 notification, repeated');
  expect((await conversation.gate()).map(({ state }) => state)).toEqual(['closed']);
}

describe('the interrupt of a late hook is marked as repeated, and', () => {
  it('comes again if the hook was stopped before it answered', async () => {
    proves('hosts:late-hook');
    await inSession(async ({ shell, conversation }) => {
      const child = spawn(process.execPath, [shell.entry, 'hook', 'codex'], {
        cwd: shell.folder,
        env: shell.env(),
        stdio: 'pipe',
      });
      const hook = new Running(child);
      child.kill('SIGSTOP');
      child.stdin.end(eventIn(shell));
      await passing(4_000);
      child.kill('SIGCONT');
      expect(await hook.ended).toMatchObject({ code: 0, stdout: expect.stringContaining('stop it') as string });
      await comesAgain({ shell, conversation });
    });
  });

  it.each(['carrier_offered', 'carrier_confirmed'])('comes again if the machine slept after %s', async (record) => {
    proves('hosts:late-hook');
    await inSession(async ({ shell, conversation }) => {
      const { code, stdout } = await shell.run(['hook', 'codex'], {
        input: eventIn(shell),
        env: { NODE_OPTIONS: `--import ${CLOCK}`, JUMPS_AFTER: record },
      });
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('stop it') as string });
      await comesAgain({ shell, conversation });
    });
  });

  it('comes again if the work after the answer fails', async () => {
    proves('hosts:late-hook');
    await inSession(async ({ shell, conversation }) => {
      const pushed = { hook_event_name: 'PostToolUse', tool_input: { command: 'git push' }, tool_response: 'done' };
      const { code, stdout, stderr } = await shell.run(['hook', 'codex'], {
        input: eventIn(shell, pushed),
        env: { NODE_OPTIONS: `--import ${CLOCK} --import ${NO_SPAWN}`, JUMPS_AFTER: 'carrier_confirmed' },
      });
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: expect.stringContaining('stop it') as string,
        stderr: expect.stringMatching(/^earpiece: hook codex: [^\n]*; the agent continues\n$/u) as string,
      });
      await comesAgain({ shell, conversation });
    });
  });
});
