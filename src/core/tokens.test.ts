import { readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from './tokens.ts';
import { SHOWN } from './views/bars.ts';
import { CORPUS } from './views/corpus.ts';
import { render } from './views/index.ts';
import { leastProcessorMs } from '../../e2e/processor.ts';

const SAMPLES: Readonly<Record<string, string>> = {
  'the corpus': CORPUS.flatMap((line) => line.messages).join('\n'),
  'the default view': render('default', { ...SHOWN, lines: CORPUS }).text,
  'the XML view': render('xml', { ...SHOWN, lines: CORPUS }).text,
  'the JSON view': render('json', { ...SHOWN, lines: CORPUS }).text,
  'the TOON view': render('toon', { ...SHOWN, lines: CORPUS }).text,
  TypeScript: readFileSync(new URL('./notification.ts', import.meta.url), 'utf8'),
  'JSON with indents': readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  'English prose': `The build that was started twenty minutes ago has ended. Three of its tests fail: two of them time out while
they wait for the database, and one compares a date with the wrong time zone. Nothing else was changed meanwhile, apart
from a new entry in the changelog which somebody committed to the main branch; the release is planned for Thursday.`,
  'Japanese prose': `ビルドは二十分前に開始され、先ほど終了しました。三つのテストが失敗しています。二つはデータベースの応答を待つ間に
タイムアウトし、もう一つは日付を誤ったタイムゾーンで比較しています。詳細はログを確認してください。リリースは木曜日の予定です。`,
  'German prose': `Der vor zwanzig Minuten gestartete Durchlauf ist beendet. Drei Prüfungen schlagen fehl: zwei warten vergeblich auf die
Datenbank, eine vergleicht ein Datum mit der falschen Zeitzone. Die Veröffentlichung bleibt für Donnerstag geplant.`,
  'a log': `2026-08-30T10:32:04.118Z ERROR [worker-3] connect ECONNREFUSED 127.0.0.1:5432 (attempt 4 of 5)
    at Socket.connect (/srv/app/node_modules/pg/lib/connection.js:54:11)
2026-08-30T10:32:09.502Z WARN  [worker-3] giving up after 5384 ms, job 9f86d081884c7d65 goes back to the queue`,
};

describe('estimateTokens', () => {
  it.each(Object.entries(SAMPLES))('is within 25 % of the tokens in o200k: %s', (_, text) => {
    const ratio = estimateTokens(text) / encode(text).length;
    expect(ratio).toBeGreaterThan(0.75);
    expect(ratio).toBeLessThan(1.25);
  });

  it('is 0 for an empty text, and falls by at most 1 when a text grows', () => {
    expect(estimateTokens('')).toBe(0);
    const text = Object.values(SAMPLES).join('\n');
    for (let at = 0; at < text.length; at += 97)
      expect(estimateTokens(text.slice(0, at + 97))).toBeGreaterThanOrEqual(estimateTokens(text.slice(0, at)) - 1);
  });

  it.each(['a', ' ', '\n', '.', 'あ', '😀', 'a b\n  ', '\ud800', '1'])('needs linear time for a long text of %j', (part) => {
    const text = part.repeat(1_000_000 / part.length);
    // The estimate takes about 10 ms. An algorithm that scans backwards from each character takes minutes.
    expect(leastProcessorMs(() => estimateTokens(text), { enoughMs: 500 })).toBeLessThan(500);
  });
});
