/**
 * Tests that an agent in a terminal gets notifications if other programs change its files or repository. The agent gets no
 * notifications about its own changes.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { call, ChatStage, count, Hold, readIn, text } from './stage.ts';

const git = (stage: ChatStage, ...args: readonly string[]): void =>
  void execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { cwd: stage.folder });

describe('the surroundings of earpiece chat', { timeout: 90_000 }, () => {
  proves('sources:files', 'sources:git');

  it("report changed files and branches, also between two runs, but not the agent's own changes", async () => {
    const read = new Hold();
    await using stage = await ChatStage.open([
      {
        says: [
          call('c1', 'read_file', { path: 'notes.txt' }),
          call('c2', 'write_file', { path: 'own.txt', content: 'mine' }),
          call('c3', 'run', { command: 'git checkout -q -b own-branch' }),
        ],
      },
      { says: [call('c4', 'run', { command: 'true' })], before: read.stop },
      { says: [text('I see.')] },
      { says: [call('c5', 'read_file', { path: 'notes.txt' })] },
      { says: [text('Another one.')] },
    ]);
    git(stage, 'init', '-q', '-b', 'main');
    writeFileSync(join(stage.folder, 'notes.txt'), 'FIRST-VERSION');
    git(stage, 'add', 'notes.txt');
    git(stage, 'commit', '-q', '-m', 'notes');

    const chat = stage.begin(['chat', '--json', '--as', 'coder#a']);
    chat.process.stdin.write('look\n');
    await read.reached;
    writeFileSync(join(stage.folder, 'notes.txt'), 'SECOND-VERSION');
    await chat.shows('"kind":"file.changed"');
    git(stage, 'checkout', '-q', '-b', 'their-branch');
    await chat.shows('"kind":"git.branch_switched"');
    read.letGo();
    await chat.shows('"turn_ended"');
    chat.process.stdin.end();
    expect(await chat.ended).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(stage.folder, 'own.txt'), 'utf8')).toBe('mine');
    const seen = readIn(stage.model.requests[2]);
    expect(count(seen, 'FIRST-VERSION')).toBe(1);
    expect(count(seen, 'notes.txt')).toBeGreaterThan(0);
    expect(count(seen, 'file_changed: notes.txt')).toBe(1);
    expect(count(seen, 'their-branch')).toBe(1);
    // The agent itself left this branch.
    expect(seen).not.toMatch(/\bmain\b/u);
    expect(count(seen, 'file_created')).toBe(0);

    // The agent keeps its knowledge of the file: its next read reports that the content has changed.
    writeFileSync(join(stage.folder, 'notes.txt'), 'THIRD-VERSION');
    const { code, stderr } = await stage.run(['chat', '--json', '--resume', 'a'], { input: 'and now?\n' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const later = readIn(stage.model.requests.at(-1));
    expect(count(later, 'THIRD-VERSION')).toBe(1);
    expect(count(later, 'source_stale: notes.txt')).toBe(1);
  });

  it('report nothing if they are switched off, or outside of a repository', async () => {
    for (const [toml, inRepository] of [
      ['[sources.files]\nenable = false\n[sources.git]\nenable = false\n', true],
      ['', false],
    ] as const) {
      const read = new Hold();
      await using stage = await ChatStage.open(
        [
          { says: [call('c1', 'read_file', { path: 'notes.txt' })] },
          { says: [call('c2', 'run', { command: 'sleep 0.5' })], before: read.stop },
          { says: [text('I see.')] },
        ],
        toml,
      );
      if (inRepository) git(stage, 'init', '-q', '-b', 'main');
      writeFileSync(join(stage.folder, 'notes.txt'), 'FIRST-VERSION');
      const ran = stage.run(['run', 'look']);
      await read.reached;
      writeFileSync(join(stage.folder, 'notes.txt'), 'SECOND-VERSION');
      if (inRepository) git(stage, 'checkout', '-q', '-b', 'their-branch');
      read.letGo();
      expect(await ran).toMatchObject({ code: 0 });
      expect(readIn(stage.model.requests[2])).not.toMatch(/file_changed|their-branch/u);
    }
  });
});
