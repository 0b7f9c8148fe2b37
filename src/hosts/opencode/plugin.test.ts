import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Client, Hooks } from './api.ts';
import { opencode } from './plugin.ts';

/** A bridge that denies each call and has a text for each failed call. */
const BRIDGE = `
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const KINDS = { before_tool: 'deny', after_tool: 'tell' };
say({ ready: true });
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { do: what, id, moment } = JSON.parse(line);
  if (what === 'ask') say({ re: id, kind: KINDS[moment.kind] ?? 'nothing', text: moment.kind + ' of ' + moment.tool });
});
`;

describe('the plugin inside opencode', () => {
  let folder: string;
  let hooks: Hooks;
  let injected: string[];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-opencode-'));
    const entry = join(folder, 'bridge.cjs');
    writeFileSync(entry, BRIDGE);
    injected = [];
    const client: Client = {
      session: {
        get: async ({ path: { id } }) => ({ data: id === 'side' ? { parentID: 'main' } : {} }),
        prompt: async ({ body: { parts } }) => (injected.push(...parts.map(({ text }) => text)), {}),
        promptAsync: async () => ({}),
        abort: async () => ({}),
      },
      app: { log: async () => ({}) },
      tui: { showToast: async () => ({}) },
    };
    hooks = opencode({ client, directory: folder }, { node: process.execPath, entry });
  });
  afterEach(async () => {
    await hooks.dispose?.();
    rmSync(folder, { recursive: true, force: true });
  });

  it('injects no text for a refused call, even if another session becomes idle before the call fails', async () => {
    const fails = (tool: string, callID: string) => {
      const part = { id: 'p', type: 'tool', messageID: 'm', sessionID: 'main', tool, callID, state: { status: 'error' } };
      return hooks.event?.({ event: { type: 'message.part.updated', properties: { part } } });
    };
    const refused = hooks['tool.execute.before']?.({ sessionID: 'main', tool: 'refused', callID: 'c1' });
    await expect(refused).rejects.toThrow('before_tool of refused');
    await hooks.event?.({ event: { type: 'session.idle', properties: { sessionID: 'side' } } });
    // The plugin handles an event after its hook has returned.
    await new Promise(setImmediate);
    await fails('refused', 'c1');
    await fails('broken', 'c2');
    await vi.waitFor(() => expect(injected).toContain('after_tool of broken'), { timeout: 20_000 });
    expect(injected).toEqual(['after_tool of broken']);
  });
});
