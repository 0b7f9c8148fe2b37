/**
 * `node scripts/voice.ts` finds sentences that are hard to read in pages, help, errors, comments and titles of tests. Pages
 * must have no such sentence. For code, `voice/baseline.json` contains a count for each room: a higher count fails, and
 * `--update` writes lower counts. `node scripts/voice.ts <area or file>` lists all findings of that area or file. `--sample
 * <seed>` draws 40 sentences of each kind to judge.
 */
import '../src/node-version.ts';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sample } from './voice/sample.ts';
import { areaOf, findings, overLimit, type Finding } from './voice/voice.ts';

const root = join(import.meta.dirname, '..');
const BASELINE = join(import.meta.dirname, 'voice/baseline.json');
/** The maximum number of findings that are printed for one area. */
const SHOWN = 20;
/** The number of sentences of each kind that `--sample` draws. */
const DRAWN = 40;

const args = process.argv.slice(2);
const wanted = args.filter((arg) => arg !== '--update');
const all = args[0] === '--sample' ? [] : findings(root);
const baseline = JSON.parse(readFileSync(BASELINE, 'utf8')) as Readonly<Record<string, number>>;
const byArea = Map.groupBy(all, ({ file }) => areaOf(file));

if (args[0] === '--sample') draw();
else if (wanted.length > 0) list();
else if (args.includes('--update')) update();
else check();

function draw(): void {
  const seed = args[1];
  if (seed === undefined || args.length > 2) throw new Error('--sample takes one seed, such as the hash of a commit');
  for (const [kind, drawn] of Map.groupBy(sample(root, seed, DRAWN), (each) => each.kind)) {
    process.stdout.write(`${kind}\n`);
    for (const { file, line, text } of drawn) process.stdout.write(`  ${file}:${line} ${text}\n`);
  }
}

function list(): void {
  const found = all.filter(({ file }) => wanted.some((each) => areaOf(file) === each || file.startsWith(each)));
  for (const finding of found) process.stdout.write(shown(finding));
  process.stdout.write(`${found.length} found\n`);
}

/** Writes the lower counts. A higher count is never written, because it means that a sentence must be rewritten. */
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
