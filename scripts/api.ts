/**
 * `node scripts/api.ts` compares the public declarations of each subpath with `api/`, so that every change of the public API is
 * noticed. `--update` writes `api/`. The script reads `dist`, so build first.
 */
import '../src/node-version.ts';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { build } from 'tsdown';

const root = join(import.meta.dirname, '..');
const golden = join(root, 'api');
const update = process.argv.includes('--update');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Readonly<Record<string, { readonly types: string } | string>>;
};
const files = Object.values(exports).flatMap((each) => (typeof each === 'string' ? [] : [each.types.slice('./dist/'.length)]));

const folder = mkdtempSync(join(tmpdir(), 'earpiece-api-'));
try {
  for (const file of files)
    await build({
      entry: { [file.replace(/\.d\.ts$/u, '')]: join(root, 'dist', file) },
      outDir: join(folder, file),
      platform: 'node',
      dts: { dtsInput: true, emitDtsOnly: true, sourcemap: false },
      fixedExtension: false,
      clean: false,
      config: false,
      logLevel: 'error',
    });
  if (update) mkdirSync(golden, { recursive: true });
  for (const file of files) compare(file, declarations(file));
  for (const file of readdirSync(golden)) if (!files.includes(file)) gone(file);
} finally {
  rmSync(folder, { recursive: true });
}

/**
 * Returns, as one text, the declarations of all exports of the subpath, and of the types from other files that these exports
 * use.
 */
function declarations(file: string): string {
  const text = readFileSync(join(folder, file, file), 'utf8').replaceAll(/^\/\/#(?:end)?region.*\n/gmu, '');
  // Comments are not part of the types. One name per line makes the diff of a change easy to read.
  return text
    .replaceAll(/^ *\/\*\*[\s\S]*?\*\/\n/gmu, '')
    .replace(/^export \{ (.*) \};\s*$/mu, (_, names: string) => `export {\n  ${names.split(', ').join(',\n  ')},\n};\n`);
}

function compare(file: string, now: string): void {
  const path = join(golden, file);
  if (update) {
    writeFileSync(path, now);
    return;
  }
  const before = readdirSync(golden).includes(file) ? readFileSync(path, 'utf8') : '';
  if (before === now) return;
  process.exitCode = 1;
  process.stdout.write(createTwoFilesPatch(`api/${file}`, `dist/${file}`, before, now, '', '', { context: 2 }));
  process.stdout.write('the public declarations changed; if that is intended: node scripts/api.ts --update\n');
}

function gone(file: string): void {
  if (update) rmSync(join(golden, file));
  else {
    process.exitCode = 1;
    process.stdout.write(`api/${file} belongs to no subpath any more; node scripts/api.ts --update removes it\n`);
  }
}
