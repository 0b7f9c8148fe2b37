/**
 * `node scripts/voice.ts`: sentences that are hard to read, in pages, help, errors, comments and titles of tests. Each page has
 * none. For code, `voice/baseline.json` holds a count for each room: a higher count fails, `--update` writes lower ones.
 * `node scripts/voice.ts <area or file>` lists all findings there.
 */
import '../src/node-version.ts';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { areaOf, findings, overLimit, type Finding } from './voice/voice.ts';

const root = join(import.meta.dirname, '..');
const BASELINE = join(import.meta.dirname, 'voice/baseline.json');
/** Findings that are printed of one area. */
const SHOWN = 20;

const args = process.argv.slice(2);
const wanted = args.filter((arg) => arg !== '--update');
const all = findings(root);
const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Readonly<Record<string, number>>;
const byArea = Map.groupBy(all, ({ file }) => areaOf(file));

if (wanted.length > 0) list();
else if (args.includes('--update')) update();
else check();

function list(): void {
  const found = all.filter(({ file }) => wanted.some((each) => areaOf(file) === each || file.startsWith(each)));
  for (const finding of found) process.stdout.write(shown(finding));
  process.stdout.write(`${found.length} found\n`);
}

/** Only downwards: a count that has grown is a sentence to rewrite. */
function update(): void {
  const counts = [...byArea].map(([area, found]) => [area, Math.min(found.length, baseline[area] ?? 0)] as const);
  const rows = counts.filter(([, count]) => count > 0).toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(BASELINE, `${JSON.stringify(Object.fromEntries(rows), undefined, 2)}\n`);
  check(Object.fromEntries(rows));
}

function check(limits = baseline): void {
  for (const { area, found, most } of overLimit(byArea, limits)) {
    process.exitCode = 1;
    process.stdout.write(`${area}: ${found.length} hard sentences, at most ${most}\n`);
    for (const finding of newestFirst(found).slice(0, SHOWN)) process.stdout.write(shown(finding));
    if (found.length > SHOWN) process.stdout.write(`  all ${found.length}: node scripts/voice.ts ${JSON.stringify(area)}\n`);
  }
  const fewer = Object.entries(limits).filter(([area, most]) => (byArea.get(area)?.length ?? 0) < most).length;
  if (fewer > 0) process.stdout.write(`${fewer} areas have fewer than before; keep that: node scripts/voice.ts --update\n`);
  process.stdout.write(
    `${all.length} hard sentences, ${all.filter(({ file }) => file.endsWith('.md')).length} of them in pages\n`,
  );
}

function newestFirst(found: readonly Finding[]): Finding[] {
  return found.toSorted((a, b) => statSync(join(root, b.file)).mtimeMs - statSync(join(root, a.file)).mtimeMs);
}

function shown({ file, line, rule, sentence, better }: Finding): string {
  return `  ${file}:${line} ${rule}: ${sentence}\n    ${better}\n`;
}
