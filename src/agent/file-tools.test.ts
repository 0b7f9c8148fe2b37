import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../core/json.ts';
import type { ToolOutcome } from '../handles/tool.ts';
import { fileTools } from './file-tools.ts';

const root = mkdtempSync(join(tmpdir(), 'earpiece-file-tools-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The reports that the files source gets from the tools. The files source has its own tests. */
let noted: string[];
beforeEach(() => (noted = []));
const [read, write] = fileTools({
  root,
  files: {
    noteRead: async (path, content) => void noted.push(`read ${path} ${Buffer.from(content as Uint8Array).toString()}`),
    withOwnWrite: async (path, work) => {
      noted.push(`writes ${String(path)}`);
      return work();
    },
    about: (path) => `file:${path}`,
  },
});
const run = (tool: typeof read, args: Json): Promise<ToolOutcome> => {
  if (tool === undefined) throw new Error('no tool');
  return tool.execute(args, { id: 'c', signal: new AbortController().signal, batch: [], progress: () => {} });
};
const at = (name: string): string => join(root, name);

describe('read_file', () => {
  it('returns the text unchanged, and reports the file as read', async () => {
    writeFileSync(at('a.txt'), 'one\ntwo\n');
    expect(await run(read, { path: 'a.txt' })).toEqual({ content: 'one\ntwo', knows: [`file:${at('a.txt')}`] });
    expect(noted).toEqual([`read ${at('a.txt')} one\ntwo\n`]);
  });

  it.each([
    [{ from: 2, lines: 2 }, '2\n3\n[lines 2–3 of 5,000; continue with from: 4]'],
    [{ from: 4_999, lines: null }, '4999\n5000\n[lines 4,999–5,000 of 5,000]'],
    [{ from: null, lines: 1 }, '1\n[lines 1–1 of 5,000; continue with from: 2]'],
    [{ from: 5_001 }, '(the last line of the file is 5,000)'],
  ])('returns the requested part of a file: %j', async (args, content) => {
    writeFileSync(at('long.txt'), Array.from({ length: 5_000 }, (_, i) => `${i + 1}\n`).join(''));
    expect(await run(read, { path: 'long.txt', ...args })).toEqual({ content });
  });

  it('counts only a file that is shown whole as known', async () => {
    writeFileSync(at('two.txt'), 'one\ntwo');
    const knows = [`file:${at('two.txt')}`];
    expect(await run(read, { path: 'two.txt', lines: 2 })).toEqual({ content: 'one\ntwo', knows });
    expect(await run(read, { path: 'two.txt', lines: 1 })).not.toHaveProperty('knows');
    writeFileSync(at('two.txt'), 'x'.repeat(60_000));
    expect(await run(read, { path: 'two.txt' })).not.toHaveProperty('knows');
    writeFileSync(at('two.txt'), '');
    expect(await run(read, { path: 'two.txt' })).toEqual({ content: '(the file is empty)', knows });
  });

  it('never returns more than the limit of one answer', async () => {
    writeFileSync(at('wide.txt'), `${'x'.repeat(200_000)}\n${'y'.repeat(10)}`);
    const { content } = await run(read, { path: 'wide.txt' });
    expect(content.length).toBeLessThan(50_100);
    expect(content).toMatch(/x…\n\[lines 1–1 of 2; continue with from: 2\]$/u);
  });

  it('says that an empty file is empty', async () => {
    writeFileSync(at('empty'), '');
    expect((await run(read, { path: 'empty' })).content).toBe('(the file is empty)');
  });

  it.each<[Json, string]>([
    [{ path: 'gone.txt' }, 'gone.txt cannot be read: the path does not exist'],
    [{ path: '.' }, '. is a folder'],
    [{ path: 'binary' }, 'binary is not a text file: some of its 3 bytes are 0'],
    [{ path: 'round' }, 'round cannot be read: the links in the path form a loop'],
    [{ path: '/dev/zero' }, '/dev/zero is not a regular file'],
    [{ path: 7 }, 'path must be the path of a file, got 7'],
    [{}, 'path must be the path of a file, got (missing)'],
    [{ path: 'a.txt', from: 0 }, 'from must be a line number of at least 1, got 0'],
    [{ path: 'a.txt', lines: 'all' }, 'lines must be a whole number above 0, got "all"'],
  ])('%j is refused', async (args, message) => {
    writeFileSync(at('binary'), Buffer.from([1, 0, 2]));
    rmSync(at('round'), { force: true });
    symlinkSync(at('round'), at('round'));
    expect(await run(read, args)).toEqual({ content: message, isError: true });
    expect(noted).toEqual([]);
  });
});

describe('write_file', () => {
  it('returns an error if the system accepts no folder at the path', async () => {
    expect(await run(write, { path: '/proc/earpiece/a.txt', content: '' })).toMatchObject({
      content: expect.stringContaining('/proc/earpiece/a.txt cannot be written'),
    });
  });

  it("creates the file and its folders, and the write counts as the agent's own", async () => {
    expect(await run(write, { path: 'new/folder/b.txt', content: 'grün\n' })).toEqual({
      content: 'Written: new/folder/b.txt, 6 bytes.',
    });
    expect(readFileSync(at('new/folder/b.txt'), 'utf8')).toBe('grün\n');
    expect(noted).toEqual([`writes ${at('new/folder/b.txt')}`]);
  });

  it.each<[Json, string]>([
    [{ path: 'sub', content: 'x' }, 'sub cannot be written: the path is a folder'],
    [{ path: 'plain/x', content: 'x' }, 'plain/x cannot be written: a part of the path is not a folder'],
    [{ path: 'x' }, 'content must be a text, got (missing)'],
  ])('%j is refused', async (args, message) => {
    mkdirSync(at('sub'), { recursive: true });
    writeFileSync(at('plain'), '');
    expect(await run(write, args)).toEqual({ content: message, isError: true });
  });
});
