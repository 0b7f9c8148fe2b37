/** Tests that `earpiece in` types nothing for an agent that Earpiece wakes through its hooks. */
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pty from '@lydell/node-pty';
import { describe, expect, test } from 'vitest';
import { CLI } from '../built.ts';
import { Stage } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';
import { Shell } from './shell.ts';

/** Runs two hooks of a turn, as an agent does that runs under `earpiece in`, and returns whether they report the agent's state. */
async function reports(host: string, events: readonly [string, string]): Promise<boolean> {
  await using shell = new Shell();
  const state = join(shell.folder, 'terminal');
  for (const event of events)
    await shell.run(['hook', host], {
      env: { EARPIECE_TERMINAL: state },
      input: JSON.stringify({
        hook_event_name: event,
        session_id: 'session-1',
        cwd: shell.folder,
        transcript_path: join(shell.folder, 'transcript'),
        prompt: 'Begin',
      }),
    });
  return existsSync(state);
}

describe('`earpiece in`', () => {
  test('learns the state of an agent only if no hook wakes this agent', async () => {
    proves('hosts:in-woken');
    expect({
      gemini: await reports('gemini', ['BeforeAgent', 'AfterAgent']),
      claude: await reports('claude', ['UserPromptSubmit', 'Stop']),
      codex: await reports('codex', ['UserPromptSubmit', 'Stop']),
    }).toEqual({ gemini: true, claude: false, codex: false });
  });

  test('says at the start that the hooks wake Claude Code, and nothing like it for Gemini CLI', async () => {
    proves('hosts:in-woken');
    const said = async (name: string): Promise<string> => {
      await using stage = new Stage();
      const agent = join(stage.folder, name);
      writeFileSync(agent, '#!/bin/sh\necho READY\n', { mode: 0o755 });
      const child = pty.spawn(process.execPath, [CLI, 'in', '--', agent], { cols: 300, cwd: stage.folder, env: stage.env() });
      const ended = new AbortController();
      let output = '';
      child.onData((data) => (output += data));
      child.onExit(() => ended.abort());
      if (!ended.signal.aborted) await once(ended.signal, 'abort');
      expect(output).toContain('READY');
      return output;
    };
    expect(await said('claude')).toContain(
      'earpiece: the hooks or the plugin that earpiece install adds wake Claude Code, so earpiece in types nothing',
    );
    expect(await said('gemini')).not.toContain('types nothing');
  });
});
