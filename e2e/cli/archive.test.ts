/** Tests `earpiece db prune`, `forget` and `serve` with an archive, as real processes. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ARCHIVE_FAULT_POINTS } from '../../src/core/faults.ts';
import { closed, LOG, queued } from '../../src/stores/contract/drafts.ts';
import { proves } from '../verifies.ts';
import { archivedIn, filesIn } from './archived.ts';
import { parsed, Shell } from './shell.ts';

/** A shell whose user has an archive. */
class ArchivingShell extends Shell {
  readonly archive = join(this.folder, 'kept');

  constructor(archive?: string) {
    super();
    this.home('config/earpiece/earpiece.toml', `archive = "${archive ?? this.archive}"\n`);
  }

  /** Queues notifications, with one record for each, and closes all of them with one record. */
  async past(from: number, count: number, message = 'x'): Promise<void> {
    const ear = await this.open();
    const ids = Array.from({ length: count }, (_, n) => `n${from + n}`);
    const drafts = [...ids.map((id) => queued(id, { message })), closed(ids, 'withdrawn')];
    await ear.store.append(LOG, drafts, { withinMs: 60_000 });
  }

  async log(): Promise<Record<string, unknown>[]> {
    return this.json(['log', '--all', '--limit', '1000000']);
  }
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, n) => n + 1);

describe('an archive', () => {
  proves('log:archive');

  it('has the records that log --json printed, in files that zcat and jq read and only the user can open', async () => {
    await using shell = new ArchivingShell();
    await shell.past(0, 3);
    await shell.says(['send', '--to', 'tester', 'stays']);
    const log = await shell.log();
    const said = await shell.says(['db', 'prune', '--older', '0s']);
    expect(said).toMatch(/^archived 5 records in .*\/kept\/[0-9a-f]{8}\nremoved 3 closed notifications and 4 records/u);
    expect(archivedIn(shell.archive)).toEqual(log);
    const [coder = '', tester = ''] = filesIn(shell.archive);
    expect([coder, tester].map((file) => file.slice(9))).toEqual(['shop/coder/1-4.jsonl.gz', 'shop/tester/5-5.jsonl.gz']);
    const printed = execFileSync('sh', ['-c', 'zcat "$0"', join(shell.archive, coder)]).toString();
    expect(
      printed
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual(log.slice(0, 4));
    for (const path of [...filesIn(shell.archive), '.', coder.slice(0, 8), coder.slice(0, 13)]) {
      const { mode } = statSync(join(shell.archive, path));
      expect([path, mode & 0o077]).toEqual([path, 0]);
    }
    // A command archives only new records, and --archive names another folder for one command.
    await shell.past(10, 1);
    const [pruned] = await shell.json(['db', 'prune', '--older', '0s', '--archive', 'other']);
    expect(pruned).toMatchObject({
      items: 0,
      archived: { records: 2, files: 1, folder: join(shell.folder, 'other', coder.slice(0, 8)) },
    });
    expect(archivedIn(join(shell.folder, 'other')).map(({ seq }) => seq)).toEqual([6, 7]);
    expect((await shell.json(['db', 'prune']))[0]).toMatchObject({ archived: { records: 0, files: 0 } });
  });

  it.runIf(existsSync('/usr/bin/jq'))('is read by the commands in docs/operating.md', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/operating.md'), 'utf8');
    const commands = /e2e\/cli\/archive\.test\.ts -->\n```sh\n([^]*?)```/u.exec(page)?.[1]?.trimEnd().split('\n') ?? [];
    await using shell = new ArchivingShell('~/earpiece-archive');
    await shell.past(0, 3);
    await shell.says(['send', '--to', 'tester', 'stays']);
    await shell.says(['db', 'prune']);
    const printed = commands.map((command) => execFileSync('sh', ['-c', command], { env: shell.env() }).toString());
    expect(printed.map((text) => parsed(text).map(({ seq }) => seq))).toEqual([[4], upTo(5)]);
  });

  it.each(ARCHIVE_FAULT_POINTS)(
    'is complete after kill -9 at %s, and the database keeps everything until then',
    async (point) => {
      await using shell = new ArchivingShell();
      await shell.past(0, 3);
      const before = await shell.log();
      const killed = await shell.run(['db', 'prune', '--older', '0s'], { env: { EARPIECE_FAULT: point } });
      expect(killed).toMatchObject({ code: null, stdout: '' });
      expect(await shell.log()).toEqual(before);
      await shell.past(10, 3);
      await shell.says(['send', '--to', 'coder', 'stays']);
      expect((await shell.json(['db', 'prune', '--older', '0s']))[0]).toMatchObject({ items: 6 });
      expect(archivedIn(shell.archive).map(({ seq }) => seq)).toEqual(upTo(9));
    },
  );

  it('has each record once if three processes prune while others write', async () => {
    await using shell = new ArchivingShell();
    for (let round = 0; round < 4; round++) {
      await shell.past(round * 10_000, 1_500);
      const prunes = [1, 2, 3].map(() => shell.run(['db', 'prune', '--older', '0s']));
      await Promise.all([shell.past(round * 10_000 + 5_000, 500), ...prunes]);
      for (const { code, stderr } of await Promise.all(prunes)) expect([code, stderr]).toEqual([0, '']);
    }
    await shell.says(['db', 'prune', '--older', '0s']);
    expect(archivedIn(shell.archive).map(({ seq }) => seq)).toEqual(upTo(4 * (1_501 + 501)));
  }, 120_000);

  it('holds 100,000 records of 1 kB, written with a heap of 64 MB', async () => {
    await using shell = new ArchivingShell();
    const ear = await shell.open();
    const note = { type: 'note', text: 'x'.repeat(1_000) };
    for (let n = 0; n < 100; n++)
      await ear.store.append(
        LOG,
        Array.from({ length: 1_000 }, () => note),
        { withinMs: 60_000 },
      );
    const [pruned] = await shell.json(['db', 'prune'], { env: { NODE_OPTIONS: '--max-old-space-size=64' } });
    expect(pruned).toMatchObject({ archived: { records: 100_000 } });
    expect(archivedIn(shell.archive).map(({ seq }) => seq)).toEqual(upTo(100_000));
  }, 240_000);

  it('loses only the files of an agent that earpiece forget removes', async () => {
    await using shell = new ArchivingShell();
    await shell.past(0, 3, 'SECRET');
    await shell.says(['send', '--to', 'Coder', 'NEIGHBOUR']);
    await shell.says(['db', 'prune']);
    const said = await shell.says(['forget', 'coder', '--yes']);
    expect(said).toMatch(/\nremoved 1 file of the archive .*\/kept\/[0-9a-f]{8}\/shop\/coder\n/u);
    await shell.says(['db', 'prune']);
    expect(archivedIn(shell.archive).map(({ log, type }) => [log, type])).toEqual([
      ['shop/Coder', 'system_notification_queued'],
      ['shop/coder', 'agent_forgotten'],
    ]);
    await shell.says(['send', '--to', 'coder', 'again']);
    const [forgotten] = await shell.json(['forget', 'coder', '--yes']);
    expect(forgotten).toMatchObject({ archived: { files: 1 } });
  });

  it('stays when earpiece uninstall --purge removes everything else, and the output says so', async () => {
    await using shell = new ArchivingShell();
    await shell.past(0, 3);
    await shell.says(['db', 'prune']);
    const said = await shell.says(['uninstall', '--purge', '--yes']);
    expect(said).toContain(`${shell.archive} stays, because it is the archive of removed records`);
    expect(archivedIn(shell.archive)).toHaveLength(4);
  });
});

describe('an archive that cannot be written', () => {
  proves('log:archive-unwritable');

  it('stops the prune if the system accepts no folder at its path', async () => {
    await using shell = new ArchivingShell();
    await shell.past(0, 3);
    const { code, stderr } = await shell.run(['db', 'prune', '--older', '0s', '--archive', '/proc/earpiece/archive']);
    expect(stderr).toContain('the archive /proc/earpiece/archive cannot be written (ENOENT)');
    expect(code).toBeGreaterThan(0);
  });

  it('stops the prune if a file has the name of its folder', async () => {
    await using shell = new ArchivingShell();
    await shell.past(0, 3);
    writeFileSync(shell.archive, '');
    const before = await shell.log();
    const { code, stderr } = await shell.run(['db', 'prune', '--older', '0s']);
    expect({ code, stderr }).toEqual({
      code: expect.toSatisfy((value: number | null) => value !== null && value > 0),
      stderr: `earpiece: the archive ${shell.archive} cannot be written (ENOTDIR), so nothing was removed; give yourself write access to the folder. Or choose another folder: set archive in earpiece.toml, or pass --archive <folder> to earpiece db prune\n`,
    });
    expect(await shell.log()).toEqual(before);
    expect(await shell.run(['doctor'])).toMatchObject({
      stdout: expect.stringContaining(`${shell.archive} cannot be written (ENOTDIR), so nothing is pruned`),
    });
    const ear = await shell.open();
    await ear.store.setSetting('pruned_at', undefined);
    // The server's housekeeping reports the problem and tries again an hour later. The server continues to work.
    const server = shell.begin(['serve', '--port', '0', '--json']);
    await server.shows('"url"');
    for (;;) {
      const at = Number((await ear.store.setting('pruned_at')) ?? 0);
      if (at > 0 && Date.now() - at > 60_000) {
        expect(Date.now() - at).toBeGreaterThan(22 * 3_600_000);
        break;
      }
      await ear.store.changed(await ear.store.head(), { withinMs: 50 });
    }
    server.process.kill('SIGTERM');
    const ended = await server.ended;
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining('housekeeping failed: the archive') });
    expect(await shell.log()).toEqual(before);
  });

  it.runIf(canMount())('stops the prune if the disk is full; after space is freed, the archive is complete', async () => {
    await using shell = new ArchivingShell();
    mkdirSync(shell.archive);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', shell.archive]);
    try {
      await shell.past(0, 3);
      await shell.says(['send', '--to', 'coder', 'stays']);
      writeFileSync(join(shell.archive, 'ballast'), Buffer.alloc(64 * 1_024));
      const before = await shell.log();
      const { code, stderr } = await shell.run(['db', 'prune', '--older', '0s']);
      expect([code, stderr]).toEqual([
        expect.toSatisfy((value: number | null) => value !== null && value > 0),
        expect.stringContaining(
          `the archive ${shell.archive} cannot be written (ENOSPC: the disk is full or a quota is reached), so nothing was removed; free some space`,
        ),
      ]);
      expect(await shell.log()).toEqual(before);
      rmSync(join(shell.archive, 'ballast'));
      expect((await shell.json(['db', 'prune', '--older', '0s']))[0]).toMatchObject({ items: 3 });
      expect(archivedIn(shell.archive)).toEqual(before);
    } finally {
      execFileSync('umount', [shell.archive]);
    }
  });
});

/** Whether this process may mount a file system. In a container, even root may lack this right. */
function canMount(): boolean {
  const probe = mkdtempSync(join(tmpdir(), 'earpiece-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe], { stdio: 'ignore' });
    execFileSync('umount', [probe], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(probe, { recursive: true, force: true });
  }
}
