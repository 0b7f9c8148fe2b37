import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

import { HASHED_BYTES, hashOf, isHash, look } from './look.ts';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-look-'));
const at = (name: string): string => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

test.each([0, 1, 1_048_575, 1_048_576, 1_048_577, 3_000_000, HASHED_BYTES])(
  'a file of %i bytes is hashed as a whole',
  async (size) => {
    const content = Buffer.alloc(size, 'earpiece ');
    writeFileSync(at('file'), content);
    const seen = await look(at('file'));
    expect(seen).toMatchObject({ kind: 'file', hash: hashOf(content), empty: size === 0, moving: false });
  },
);

test('a file above the hashing limit is compared by size and time', async () => {
  writeFileSync(at('huge'), Buffer.alloc(HASHED_BYTES + 1));
  const seen = await look(at('huge'));
  expect(seen).toMatchObject({ kind: 'file', hash: expect.stringMatching(`^stat:${HASHED_BYTES + 1}:`) as string });
  expect(seen.kind === 'file' && isHash(seen.hash)).toBe(true);
});

test('a write during the read is detected', async () => {
  writeFileSync(at('growing'), Buffer.alloc(8_000_000));
  let done = false;
  const looking = look(at('growing')).finally(() => (done = true));
  while (!done) {
    appendFileSync(at('growing'), 'x');
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await looking).toMatchObject({ kind: 'file', moving: true });
});

test('a path without a regular file is reported as gone or unclear', async () => {
  mkdirSync(at('folder'));
  symlinkSync(at('loop'), at('loop'));
  symlinkSync(at('nowhere'), at('dangling'));
  writeFileSync(at('plain'), '');
  expect(await look(at('none'))).toEqual({ kind: 'gone' });
  expect(await look(at('plain/below'))).toEqual({ kind: 'gone' });
  expect(await look(at('folder'))).toEqual({ kind: 'gone' });
  expect(await look(at('dangling'))).toEqual({ kind: 'gone' });
  expect(await look(at('loop'))).toEqual({ kind: 'unclear', why: 'ELOOP' });
  expect(await look('/dev/null')).toEqual({ kind: 'unclear' });
});

test.each([
  [hashOf('x'), true],
  ['stat:1:2.5', true],
  ['stat:', false],
  ['sha256:zz', false],
  ['absent', false],
])('%s is a hash: %s', (text, is) => {
  expect(isHash(text)).toBe(is);
});
