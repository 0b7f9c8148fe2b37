/**
 * Tests for which sessions the hooks, the plugin bridge and the MCP server act: in a command of an agent, only for its own
 * sessions.
 */
import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { begin, selfOwner, systemProcesses } from '../../src/inbox/index.ts';
import { CLI } from '../built.ts';
import { textOf } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

const EARPIECE = `"${process.execPath}" "${CLI}"`;
/** Shell functions: `hook HOST SESSION EVENT` calls the hook of a host, and `mcp HOST SESSION EVENT` calls the tool of the MCP server. */
const FUNCTIONS = `
input() { printf '"session_id":"%s","cwd":"%s","hook_event_name":"%s","prompt":"x","source":"startup","tool_name":"Bash","reason":"exit"' "$1" "$PWD" "$2"; }
hook() { echo "{$(input "$2" "$3")}" | ${EARPIECE} hook "$1"; echo "exit $?"; }
frame() { printf '{"jsonrpc":"2.0",%s}\\n' "$1"; }
mcp() { serve c "\\"name\\":\\"hook\\",\\"arguments\\":{\\"host\\":\\"$1\\",$(input "$2" "$3")}"; }
serve() {
  coproc SERVER { ${EARPIECE} mcp; }
  local in="\${SERVER[1]}" line
  { frame "\\"id\\":1,\\"method\\":\\"initialize\\",\\"params\\":{\\"protocolVersion\\":\\"2025-06-18\\",\\"capabilities\\":{},\\"clientInfo\\":{\\"name\\":\\"$1\\",\\"version\\":\\"1\\"}}"
    frame '"method":"notifications/initialized"'
    frame "\\"id\\":2,\\"method\\":\\"tools/call\\",\\"params\\":{$2}"
  } >&"$in"
  while read -r line <&"\${SERVER[0]}"; do case $line in *'"id":2'*) echo "$line"; break;; esac; done
  exec {in}>&-
  wait
}
bridge() {
  echo "{\\"do\\":\\"ask\\",\\"id\\":7,\\"session\\":\\"$1\\",\\"folder\\":\\"$PWD\\",\\"moment\\":{\\"kind\\":\\"prompt\\"}}" | ${EARPIECE} bridge opencode
}
`;

type Ran = { readonly stdout: string; readonly stderr: string };

/** Runs a script, as a command of the agent ag/worker if `inside`. */
function sh(shell: Shell, script: string, { inside = false, host = 'sh' } = {}): Ran {
  const file = join(shell.folder, `script-${performance.now()}.sh`);
  writeFileSync(file, `${FUNCTIONS}\n${script}\n`);
  const env = inside ? { EARPIECE_HANDLE: 'h', EARPIECE_HANDLE_OF: 'ag/worker#main' } : {};
  const options = { cwd: shell.folder, env: shell.env(env), encoding: 'utf8' } as const;
  const { stdout, stderr } = spawnSync('bash', [file], { ...options, argv0: host });
  return { stdout, stderr };
}

const stop = (shell: Shell, to: string): Promise<string> =>
  shell.says(['send', '--to', to, '--as', 'anna', '--level', 'critical', '--id', 'X1', 'do not deploy']);

const stateOf = async (shell: Shell, log: string): Promise<unknown> =>
  (await shell.json(['inbox', log])).map(({ id, receipt }) => [id, receipt]);

/** Makes a conversation of a live process that did not start the commands of the test. */
async function ofAnotherProcess(shell: Shell, agent: string, session: string) {
  const other = spawn('sleep', ['600'], { stdio: 'ignore' });
  const ear = await shell.open();
  const pid = other.pid ?? 0;
  const owner = { machine: systemProcesses.machine, pid, startedAt: systemProcesses.get(pid)?.startedAt ?? 'unknown' };
  const log = logKey('shop', agent);
  const conversation = session as ConversationId;
  await ear.bind(owner, { log, conversation });
  await begin(ear.conversation({ log, conversation }, { process: owner, host: agent, carrier: 'hook' }));
  return { pid, owner, ear, [Symbol.dispose]: () => void other.kill('SIGKILL') };
}

describe('in a command of an agent', { timeout: 120_000 }, () => {
  proves('agent:no-person');

  it.each([
    ['claude', 'claude-code'],
    ['codex', 'codex'],
    ['kimi', 'kimi'],
  ])('a hook of %s does nothing for a session that began outside', async (host, agent) => {
    await using shell = new Shell();
    expect(sh(shell, `hook ${host} s1 SessionStart; hook ${host} s1 UserPromptSubmit`).stderr).toBe('');
    await stop(shell, `shop/${agent}#s1`);
    const events = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'SessionEnd'];
    const read = sh(shell, events.map((event) => `hook ${host} s1 ${event}`).join('\n'), { inside: true });
    expect(read.stdout).toBe('exit 0\n'.repeat(4));
    const line = `earpiece: hook ${host}: a command that the agent ag/worker runs is not allowed to act for shop/${agent}#s1, which is not a session of this command; run the command as a person in a separate terminal; the agent continues\n`;
    expect(read.stderr.replaceAll(line, '+')).toMatch(/^\+{3,4}$/u);
    expect(await stateOf(shell, `shop/${agent}`)).toEqual([['X1', 'queued']]);
    const [session] = await shell.json(['agents', '--all']);
    expect(session).toMatchObject({ conversation: 's1' });
    expect(session).not.toHaveProperty('endedAt');
    expect(sh(shell, `hook ${host} s1 UserPromptSubmit`).stdout).toContain('do not deploy');
  });

  it('a hook of a shared server that the command has started says how to restart the server', async () => {
    await using shell = new Shell();
    using _other = await ofAnotherProcess(shell, 'codex', 's2');
    await stop(shell, 'shop/codex#s2');
    const script = `exec -a codex bash -c '. "$0"; hook codex s2 UserPromptSubmit; true' "$PWD/functions" app-server --managed-daemon`;
    writeFileSync(join(shell.folder, 'functions'), FUNCTIONS);
    const { stdout, stderr } = sh(shell, script, { inside: true });
    expect(stdout).toBe('exit 0\n');
    expect(stderr).toMatch(
      /^earpiece: hook codex: Codex's shared server \(process \d+\) began in a command of the agent ag\/worker, and may not act for shop\/codex#s2\. In your own terminal, run: codex app-server daemon restart; the agent continues\n$/,
    );
    expect(await stateOf(shell, 'shop/codex')).toEqual([['X1', 'queued']]);
  });

  it('a hook does nothing for a session of another live process, and acts for a session whose process has ended', async () => {
    await using shell = new Shell();
    using other = await ofAnotherProcess(shell, 'claude-code', 's2');
    await stop(shell, 'shop/claude-code#s2');
    const read = sh(shell, 'hook claude s2 UserPromptSubmit', { inside: true });
    expect(read).toEqual({
      stdout: 'exit 0\n',
      stderr: expect.stringContaining('is not allowed to act for shop/claude-code#s2'),
    });
    process.kill(other.pid, 'SIGKILL');
    await expect.poll(() => systemProcesses.get(other.pid)).toBeUndefined();
    expect(sh(shell, 'hook claude s2 UserPromptSubmit', { inside: true, host: 'claude' }).stdout).toContain('do not deploy');
  });

  it('a hook does not take the session of a host that runs the agent', async () => {
    await using shell = new Shell();
    const script = `hook claude s1 SessionStart
${EARPIECE} send --to shop/claude-code#s1 --as anna --level critical --id X1 "do not deploy"
EARPIECE_HANDLE=h EARPIECE_HANDLE_OF=ag/worker bash -c '. "$0"; hook claude s1 UserPromptSubmit; hook claude s9 SessionStart; hook claude s1 SessionEnd; true' "$PWD/functions"
hook claude s1 UserPromptSubmit`;
    writeFileSync(join(shell.folder, 'functions'), FUNCTIONS);
    const { stdout, stderr } = sh(shell, script, { host: 'claude' });
    expect(stdout.split('exit 0\n').map((text) => text.includes('do not deploy'))).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
    ]);
    expect(stderr.match(/is not allowed to act for shop\/claude-code#s1/gu)).toHaveLength(2);
  });

  it.each([
    ['claude', 'claude-code'],
    ['codex', 'codex'],
    ['kimi', 'kimi'],
  ])('the hooks of %s that the command starts act for its own session', async (host, agent) => {
    await using shell = new Shell();
    const script = `hook ${host} n1 SessionStart; hook ${host} n1 UserPromptSubmit
${EARPIECE} send --to shop/${agent}#n1 "WORD for n1"
hook ${host} n1 UserPromptSubmit; hook ${host} n1 Stop; hook ${host} n1 SessionEnd`;
    const { stdout, stderr } = sh(shell, script, { inside: true, host });
    expect({ told: stdout.match(/WORD for n1/gu), stderr }).toEqual({ told: ['WORD for n1'], stderr: '' });
    await shell.says(['send', '--to', `shop/${agent}#n1`, 'WORD again']);
    const again = sh(shell, `hook ${host} n1 SessionStart; hook ${host} n1 UserPromptSubmit`, { inside: true, host });
    expect({ told: again.stdout.match(/WORD again/gu), stderr: again.stderr }).toEqual({ told: ['WORD again'], stderr: '' });
  });

  it('the bridge of a plugin does nothing for a session that began outside, and acts for its own session', async () => {
    await using shell = new Shell();
    using _other = await ofAnotherProcess(shell, 'opencode', 's1');
    await stop(shell, 'shop/opencode#s1');
    const read = sh(shell, 'bridge s1; bridge n1', { inside: true });
    expect(read.stdout).toBe('{"ready":true}\n{"re":7,"kind":"nothing"}\n'.repeat(2));
    expect(read.stderr).toMatch(/bridge: .* is not allowed to act for shop\/opencode#s1,/u);
    expect(read.stderr).not.toContain('n1');
    expect(await stateOf(shell, 'shop/opencode')).toEqual([['X1', 'queued']]);
  });

  it.each([
    ['claude', 'claude-code'],
    ['codex', 'codex'],
  ])('the MCP tool for hooks does nothing for a session of %s that began outside', async (host, agent) => {
    await using shell = new Shell();
    sh(shell, `hook ${host} s1 SessionStart`);
    await stop(shell, `shop/${agent}#s1`);
    const read = sh(shell, `mcp ${host} s1 UserPromptSubmit; mcp ${host} s1 SessionEnd`, { inside: true });
    expect(read.stdout.match(/is not allowed to act for shop\/[\w-]+#s1/gu)).toHaveLength(2);
    expect(read.stdout).not.toContain('do not deploy');
    expect(await stateOf(shell, `shop/${agent}`)).toEqual([['X1', 'queued']]);
  });

  it('a hook does not wait in place of the hook of another host', async () => {
    await using shell = new Shell();
    using other = await ofAnotherProcess(shell, 'claude-code', 's2');
    const script = `echo "{$(input s2 Stop)}" | CLAUDE_PID=${other.pid} timeout 10 ${EARPIECE} hook claude --wait; echo "exit $?"`;
    const read = sh(shell, script, { inside: true });
    expect(read).toEqual({
      stdout: 'exit 0\n',
      stderr: expect.stringContaining(`process ${other.pid} (CLAUDE_PID) does not run in the command`),
    });
  });

  it('an MCP client with the variable of another session reads no notifications for that session', async () => {
    await using shell = new Shell();
    using _other = await ofAnotherProcess(shell, 'claude-code', 's2');
    await stop(shell, 'shop/claude-code#s2');
    const pull = `serve claude-code '"name":"get_notifications","arguments":{"mark_as_read":true}'`;
    const read = sh(shell, `CLAUDE_CODE_SESSION_ID=s2 ${pull}; CLAUDE_CODE_SESSION_ID=n1 ${pull}`, {
      inside: true,
      host: 'claude',
    });
    const [refused, answered] = read.stdout.split('\n');
    expect(refused).toContain('is not allowed to act for shop/claude-code#s2');
    expect(answered).not.toContain('isError');
    expect(read.stdout).not.toContain('do not deploy');
    expect(await stateOf(shell, 'shop/claude-code')).toEqual([['X1', 'queued']]);
  });

  it('a gateway for another session passes the calls, and says once that its client gets no notifications', async () => {
    await using shell = new Shell();
    using _other = await ofAnotherProcess(shell, 'claude-code', 's2');
    await stop(shell, 'shop/claude-code#s2');
    const env = { EARPIECE_HANDLE: 'h', EARPIECE_HANDLE_OF: 'ag/worker#main', CLAUDE_CODE_SESSION_ID: 's2' };
    const gateway = await shell.gateway({ env: shell.env(env), client: 'claude-code' });
    for (const text of ['one', 'two', 'three']) expect(textOf(await gateway.call('echo', { text }))).toBe(text);
    expect(textOf(await gateway.call('get_notifications'))).toContain('is not allowed to act for shop/claude-code#s2');
    gateway.process.stdin?.end();
    await gateway.exited;
    expect(gateway.stderr).toBe(
      'earpiece: this MCP client gets no notifications: a command that the agent ag/worker runs is not allowed to act for shop/claude-code#s2, which is not a session of this command; run the command as a person in a separate terminal\n',
    );
    expect(await stateOf(shell, 'shop/claude-code')).toEqual([['X1', 'queued']]);
  });

  it('an MCP client that names another session of Codex in its call reads no notifications for that session', async () => {
    await using shell = new Shell();
    using _other = await ofAnotherProcess(shell, 'codex', 's2');
    await stop(shell, 'shop/codex#s2');
    const pull = (session: string): string =>
      `serve codex-mcp-client '"_meta":{"sessionId":"${session}","threadId":"${session}"},"name":"get_notifications","arguments":{"mark_as_read":true}'`;
    const read = sh(shell, `${pull('s2')}; ${pull('n1')}`, { inside: true });
    const [refused, answered] = read.stdout.split('\n');
    expect(refused).toContain('is not allowed to act for shop/codex#s2');
    expect(answered).not.toContain('isError');
    expect(read.stdout).not.toContain('do not deploy');
    expect(await stateOf(shell, 'shop/codex')).toEqual([['X1', 'queued']]);
  });
});

describe('the MCP tool for hooks', { timeout: 120_000 }, () => {
  proves('hosts:served');

  it('answers for a session of its host, and refuses a session of another live process', async () => {
    await using shell = new Shell();
    using other = await ofAnotherProcess(shell, 'claude-code', 's2');
    await stop(shell, 'shop/claude-code#s2');
    const refused = sh(shell, 'mcp claude s2 UserPromptSubmit', { host: 'claude' });
    expect(refused.stdout).toContain(
      `shop/claude-code#s2 is a session of the process ${other.pid}, which did not start this server`,
    );
    expect(refused.stdout).not.toContain('do not deploy');
    expect(await stateOf(shell, 'shop/claude-code')).toEqual([['X1', 'queued']]);
    const own = `hook claude s3 SessionStart; ${EARPIECE} send --to shop/claude-code#s3 "WORD for s3"; mcp claude s3 UserPromptSubmit`;
    expect(sh(shell, own, { host: 'claude' }).stdout).toContain('WORD for s3');
    const { ear } = other;
    const known = ear.conversation('shop/claude-code#s4', { process: selfOwner(), carrier: 'hook' });
    await begin(known);
    await shell.says(['send', '--to', 'shop/claude-code#s4', 'WORD for s4']);
    expect(sh(shell, 'mcp claude s4 UserPromptSubmit').stdout).toContain('WORD for s4');
  });
});

it('with interrupt = "after", a hook still refuses the calls of an agent and of its sub-agents', async () => {
  await using shell = new Shell('interrupt = "after"');
  const before = (more: object): Promise<string> => {
    const input = { session_id: 's1', cwd: shell.folder, hook_event_name: 'PreToolUse', tool_name: 'Bash', ...more };
    return shell.says(['hook', 'claude'], { input: JSON.stringify(input) });
  };
  expect(await before({})).toBe('');
  await stop(shell, 'claude-code');
  expect(await before({ agent_id: 'a1' })).toContain('"permissionDecision":"deny"');
  expect(await before({})).toContain('do not deploy');
});
