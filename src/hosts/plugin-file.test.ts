import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PLUGIN_FILES } from './plugin-file.ts';

const GONE = { node: '/nowhere/node', entry: '/nowhere/dist/cli/main.js' };

describe('the plugin file of an agent that loads plugins', () => {
  let folder: string;
  const load = async (host: 'opencode' | 'pi', command = GONE): Promise<Record<string, (input: unknown) => Promise<unknown>>> => {
    const file = join(folder, `${host}-${command === GONE}.mjs`);
    writeFileSync(file, PLUGIN_FILES[host].content(command));
    return (await import(pathToFileURL(file).href)) as Record<string, (input: unknown) => Promise<unknown>>;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-file-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('names the missing plugin, and opencode continues without it', async () => {
    const logged: string[] = [];
    const app = { log: async ({ body }: { readonly body: { readonly message: string } }) => void logged.push(body.message) };
    const { Earpiece } = await load('opencode');
    expect(await Earpiece?.({ client: { app } })).toEqual({});
    expect(logged).toEqual([
      expect.stringMatching(/\/nowhere\/dist\/plugins\/opencode\.js cannot be loaded .*earpiece install opencode/u),
    ]);
  });

  it('names the missing plugin, and pi continues without it', async () => {
    const said: string[] = [];
    const { default: extension } = await load('pi');
    const { error } = console;
    console.error = (line: string) => void said.push(line);
    await extension?.({ on: () => expect.unreachable('nothing is registered') }).finally(() => (console.error = error));
    expect(said).toEqual([expect.stringMatching(/\/nowhere\/dist\/plugins\/pi\.js cannot be loaded .*earpiece install pi/u)]);
  });

  it('loads the plugin next to the command line, with any characters in the path', async () => {
    const entry = join(import.meta.dirname, '../cli/main.ts');
    const events: string[] = [];
    const { default: extension } = await load('pi', { node: `/o'dd "path"\\with\nall`, entry });
    await extension?.({ on: (event: string) => void events.push(event) });
    expect(events).toContain('tool_call');
  });
});
