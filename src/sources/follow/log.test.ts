import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Json } from '../../core/json.ts';
import { groupsOf, type Followed } from './list.ts';
import { logFollower } from './log.ts';

let folder: string;
let file: string;
let state: Json | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-log-'));
  file = join(folder, 'a.log');
  writeFileSync(file, 'ERROR old\n');
  state = undefined;
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Makes a check, and returns the reported lines with their ids. */
async function look(): Promise<{ readonly id: string; readonly line: unknown }[]> {
  const follower = logFollower({ kind: 'log', file, match: 'ERROR' }, {});
  const found = await follower.look(state, new AbortController().signal);
  state = found.state;
  return found.news.map(({ id, data }) => ({ id, line: (data as { line: string }).line }));
}

const lines = async (): Promise<unknown[]> => (await look()).map(({ line }) => line);

describe('a log file that is emptied', () => {
  it('is read from its beginning each time, and each of its events has a new id', async () => {
    await look();
    const ids: string[] = [];
    for (let round = 1; round <= 3; round++) {
      writeFileSync(file, '');
      expect(await look()).toEqual([]);
      appendFileSync(file, `ERROR one of ${round}\nERROR two of ${round}\n`);
      const found = await look();
      expect(found.map(({ line }) => line)).toEqual([`ERROR one of ${round}`, `ERROR two of ${round}`]);
      ids.push(...found.map(({ id }) => id));
    }
    expect(new Set(ids).size).toBe(6);
  });

  it('is read from its beginning if it has grown past the earlier end since the last check', async () => {
    await look();
    writeFileSync(file, 'ERROR longer than the line before\n');
    expect(await lines()).toEqual(['ERROR longer than the line before']);
    appendFileSync(file, 'ERROR next\n');
    expect(await lines()).toEqual(['ERROR next']);
  });

  it.each(['', ' and more'])('is read from its beginning if it ends with the same long summary%s', async (more) => {
    const summary = `checked 120 files in 3 projects; ${'see https://example.com/help '.repeat(4)}\n`;
    await look();
    writeFileSync(file, `ERROR aaa\n${summary}`);
    expect(await lines()).toEqual(['ERROR aaa']);
    writeFileSync(file, `ERROR bbb\n${summary}${more}`);
    expect(await lines()).toEqual(['ERROR bbb']);
    expect(await lines()).toEqual([]);
  });
});

it('the state of an earlier version, which has no hash of the beginning, reads the next lines', async () => {
  await look();
  const { head, ...rest } = state as { readonly head?: string };
  expect(head).toHaveLength(22);
  state = rest;
  appendFileSync(file, 'ERROR next\n');
  expect(await lines()).toEqual(['ERROR next']);
  expect(state).toMatchObject({ head: expect.any(String) });
});

it('a folder at the path of the log is checked again after a second, and a file that replaces it is read from its beginning', async () => {
  await look();
  rmSync(file);
  mkdirSync(file);
  await expect(look()).rejects.toMatchObject({ message: `${file} is not a regular file`, everyMs: 1_000 });
  rmSync(file, { recursive: true });
  writeFileSync(file, 'ERROR later\n');
  expect(await lines()).toEqual(['ERROR later']);
});

it('a match far in a long line is found, and the reported text has the match; carriage returns and backspaces hide nothing', async () => {
  await look();
  appendFileSync(file, `${'c'.repeat(60_000)} ERROR at the end ${'d'.repeat(400)}\n`);
  const [far] = await lines();
  expect(far).toMatch(/^…c{79} ERROR at the end d+…$/u);
  expect(String(far)).toHaveLength(300);
  appendFileSync(file, 'ERROR one\rfine\nERROR two\b\b\b\b\b\b\b\b\b\nERROR three\r\n');
  expect(await lines()).toEqual(['ERROR one fine', 'ERROR two', 'ERROR three']);
});

it('the reported text of a long line has the match, even if the matched word is also a part of an earlier word', async () => {
  const word = logFollower({ kind: 'log', file, match: '\\bERR\\b' }, {});
  const { state } = await word.look(undefined, new AbortController().signal);
  appendFileSync(file, `xERRx ${'q'.repeat(1_000)} real ERR here\n`);
  const { news } = await word.look(state, new AbortController().signal);
  expect(news.map(({ data }) => (data as { line: string }).line)).toEqual([expect.stringContaining('real ERR here')]);
});

it('a log file that is replaced, or removed and written again, is read from its beginning', async () => {
  await look();
  const ids: string[] = [];
  for (let round = 0; round < 4; round++) {
    if (round % 2 === 0) renameSync(file, `${file}.${round}`);
    else rmSync(file);
    expect(await look()).toEqual([]);
    writeFileSync(file, 'ERROR new\n');
    const found = await look();
    expect(found).toHaveLength(1);
    ids.push(...found.map(({ id }) => id));
  }
  expect(new Set(ids).size).toBe(4);
});

describe('a burst of lines', () => {
  it('is read in one check, which reports the first 51 different lines and the number of the others', async () => {
    await look();
    const many = Array.from({ length: 100_000 }, (_, n) => `ERROR ${n >> 1}`);
    appendFileSync(file, `fine\n${many.join('\n')}\n`);
    const found = await look();
    const first = Array.from({ length: 51 }, (_, n) => `ERROR ${n}`);
    expect(found.map(({ line }) => line)).toEqual([...first, '… and 99,949 more matching lines']);
    appendFileSync(file, `ERROR newer\n${many.slice(0, 103).join('\n')}\n`);
    const next = await look();
    expect(next.map(({ line }) => line)).toEqual(['ERROR newer', ...first.slice(0, 50), '… and 53 more matching lines']);
    expect(new Set([...found, ...next].map(({ id }) => id)).size).toBe(104);
    expect(await look()).toEqual([]);
  });

  it('with at most 51 lines is reported line by line, also if lines are repeated', async () => {
    await look();
    const many = Array.from({ length: 51 }, (_, n) => `ERROR ${n % 3}`);
    appendFileSync(file, `${many.join('\n')}\n`);
    expect(await lines()).toEqual(many);
    appendFileSync(file, `${many.join('\n')}\nERROR 0\n`);
    expect(await lines()).toEqual(['ERROR 0', 'ERROR 1', 'ERROR 2', '… and 49 more matching lines']);
  });

  it('with more than 64 MB is read in several checks, and the summary says how much is still to read', async () => {
    await look();
    for (let n = 0; n < 70; n++) appendFileSync(file, `ERROR ${n} ${'x'.repeat(1_048_576)}\n`);
    const follower = logFollower({ kind: 'log', file, match: 'ERROR' }, {});
    const { news, againMs, summary, state: after } = await follower.look(state, new AbortController().signal);
    expect({ news: news.length, againMs, summary }).toMatchObject({ news: 52, againMs: 0 });
    expect(summary).toMatch(/^6 MB still to read, last: ERROR 6\d x+…$/u);
    state = after;
    expect((await lines()).at(-1)).toMatch(/^ERROR 69 x+…$/u);
  });

  it('is read further by the next check if the process ends during the check, and no line is lost or repeated', async () => {
    await look();
    appendFileSync(file, `ERROR one\n${'fine\n'.repeat(300_000)}ERROR two\n`);
    const ending = new AbortController();
    const found = logFollower({ kind: 'log', file, match: 'ERROR' }, {}).look(state, ending.signal);
    ending.abort();
    const { news, state: after } = await found;
    expect(news.map(({ message }) => message)).toEqual([`${file}: ERROR one`]);
    state = after;
    expect(await lines()).toEqual(['ERROR two']);
  });

  it('is read from its beginning by the next check if the file is emptied during the check', async () => {
    await look();
    appendFileSync(file, `ERROR one\n${'fine\n'.repeat(300_000)}`);
    const found = lines();
    writeFileSync(file, `ERROR new\n${'fine\n'.repeat(400_000)}`);
    expect(await found).toEqual(['ERROR one']);
    expect(await lines()).toEqual(['ERROR new']);
  });
});

describe('a log file that is rotated', () => {
  it('is read to its end under its new name, also an unfinished line, before the new file', async () => {
    await look();
    appendFileSync(file, 'ERROR last of the old\nERROR unfinished');
    renameSync(file, join(folder, 'a.log.1'));
    writeFileSync(file, 'ERROR first of the new\n');
    expect(await lines()).toEqual(['ERROR last of the old', 'ERROR unfinished']);
    expect(await lines()).toEqual(['ERROR first of the new']);
    expect(await lines()).toEqual([]);
    appendFileSync(file, 'ERROR second\n');
    expect(await lines()).toEqual(['ERROR second']);
  });

  it('is followed under its new name until a new file exists', async () => {
    await look();
    appendFileSync(file, 'ERROR one\n');
    renameSync(file, join(folder, 'a.log-2026'));
    expect(await lines()).toEqual(['ERROR one']);
    appendFileSync(join(folder, 'a.log-2026'), 'ERROR two\n');
    expect(await lines()).toEqual(['ERROR two']);
    writeFileSync(file, 'ERROR three\n');
    expect(await lines()).toEqual(['ERROR three']);
  });

  it('is read to its end in one check if it has many lines, and the lines after the first 51 are counted', async () => {
    await look();
    const many = Array.from({ length: 120 }, (_, n) => `ERROR ${n}`);
    appendFileSync(file, `${many.join('\n')}\n`);
    renameSync(file, join(folder, 'a.log.1'));
    writeFileSync(file, 'ERROR new\n');
    expect(await lines()).toEqual([...many.slice(0, 51), '… and 69 more matching lines']);
    expect(await lines()).toEqual(['ERROR new']);
    expect(await lines()).toEqual([]);
  });

  it('is read to its end in the folder to which its path links', async () => {
    const real = mkdtempSync(join(tmpdir(), 'earpiece-log-real-'));
    try {
      rmSync(file);
      writeFileSync(join(real, 'b.log'), '');
      symlinkSync(join(real, 'b.log'), file);
      await look();
      appendFileSync(file, 'ERROR last of the old\n');
      renameSync(join(real, 'b.log'), join(real, 'b.log.1'));
      writeFileSync(join(real, 'b.log'), 'ERROR first of the new\n');
      expect(await lines()).toEqual(['ERROR last of the old']);
      expect(await lines()).toEqual(['ERROR first of the new']);
    } finally {
      rmSync(real, { recursive: true });
    }
  });

  it.each(['absolute', 'relative'])(
    'is followed under its new name until a new file exists, behind a link whose path is %s',
    async (how) => {
      const real = mkdtempSync(join(tmpdir(), 'earpiece-log-real-'));
      try {
        rmSync(file);
        const target = join(real, 'b.log');
        writeFileSync(target, '');
        symlinkSync(how === 'absolute' ? target : relative(realpathSync(folder), realpathSync(target)), file);
        await look();
        appendFileSync(target, 'ERROR last of the old\n');
        renameSync(target, join(real, 'b.log.1'));
        expect(await lines()).toEqual(['ERROR last of the old']);
        writeFileSync(target, 'ERROR first of the new\n');
        expect(await lines()).toEqual(['ERROR first of the new']);
      } finally {
        rmSync(real, { recursive: true });
      }
    },
  );

  it.each([
    ['log.1', ''],
    ['log-2.txt', ''],
    ['log.9999', 'log.'],
  ])('is found as %s among 1,100 files whose names begin with "%s"', async (name, others) => {
    file = join(folder, 'log');
    writeFileSync(file, '');
    for (let n = 1_000; n < 2_100; n++) writeFileSync(join(folder, `${others}${n}`), '');
    await look();
    appendFileSync(file, 'ERROR last of the old\n');
    renameSync(file, join(folder, name));
    writeFileSync(file, '');
    expect(await lines()).toEqual(['ERROR last of the old']);
  });

  it.each(['deleted', 'linked'])('is replaced by a file that is read from its beginning if the old file is %s', async (how) => {
    await look();
    appendFileSync(file, 'ERROR lost\n');
    if (how === 'deleted') rmSync(file);
    else {
      renameSync(file, join(folder, '..', 'earpiece-log-elsewhere'));
      symlinkSync(join(folder, '..', 'earpiece-log-elsewhere'), join(folder, 'a.log.1'));
    }
    writeFileSync(join(folder, 'other'), '');
    writeFileSync(file, 'ERROR new\n');
    expect(await lines()).toEqual(['ERROR new']);
    rmSync(join(folder, '..', 'earpiece-log-elsewhere'), { force: true });
  });
});

describe('a log file that an agent follows', () => {
  let real: string;
  let inner: string;
  let path: string;
  let outside: string;
  beforeEach(() => {
    real = realpathSync(folder);
    inner = join(real, 'logs', 'today');
    mkdirSync(inner, { recursive: true });
    path = join(inner, 'b.log');
    writeFileSync(path, 'old\n');
    outside = mkdtempSync(join(tmpdir(), 'earpiece-log-outside-'));
    writeFileSync(join(outside, 'b.log'), 'ERROR secret\n');
    mkdirSync(join(outside, 'today'));
    mkdirSync(join(outside, 'folder', 'b.log'), { recursive: true });
  });
  afterEach(() => rmSync(outside, { recursive: true }));

  const check = async (ofAgent: boolean): Promise<{ readonly news: Json; readonly summary: string }> => {
    const follower = logFollower({ kind: 'log', file: path, match: 'ERROR' }, ofAgent ? { by: 'shop/coder' } : {});
    const found = await follower.look(state, new AbortController().signal);
    state = found.state;
    return { news: found.news.map(({ message }) => message), summary: found.summary };
  };

  it.each([
    ['the file', () => path, 'b.log'],
    ['the file, and leads to no file', () => path, 'none.log'],
    ['the file, and leads to a folder', () => path, 'folder'],
    ['the file, and leads through a file', () => path, 'b.log/none'],
    ['the file, and leads to no folder', () => path, 'none/b.log'],
    ['its folder', () => inner, '.'],
    ['its folder, and leads to a folder without the file', () => inner, 'today'],
    ['its folder, and leads to a folder with such a folder', () => inner, 'folder'],
    ['its folder, and leads to no folder', () => inner, 'none'],
    ['the folder above', () => join(real, 'logs'), '.'],
  ] as const)('is refused with the same reason if a link replaces %s', async (what, replaced, target) => {
    await check(true);
    rmSync(replaced(), { recursive: true });
    symlinkSync(join(outside, target), replaced());
    await expect(check(true)).rejects.toMatchObject({
      message: `${path} is now a link, which could lead out of the project; a person can run: earpiece follow log <file>`,
      lasting: true,
    });
    // A person may follow a link.
    if (target === 'b.log' || target === '.')
      await expect(check(false)).resolves.toMatchObject({ news: what.includes('above') ? [] : [`${path}: ERROR secret`] });
  });

  it.each(['person', 'agent'])('is read behind a link while a person follows it too, if the %s was first', async (first) => {
    const what = { kind: 'log', file: path, match: 'ERROR' } as const;
    const person: Followed = { id: 'f1', uid: 'p', what, to: 'shop/*', since: 0 };
    const agent: Followed = { id: 'f2', uid: 'a', what, to: 'shop/coder', since: 1, by: 'shop/coder' };
    const both = first === 'person' ? [person, { ...agent, group: 'p' }] : [agent, { ...person, group: 'a' }];
    const checkFor = async (list: readonly Followed[]): Promise<readonly string[]> => {
      const groups = groupsOf(list);
      expect(groups).toHaveLength(1);
      const found = await Promise.all(groups.map((group) => logFollower(what, group).look(state, new AbortController().signal)));
      state = found[0]?.state;
      return found.flatMap(({ news }) => news.map(({ message }) => message));
    };
    expect(await checkFor(both)).toEqual([]);
    rmSync(path);
    symlinkSync(join(outside, 'b.log'), path);
    expect(await checkFor(both)).toEqual([`${path}: ERROR secret`]);
    // The person's permission ends with the person's follower.
    const left = both.map((each): Followed => (each.uid === 'p' ? { ...each, ending: true } : each));
    for (const list of [left, left.filter(({ ending }) => !ending)])
      await expect(checkFor(list)).rejects.toThrow('is now a link');
    expect(await checkFor([person])).toEqual([]);
  });

  it.each(['the file', 'its folder', 'the folder above'])('does not exist if %s is removed', async (what) => {
    await check(true);
    rmSync(what === 'the file' ? path : what === 'its folder' ? inner : join(real, 'logs'), { recursive: true });
    expect(await check(true)).toEqual({ news: [], summary: 'the file does not exist yet' });
  });
});
