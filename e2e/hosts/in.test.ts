/** Tests `earpiece in` with Claude Code, which its own waiting process wakes. */
import { setTimeout as poll } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { address, earpiece, entry, send } from './earpiece.ts';
import { place } from './hook-place.ts';
import { processesOf } from './processes.ts';
import { inClaudeTerminal } from './terminal.ts';

test('Claude Code in the terminal of `earpiece in` is woken once, by its waiting process, and no line is typed', async () => {
  proves('hosts:in-woken');
  using at = place();
  await inClaudeTerminal(
    {
      mcpServers: {},
      settings: at.settings(),
      env: at.env,
      under: [process.execPath, entry, 'in', '--'],
      script: [{ text: 'FIRST-DONE' }, { text: 'SECOND-DONE' }, { text: 'THIRD-DONE' }],
    },
    async (terminal) => {
      const { home, shows, enter } = terminal;
      await shows((screen) => screen.includes('❯'));
      await enter('Begin');
      await shows((screen) => screen.includes('FIRST-DONE'));
      // Before the first waiting process starts, the end of the turn itself would carry the notification.
      while (!processesOf(home).some(({ command }) => command.endsWith('hook claude --wait'))) await poll(50);
      await shows((screen) => / · done /.test(screen));
      await send(home, at.database, 'WORD-WAKE the build ended', '--level', 'critical');
      await shows((screen) => screen.includes('SECOND-DONE'));
      await enter('Go on');
      await shows((screen) => screen.includes('THIRD-DONE'));
      expect(find(terminal.main, 'WORD-WAKE').inLast).toBe(1);
      expect(find(terminal.main, 'Earpiece: notifications wait for you.').inLast).toBe(0);
      expect(await earpiece(home, at.database, 'inbox', '--all')).not.toContain('WORD-WAKE');
      await using ear = await at.open();
      expect(await ear.store.read({ log: address as never, types: ['agent_woken'] })).toHaveLength(1);
    },
  );
});
