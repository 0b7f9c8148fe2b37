/**
 * Tests an idle Claude Code in a real terminal: each notification that may wake the agent does so once, and nothing else does.
 */
import path from 'node:path';
import { setTimeout as poll } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { find } from '../model/find.ts';
import type { JsonObject } from '../model/json.ts';
import { proves } from '../verifies.ts';
import { place, type Place } from './hook-place.ts';
import { address, earpiece, send } from './earpiece.ts';
import { end, processesOf } from './processes.ts';
import { run } from './run.ts';
import { raise } from './signal-file.ts';
import { inClaudeTerminal, type ClaudeTerminal } from './terminal.ts';

/** By default, a critical notification wakes Claude Code, and an info does not. */
const WAKES = ['--level', 'critical'];
const IN_A_ROW = 15;

async function inTerminal(use: (terminal: ClaudeTerminal, at: Place) => Promise<void>): Promise<void> {
  using at = place();
  await inClaudeTerminal(
    { mcpServers: {}, settings: at.settings(), env: at.env, script: [{ text: 'ALL-DONE' }] },
    async (terminal) => {
      await terminal.shows((screen) => screen.includes('❯'));
      await use(terminal, at);
    },
  );
}

/** Resolves when the model has received this number of requests. */
const asked = (terminal: ClaudeTerminal, times: number): Promise<void> => terminal.shows(() => terminal.main.length >= times);

const waitersOf = (home: string): readonly number[] =>
  processesOf(home).flatMap(({ pid, command }) => (/^\S*node .*hook claude --wait$/.test(command) ? [pid] : []));

/** Polls until `like` accepts the waiting processes, because no event reports these processes, and resolves with their ids. */
async function waiters(home: string, like: (pids: readonly number[]) => boolean): Promise<readonly number[]> {
  for (;;) {
    const pids = waitersOf(home);
    if (like(pids)) return pids;
    await poll(50);
  }
}

async function wokenIn(at: Place): Promise<number> {
  await using ear = await at.open();
  return (await ear.store.read({ log: address as never, types: ['agent_woken'] })).length;
}

describe('An idle Claude Code', () => {
  proves('hosts:wake-claude');

  test('wakes by itself each time, reads each notification once, and nothing else wakes it', async () => {
    await inTerminal(async (terminal, at) => {
      const { home } = terminal;
      await terminal.enter('Begin');
      await terminal.shows((screen) => screen.includes('ALL-DONE'));
      await send(home, at.database, 'WORD-INFO it waits for delivery');
      let [waiter = 0] = await waiters(home, (pids) => pids.length === 1);
      const took: number[] = [];
      for (let n = 0; n < IN_A_ROW; n++) {
        const before = terminal.main.length;
        await send(home, at.database, `WORD-${n}- the build ended`, ...WAKES);
        const sent = performance.now();
        await asked(terminal, before + 1);
        took.push(performance.now() - sent);
        [waiter = 0] = await waiters(home, (pids) => pids.length === 1 && pids[0] !== waiter);
      }
      console.log(`woken ${took.map((ms) => ms.toFixed(0)).join(', ')} ms after send had ended`);
      const woken = terminal.main.length;
      await send(home, at.database, 'WORD-LATER it waits for a person');
      await terminal.enter('Go on');
      await asked(terminal, woken + 1);
      // If another event had woken the agent, the person's request would not be the next request.
      expect(terminal.main.length).toBe(woken + 1);
      expect(find(terminal.main, 'WORD-INFO').inLast).toBe(1);
      expect(find(terminal.main, 'WORD-LATER').inLast).toBe(1);
      for (let n = 0; n < IN_A_ROW; n++) expect(find(terminal.main, `WORD-${n}-`).inLast).toBe(1);
      // A notification that arrives before a turn has ended prolongs that turn, and wakes no agent. So the number of wakes may be
      // smaller.
      const times = await wokenIn(at);
      expect(times).toBeLessThanOrEqual(IN_A_ROW);
      expect(times).toBeGreaterThan(IN_A_ROW / 2);
    });
  });

  test('is not woken while it works: the next call and the end of the batch carry the notifications', async () => {
    using at = place();
    const signal = path.join(at.folder, 'go');
    const settings = { ...at.settings(), permissions: { defaultMode: 'default', allow: ['Bash'] } };
    const slow = `until [ -e ${signal} ]; do read -t 0.1 <> <(:); done`;
    await inClaudeTerminal(
      {
        mcpServers: {},
        settings,
        env: at.env,
        script: [{ calls: [{ shell: slow }, { shell: 'echo SECOND' }] }, { text: 'ALL-DONE' }],
      },
      async (terminal) => {
        await terminal.shows((screen) => screen.includes('❯'));
        await terminal.enter('Begin');
        await asked(terminal, 1);
        await terminal.shows((screen) => screen.includes('Running'));
        await send(terminal.home, at.database, 'WORD-CRITICAL the build ended', ...WAKES);
        await send(terminal.home, at.database, 'WORD-ANNA look at it', '--kind', 'user.message', '--as', 'Anna');
        // While these commands run, a process that waits for an idle agent would wake the agent.
        for (let n = 0; n < 5; n++) await earpiece(terminal.home, at.database, 'inbox');
        raise(signal);
        await terminal.shows((screen) => screen.includes('ALL-DONE'));
        expect(find(terminal.main, 'WORD-CRITICAL').inLast).toBe(1);
        expect(find(terminal.main, 'WORD-ANNA').inLast).toBe(1);
        expect(find(terminal.main, 'SYSTEM NOTIFICATION').inLast).toBe(0);
        expect(await wokenIn(at)).toBe(0);
      },
    );
  });

  test('is woken after a person has pressed Esc before the first token, and not while the request hangs', async () => {
    using at = place();
    const hang = { isOn: false };
    await inClaudeTerminal(
      {
        mcpServers: {},
        settings: at.settings(),
        env: at.env,
        script: [{ text: 'ALL-DONE' }],
        onRequest: async ({ body }) => (hang.isOn && Array.isArray(body?.['tools']) ? new Promise(() => {}) : undefined),
      },
      async (terminal) => {
        const { home } = terminal;
        await terminal.shows((screen) => screen.includes('❯'));
        await terminal.enter('Begin');
        await terminal.shows((screen) => screen.includes('ALL-DONE'));
        await waiters(home, (pids) => pids.length === 1);
        const before = terminal.main.length;
        hang.isOn = true;
        await terminal.enter('Stop soon');
        await asked(terminal, before + 1);
        await send(home, at.database, 'WORD-ESC it burns', ...WAKES);
        for (let n = 0; n < 5; n++) await earpiece(home, at.database, 'inbox');
        expect(await wokenIn(at)).toBe(0);
        hang.isOn = false;
        terminal.type('\u001B');
        await asked(terminal, before + 2);
        expect(find(terminal.main, 'WORD-ESC').inLast).toBe(1);
        expect(await wokenIn(at)).toBe(1);
      },
    );
  });

  test("is woken after another program's hook has blocked a prompt", async () => {
    using at = place();
    const block = { type: 'command', command: 'if grep -q BLOCKME; then echo not allowed >&2; exit 2; fi' };
    const settings = at.settings() as { hooks: Record<string, JsonObject[]> };
    settings.hooks['UserPromptSubmit']?.push({ hooks: [block] });
    await inClaudeTerminal({ mcpServers: {}, settings, env: at.env, script: [{ text: 'ALL-DONE' }] }, async (terminal) => {
      const { home } = terminal;
      await terminal.shows((screen) => screen.includes('❯'));
      await terminal.enter('Begin');
      await terminal.shows((screen) => screen.includes('ALL-DONE'));
      await waiters(home, (pids) => pids.length === 1);
      const before = terminal.main.length;
      await terminal.enter('BLOCKME please');
      // If the first turn still runs its hooks, Claude Code queues the prompt, and then shows the reason only for some seconds.
      await terminal.shows((screen) => screen.includes('not allowed') || screen.includes('Original prompt'));
      await send(home, at.database, 'WORD-BLOCKED it burns', ...WAKES);
      await asked(terminal, before + 1);
      expect(find(terminal.main, 'WORD-BLOCKED').inLast).toBe(1);
      expect(await wokenIn(at)).toBe(1);
    });
  });

  test('after /clear only the waiter of the new session wakes it, and no waiter outlives its session', async () => {
    await inTerminal(async (terminal, at) => {
      const { home } = terminal;
      await terminal.enter('Begin');
      await terminal.shows((screen) => screen.includes('ALL-DONE'));
      const old = await waiters(home, (pids) => pids.length === 1);
      const before = terminal.main.length;
      await terminal.enter('/clear');
      await terminal.shows((screen) => !screen.includes('ALL-DONE'));
      await waiters(home, (pids) => pids.length === 1 && pids[0] !== old[0]);
      await send(home, at.database, 'WORD-CLEARED the build ended', ...WAKES);
      await asked(terminal, before + 1);
      expect(find(terminal.main, 'WORD-CLEARED').inLast).toBe(1);
      expect(terminal.main.at(-1)?.text).not.toContain('Begin');
      expect(await wokenIn(at)).toBe(1);
      const hosts = processesOf(home).filter(({ command }) => /^\S*\/claude(\.exe)? /.test(command));
      expect(hosts).not.toEqual([]);
      for (const { pid } of hosts) end(pid, 'SIGKILL');
      await waiters(home, (pids) => pids.length === 0);
    });
  });

  test('gets no waiter with -p, which ends after one answer', async () => {
    using at = place();
    using seen = await run('claude', {
      settings: at.settings(),
      env: at.env,
      script: [{ calls: [{ shell: 'echo one' }] }, { text: 'ALL-DONE' }],
    });
    expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
    expect(seen.stdout).toContain('ALL-DONE');
  });
});
