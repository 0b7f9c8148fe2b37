/**
 * Tests that, while no notification waits, the shell lines of hooks start no Earpiece process. After any change, the lines
 * start a process.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { shellLine } from '../../src/hosts/setup/ours.ts';
import { noteServer, quietFolder } from '../../src/hosts/quiet-mark.ts';
import { begin, selfOwner } from '../../src/inbox/index.ts';
import { CLI } from '../built.ts';
import { Stage } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';

const SESSION = 'session-1';
const LOG = logKey('shop', 'claude-code');
const SHELLS = ['/bin/sh', '/bin/bash', '/bin/ksh', '/bin/zsh'].filter((shell) => existsSync(shell));

/** Opens a session of this process. The session's hook calls start a replacement for Node that leaves a trace. */
async function scene(shell: string, host: 'claude' | 'gemini' = 'claude') {
  const stage = new Stage();
  const ear = await stage.open();
  const owner = selfOwner();
  await ear.bind(owner, { log: LOG, conversation: SESSION as ConversationId });
  const conversation = ear.conversation(
    { log: LOG, conversation: SESSION as ConversationId },
    { process: owner, carrier: 'hook' },
  );
  await begin(conversation);
  const state = join(stage.folder, 'state/earpiece');
  const node = join(stage.folder, 'node with spaces');
  const trace = join(stage.folder, 'trace');
  writeFileSync(node, `#!/bin/sh\n: > '${trace}'\nexec '${process.execPath}' "$@"\n`);
  chmodSync(node, 0o755);
  const variable = host === 'claude' ? 'CLAUDE_CODE_SESSION_ID' : 'GEMINI_SESSION_ID';
  const line = (event: string, ...words: readonly string[]): string =>
    shellLine({ node, entry: CLI, state }, ['hook', host, ...words], {
      variable,
      mark: event === 'PreToolUse' || host === 'gemini' ? 'free' : 'quiet',
    });
  return {
    stage,
    ear,
    state,
    marks: () => readdirSync(quietFolder(state)).filter((name) => name === SESSION),
    /** Makes the last change look old. */
    settle: () => {
      const then = Date.now() / 1_000 - 10;
      for (const file of [stage.db, `${stage.db}-wal`]) if (existsSync(file)) utimesSync(file, then, then);
    },
    /** Answers an event after a tool, as the hook without a mark does. */
    after: (): void => {
      const input = { hook_event_name: 'AfterTool', session_id: SESSION, cwd: stage.folder, tool_name: 'x', tool_response: {} };
      const env = stage.env({ CLAUDE_PID: String(process.pid), EARPIECE_ADDRESS: 'shop/claude-code' });
      spawnSync(process.execPath, [CLI, 'hook', host], { env, input: JSON.stringify(input) });
    },
    call: ({ session = SESSION, tool = 'Bash', event = 'PreToolUse', served = false } = {}) => {
      rmSync(trace, { force: true });
      const input = { hook_event_name: event, session_id: session, cwd: stage.folder, tool_name: tool, tool_use_id: 't' };
      const { status, stdout, stderr } = spawnSync(shell, ['-c', served ? line(event, '--served') : line(event)], {
        env: stage.env({
          [variable]: session,
          CLAUDE_PID: String(process.pid),
          EARPIECE_ADDRESS: 'shop/claude-code',
        }),
        input: JSON.stringify(input),
        encoding: 'utf8',
      });
      return { status, stderr, denied: stdout.includes('"deny"'), ours: existsSync(trace), told: stdout.includes('WORD') };
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

const QUICK = { status: 0, stderr: '', denied: false, ours: false, told: false };
const LOOKED = { ...QUICK, ours: true };

describe.each(SHELLS)('the hook before a tool, in %s', (shell) => {
  proves('hosts:quiet-mark');

  it('ends in its shell line while nothing waits, and refuses the first call after a pause', async () => {
    await using at = await scene(shell);
    expect(at.call()).toEqual(LOOKED);
    at.settle();
    expect(at.call()).toEqual(LOOKED);
    expect(at.marks()).toEqual([SESSION]);
    expect([at.call(), at.call()]).toEqual([QUICK, QUICK]);
    await at.ear.queue('shop/claude-code', { message: 'wait', action: 'pause', level: 'critical' });
    expect(at.call()).toEqual({ ...LOOKED, denied: true });
    expect(at.call()).toEqual({ ...LOOKED, denied: true });
  });

  it('starts a process for another session, and after any change', async () => {
    await using at = await scene(shell);
    at.settle();
    expect([at.call(), at.call()]).toEqual([LOOKED, QUICK]);
    expect(at.call({ session: 'session-2' }).ours).toBe(true);
    // The call of the unknown session has changed the database, so the mark is no longer valid.
    expect(at.call().ours).toBe(true);
    at.settle();
    expect([at.call(), at.call()]).toEqual([LOOKED, QUICK]);
    await at.ear.queue('shop/somebody-else', { message: 'x' });
    expect(at.call().ours).toBe(true);
  });

  it('refuses the first call after a pause in the past: the clock was set back, or a restored copy has its old time', async () => {
    await using at = await scene(shell);
    at.settle();
    expect([at.call(), at.call()]).toEqual([LOOKED, QUICK]);
    await at.ear.queue('shop/claude-code', { message: 'wait', action: 'pause', level: 'critical' });
    const past = Date.now() / 1_000 - 3_600;
    for (const file of [at.stage.db, `${at.stage.db}-wal`]) utimesSync(file, past, past);
    expect(at.call()).toEqual({ ...LOOKED, denied: true });
  });

  it.each(['', '-wal'])('starts a process if only the file ending in "%s" is older than the time in the mark', async (end) => {
    await using at = await scene(shell);
    at.settle();
    expect([at.call(), at.call()]).toEqual([LOOKED, QUICK]);
    const past = Date.now() / 1_000 - 3_600;
    utimesSync(`${at.stage.db}${end}`, past, past);
    expect(at.call().ours).toBe(true);
    expect(at.call()).toEqual(QUICK);
  });

  it('ends in its shell line while a notification waits, but not while an interrupt keeps the gate up', async () => {
    await using at = await scene(shell);
    await at.ear.queue('shop/claude-code', { message: 'WORD later', deliver: 'turn_start' });
    at.settle();
    expect([at.call(), at.call()]).toEqual([LOOKED, QUICK]);
    expect(at.marks()).toEqual([]);
    expect(at.call({ event: 'PostToolBatch' })).toEqual(LOOKED);
    await at.ear.queue('shop/claude-code', { message: 'wait', action: 'pause', level: 'critical' });
    expect(at.call()).toEqual({ ...LOOKED, denied: true });
  });

  it('ends in its shell line after a hook that has loaded the whole program and changed nothing', async () => {
    await using at = await scene(shell, 'gemini');
    await at.ear.queue('shop/claude-code', { message: 'WORD later', deliver: 'turn_start' });
    // The first call records facts of the session, such as its host.
    at.after();
    at.settle();
    const before = { event: 'BeforeTool' };
    expect([at.call(before), at.call(before)]).toEqual([LOOKED, QUICK]);
    at.after();
    expect(at.call(before)).toEqual(QUICK);
    await at.ear.queue('shop/claude-code', { message: 'wait', action: 'pause', level: 'critical' });
    expect(at.call(before).ours).toBe(true);
  });

  it('delivers no notifications while a server answers at the end of each batch', async () => {
    await using at = await scene(shell);
    noteServer(at.state, SESSION, selfOwner());
    await at.ear.queue('shop/claude-code', { message: 'WORD' });
    at.settle();
    expect([at.call({ served: true }), at.call({ served: true })]).toEqual([LOOKED, QUICK]);
  });

  it.each([
    ['no server has answered', undefined],
    ['another process has the id of that server', { ...selfOwner(), startedAt: '1' }],
    ['that server has ended', { pid: 2 ** 30, startedAt: '1' }],
  ])('delivers notifications if %s', async (_case, server) => {
    await using at = await scene(shell);
    if (server !== undefined) noteServer(at.state, SESSION, server);
    await at.ear.queue('shop/claude-code', { message: 'WORD-LATER', deliver: 'turn_end' });
    at.settle();
    // No server answers, so the hook carries notifications itself, and leaves no mark while a notification is open.
    expect([at.call({ served: true }), at.call({ served: true })]).toEqual([LOOKED, LOOKED]);
    await at.ear.queue('shop/claude-code', { message: 'WORD' });
    expect(at.call({ served: true })).toEqual({ ...LOOKED, told: true });
    expect(at.call({ served: true })).toEqual(LOOKED);
    await at.ear.queue('shop/claude-code', { message: 'wait', action: 'pause', level: 'critical' });
    expect(at.call({ served: true })).toEqual({ ...LOOKED, denied: true });
  });

  it('leaves no mark while the last change is recent, because a clock of whole seconds would hide the next change', async () => {
    await using at = await scene(shell);
    await at.ear.queue('shop/somebody-else', { message: 'x' });
    expect(at.call()).toEqual(LOOKED);
    expect(at.call()).toEqual(LOOKED);
  });
});
