import fc from 'fast-check';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { Output, type OutputOptions } from './output.ts';

let folder: string;
let made = 0;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-output-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function output(chunks: readonly (string | Buffer)[], options: OutputOptions = {}): Output {
  const filled = new Output({ path: join(folder, `output-${++made}`), ...options });
  for (const chunk of chunks) filled.append(Buffer.from(chunk));
  filled.close();
  return filled;
}

const numbers = (to: number): string => Array.from({ length: to }, (_, i) => `${i + 1}\n`).join('');

describe('the output of a process', () => {
  it('is shown completely if it fits the limit', () => {
    expect(output([]).text(100)).toBe('');
    expect(output(['one\n', 'two']).text(100)).toBe('one\ntwo');
    expect(output(['one\n', 'two']).lines).toBe(2);
    // The text is longer than the kept end (128 KiB), but the kept beginning and the kept end together contain the whole text.
    const long = numbers(25_000);
    expect(output([long]).text(200_000)).toBe(long);
  });

  it('is cut in the middle at line ends, with a note about the missing lines and how to read them', () => {
    const text = output([numbers(1_000)], { how: (from) => JSON.stringify(from) }).text(200);
    const [before, after] = text.split(/\[….*…\]\n/u) as [string, string];
    const note = /\[….*…\]/u.exec(text)?.[0] ?? '';
    const last = Number(before.trimEnd().split('\n').at(-1));
    const next = Number(after.split('\n')[0]);
    expect(note).toContain(`lines ${last + 1}–${next - 1}, `);
    expect(note).toContain(`read them with {"from":${last + 1},"lines":200}`);
    expect(after.trimEnd().split('\n').at(-1)).toBe('1000');
    expect(text.length).toBeLessThan(350);
  });

  it('a long line is cut by bytes, never within a character', async () => {
    const long = output(['👂'.repeat(50_000)], { how: (from) => JSON.stringify(from) });
    const text = long.text(1_000);
    expect(text).not.toContain('\ufffd');
    expect(text).toContain('{"fromByte":250}');
    const first = await long.read({ from: 1 }, 1_000);
    expect(first.range).toBe('lines 1–1 of 1; the line continues at byte 1000');
    expect(await long.read({ fromByte: 199_996 }, 1_000)).toEqual({ content: '👂', range: 'bytes 199,996–200,000 of 200,000' });
  });

  it('is read by lines from the start and from the end', async () => {
    const all = output([numbers(50_000), 'unfinished']);
    expect(await all.read({ from: 1, lines: 2 }, 100)).toEqual({ content: '1\n2\n', range: 'lines 1–2 of 50,001' });
    expect(await all.read({ from: 33_333, lines: 1 }, 100)).toMatchObject({ content: '33333\n' });
    expect(await all.read({ from: -2 }, 100)).toEqual({ content: '50000\nunfinished', range: 'lines 50,000–50,001 of 50,001' });
    expect(await all.read({ from: -999_999, lines: 1 }, 100)).toMatchObject({ content: '1\n' });
    expect(await all.read({ from: 60_000 }, 100)).toEqual({ content: '', range: 'the output ends at line 50,001' });
    // The answer contains as many whole lines as fit.
    expect(await all.read({ from: 1, lines: 1_000 }, 7)).toEqual({ content: '1\n2\n3\n', range: 'lines 1–3 of 50,001' });
  });

  it('keeps the beginning and the end if it exceeds the limit of the file, and says so', async () => {
    const all = output([numbers(200_000)], { maxBytes: 200_000 });
    expect(all.text(1_000)).toContain('only the first 200,000 and the last 131,072 bytes were kept');
    expect(await all.read({ from: -1 }, 100)).toMatchObject({ content: '200000\n' });
    const lost = { content: '', range: 'only the first 200,000 and the last 131,072 bytes were kept' };
    // Line 50,177 is the first line after an entry of the index, so its place is known without a read.
    for (const from of [50_177, 100_000]) expect(await all.read({ from, lines: 1 }, 100)).toEqual(lost);
    expect(await all.read({ fromByte: 500_000 }, 100)).toEqual(lost);
    expect(await all.read({ fromByte: 2_000_000 }, 100)).toEqual({ content: '', range: 'the output ends at byte 1,288,895' });
  });

  it('keeps the beginning and the end if the file cannot be written, and says why', () => {
    const all = output([numbers(100_000)], { path: join(folder, 'no', 'such', 'folder') });
    expect(all.text(500)).toMatch(/only the first 32,768 and the last 131,072 bytes were kept \(ENOENT/u);
  });

  it('an output that fits into memory is complete even if its file cannot be written', async () => {
    const text = numbers(25_000);
    for (const options of [{ path: join(folder, 'no', 'such', 'folder') }, { maxBytes: 1_000 }]) {
      const all = output([text], options);
      expect(all.text(500)).toMatch(/^\[… lines [\d,]+–[\d,]+, [\d,]+ bytes are left out …\]$/mu);
      // This part begins in the kept beginning and ends after it.
      const part = { fromByte: 10_000, bytes: 30_000 };
      expect(await all.read(part, 30_000)).toEqual({
        content: text.slice(10_000, 40_000),
        range: 'bytes 10,000–40,000 of 138,894',
      });
    }
  });

  it('is the same however it is divided into chunks', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: fc.constantFrom('a', '\n', 'ß', '👂'), maxLength: 30 }), { maxLength: 30 }),
        fc.integer({ min: -5, max: 40 }).filter((from) => from !== 0),
        fc.integer({ min: 1, max: 10 }),
        async (chunks, from, lines) => {
          const whole = chunks.join('');
          const all = output(chunks);
          expect(all.text(100_000)).toBe(whole);
          const split = whole.match(/[^\n]*\n|[^\n]+$/gu) ?? [];
          const start = from < 0 ? Math.max(0, split.length + from) : from - 1;
          expect((await all.read({ from, lines }, 100_000)).content).toBe(split.slice(start, start + lines).join(''));
        },
      ),
      { numRuns: 200 },
    );
  });
});
