/**
 * Tests the screens in `docs/chat.md`, which are recorded from a terminal: `vitest run e2e/chat/screens.test.ts --update`
 * records the screens again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/chat/slash.ts';
import { call, ChatStage, Hold, text } from './stage.ts';

const PAGE = join(import.meta.dirname, '../../docs/chat.md');
const MENU = '\u0003';
const COLUMNS = 80;
const WAITS = 'waits 0.4 s';

const CART = `/** What a cart costs, in cents. */
export function total(items, share = 1) {
  let cents = 0;
  for (const { price, count } of items) cents += price * count;
  return Math.floor(cents * share);
}
`;
const TEST = `console.log('half of 1001 cents is 500, expected 501');
process.exitCode = 1;
`;

it('docs/chat.md shows the screens of a real terminal', { timeout: 120_000 }, async () => {
  const [failed, written, more] = [new Hold(), new Hold(), new Hold()];
  await using stage = await ChatStage.open([
    {
      says: [
        text('I run the tests in the background and read the cart meanwhile.'),
        call('c1', 'run', { command: 'node test.js', action: 'spawn', id: 'tests' }),
      ],
    },
    { says: [call('c2', 'run', { command: 'cat cart.js' })], before: failed.stop },
    {
      says: [
        text(
          'The test expects half a cent to be rounded up, total() rounds it down. I change Math.floor to Math.round, and then',
        ),
      ],
      at: [
        { part: 0, delta: 15, do: written.stop },
        { part: 0, delta: 'end', do: more.stop },
      ],
    },
    { says: [text('Understood: the cart stays as it is. I wait for you.')] },
  ]);
  writeFileSync(join(stage.folder, 'cart.js'), CART);
  writeFileSync(join(stage.folder, 'test.js'), TEST);

  const chat = await stage.terminal(['chat'], { columns: COLUMNS, rows: 40 });
  await chat.shows('›');
  chat.type('The checkout is a cent off. Run the tests and look at the cart.\r');
  await failed.reached;
  await chat.shows('┆ ▲ error tool.failed');
  failed.letGo();
  await written.reached;
  await chat.shows('rounds it down.');
  await stage.send('--kind', 'files.changed', 'prices.json was changed by an import');
  await chat.shows('┆ ○ info files.changed');
  chat.type(MENU);
  await chat.shows('continue');
  const waiting = shown(chat.text);

  chat.type('c');
  written.letGo();
  await more.reached;
  await stage.send('--as', 'Maria', '--level', 'critical', 'Stop, please: accounting rounds down on purpose.');
  await chat.shows('I wait for you.');
  await chat.until((all) => !all.includes('Ctrl+C interrupts\n'));
  const interrupted = shown(chat.text).split('\n');

  const screens = [
    waiting,
    ['…', ...interrupted.slice(interrupted.findIndex((line) => line.startsWith('⚙ run  cat')))].join('\n'),
  ];
  const page = readFileSync(PAGE, 'utf8').replaceAll(
    /(?<=^<!-- tested by [^\n]* -->\n```text\n)[^]*?(?=\n```$)/gmu,
    () => screens.shift() ?? '',
  );
  await expect(page).toMatchFileSnapshot(PAGE);
});

it('docs/chat.md names only slash commands that exist', () => {
  const page = readFileSync(PAGE, 'utf8');
  for (const [, name = ''] of page.matchAll(/`\/(\w+)[^`]*`/gu)) expect(Object.keys(COMMANDS)).toContain(name);
});

it('docs/chat.md names every event', () => {
  const named = new Set([...readFileSync(PAGE, 'utf8').matchAll(/`(\w+)`/gu)].map(([, name]) => name));
  const sources = ['src/agent/events.ts', 'src/cli/chat/json-front.ts'].map((file) =>
    readFileSync(join(import.meta.dirname, '../..', file), 'utf8'),
  );
  const types = sources.flatMap((source) =>
    [...source.matchAll(/readonly type: '(\w+)';? ?(?:readonly|$)/gmu)].map(([, type]) => type),
  );
  expect(types.length).toBeGreaterThan(15);
  expect(
    types.filter((type) => !['send', 'reply', 'stop', 'quit', 'wake', 'wrong'].includes(type ?? '') && !named.has(type)),
  ).toEqual([]);
});

/** Replaces times and names, which differ in each run. */
const shown = (screen: string): string =>
  screen
    .replaceAll(/chat-\d{8}-\d{6}/gu, 'chat-20260314-101500')
    .replaceAll(/^(.*?) +waits \S+ s$/gmu, (_, left: string) => `${left.padEnd(COLUMNS - 1 - WAITS.length)}${WAITS}`)
    .replaceAll(/\b\d+(?:\.\d)? s\b/gu, '0.4 s')
    .trimEnd();
