/** Checks that the plugin's folder matches the hooks that `earpiece install` writes. `--update` writes the folder again. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { claude } from '../claude/hooks.ts';
import { claudePlugin } from './claude-plugin.ts';

const root = join(import.meta.dirname, '../../..');
const FOLDER = join(root, 'claude-plugin');
const files = claudePlugin(
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string; readonly description: string },
);

it('the plugin has the hooks and the server of an installation', async () => {
  for (const [file, value] of Object.entries(files))
    await expect(`${JSON.stringify(value, null, 2)}\n`).toMatchFileSnapshot(join(FOLDER, file));
  const there = readdirSync(FOLDER, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const made = new Set(Object.keys(files).map((file) => join(FOLDER, file)));
  expect(there.map(({ parentPath, name }) => join(parentPath, name)).filter((file) => !made.has(file))).toEqual([]);
  const { hooks } = files['earpiece/hooks/hooks.json'] as { readonly hooks: object };
  expect(Object.keys(hooks)).toEqual(Object.keys(claude.events));
});
