/** Tests logs that are longer than any list on a screen. */
import { spawn as spawnPty } from '@lydell/node-pty';
import { expect, it } from 'vitest';
import { closed, LOG, queued } from '../../src/stores/contract/drafts.ts';
import { CLI } from '../built.ts';
import { proves, verifies } from '../verifies.ts';
import { Shell } from './shell.ts';

const MANY = 130_000;

async function filled(shell: Shell, count: number, body = 'x'): Promise<void> {
  const ear = await shell.open();
  for (let done = 0; done < count; done += 10_000) {
    const size = Math.min(10_000, count - done);
    const drafts = Array.from({ length: size }, (_, i) => queued(`n${done + i}`, { message: `${body} ${done + i}` }));
    await ear.store.append(LOG, drafts, { withinMs: 60_000 });
  }
}

verifies(
  'cli:large',
  'inbox lists the newest of 130,000 notifications, and all of them as JSON; db check shows its progress',
  async () => {
    await using shell = new Shell();
    await filled(shell, MANY);
    const table = (await shell.says(['inbox', 'coder'])).trimEnd().split('\n');
    expect([table.length, table[1]?.includes(`x ${MANY - 1}`), table.at(-1)]).toEqual([
      202,
      true,
      'these are the newest 200 notifications; to list all: earpiece inbox --json',
    ]);
    const ids = (await shell.json(['inbox', 'coder'])).map(({ id }) => id);
    expect([ids.length, new Set(ids).size, ids[0], ids.at(-1)]).toEqual([MANY, MANY, `n${MANY - 1}`, 'n0']);

    // In a terminal, a long check shows its progress.
    const terminal = spawnPty(process.execPath, [CLI, 'db', 'check'], { cwd: shell.folder, env: shell.env(), cols: 200 });
    let shown = '';
    terminal.onData((text) => (shown += text));
    const { exitCode } = await new Promise<{ exitCode: number }>((resolve) => terminal.onExit(resolve));
    expect([exitCode, shown]).toEqual([0, expect.stringMatching(/checking: [\d,]+ of [\d,]+ records[^]*is intact/u)]);
  },
  240_000,
);

it('db prune returns disk space while another process uses the database', async () => {
  proves('cli:large');
  await using shell = new Shell();
  await filled(shell, 2_000, 'x'.repeat(4_000));
  const ear = await shell.open();
  await ear.store.append(
    LOG,
    [
      closed(
        Array.from({ length: 2_000 }, (_, i) => `n${i}`),
        'withdrawn',
      ),
    ],
    { withinMs: 60_000 },
  );
  await ear.queue('shop/coder', { id: 'open', message: 'stays' });
  const [pruned] = await shell.json(['db', 'prune', '--older', '0s']);
  expect(pruned).toMatchObject({ items: 2_000, bytes: {} });
  const { before, after } = (pruned as { bytes: { before: number; after: number } }).bytes;
  expect(before).toBeGreaterThan(8_000_000);
  expect(after).toBeLessThan(before / 10);
  expect(await ear.store.verify()).toEqual([]);
  const left = await ear.store.items(LOG, { kind: 'open' });
  expect(left.map(({ id }) => id)).toEqual(['open']);
}, 120_000);
