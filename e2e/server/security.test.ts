/** Runs each row of `attacks.ts`. `--update` updates the table of `docs/server.md`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { ATTACKS } from './attacks.ts';
import { Stage } from './stage.ts';

const PAGE = join(import.meta.dirname, '../../docs/server.md');

describe.each(Object.entries(ATTACKS))('%s', (_title, rows) => {
  proves('server:security', 'server:tokens');
  it.each(rows.map((row) => [row.what, row] as const))('%s', async (_what, { seen, attempt, options }) => {
    await using stage = await Stage.open(options?.());
    expect(await attempt(stage)).toBe(seen);
    // The server still answers after the attack.
    expect((await fetch(`${stage.at.url}/healthz`)).status).toBe(200);
  });
});

it('docs/server.md lists each tested attack with its result', async () => {
  const rows = Object.entries(ATTACKS).flatMap(([title, attacks]) => [
    `\n### ${title}\n`,
    '| attack | what happens |',
    '|---|---|',
    ...attacks.map(({ what, seen, so }) => `| ${cell(what)} | ${cell(seen)}${so === undefined ? '' : ` (${cell(so)})`} |`),
  ]);
  const [before, rest = ''] = readFileSync(PAGE, 'utf8').split('<!-- attacks -->');
  const after = rest.split('<!-- end of attacks -->')[1] ?? '';
  await expect(`${before}<!-- attacks -->\n${rows.join('\n')}\n\n<!-- end of attacks -->${after}`).toMatchFileSnapshot(PAGE);
  expect(Object.values(ATTACKS).flat().length).toBeGreaterThanOrEqual(30);
});

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
