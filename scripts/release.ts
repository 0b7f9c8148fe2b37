/**
 * `npm run release -- --dry-run` builds the package, packs it, installs the tarball into an empty folder and runs the smoke
 * test there. Without `--dry-run`, the script then publishes exactly that tarball, with provenance.
 *
 * The owner of the project fills `publisher.json`, and the script writes its fields (repository, homepage, bugs) into the
 * package.json of the tarball. If a field is empty, the script leaves it out of the package.json and refuses to publish.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { deadLinks, manifestOf, refusals, sizes, type Publisher } from './release/parts.ts';
import { smoke } from './release/smoke.ts';

const root = join(import.meta.dirname, '..');
const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, keep: { type: 'boolean', default: false } },
});
const dryRun = values['dry-run'];
const publisher = JSON.parse(readFileSync(join(root, 'publisher.json'), 'utf8')) as Publisher;

const run = (command: string, args: readonly string[], cwd: string): string =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const git = (...args: readonly string[]): string => run('git', args, root).trim();

const refused = refusals({ publisher, branch: git('rev-parse', '--abbrev-ref', 'HEAD'), changed: git('status', '--porcelain') });
if (refused.length > 0) {
  console.error(refused.map((line) => `${dryRun ? 'would be refused' : 'refused'}: ${line}`).join('\n'));
  if (!dryRun) process.exit(1);
}

const folder = mkdtempSync(join(tmpdir(), 'earpiece-release-'));
try {
  console.log('build');
  run('npm', ['run', 'build', '--silent'], root);
  const tarball = pack();
  const { packed, unpacked, files } = sizes(tarball);
  console.log(`${tarball.split('/').at(-1)}: ${kilobytes(packed)} packed, ${kilobytes(unpacked)} unpacked, ${files.total} files`);
  for (const [name, { count, bytes }] of files.folders)
    console.log(`  ${name.padEnd(18)} ${String(count).padStart(4)} files ${kilobytes(bytes).padStart(9)}`);
  const dead = deadLinks(join(folder, 'package'));
  if (dead.length > 0) throw new Error(`the pages of the tarball have dead links:\n${dead.join('\n')}`);
  console.log('no dead link in its pages');
  await smoke(tarball, join(folder, 'app'));
  if (dryRun)
    console.log(
      refused.length === 0
        ? 'dry run: ready to publish'
        : 'dry run: the package is correct, but cannot be published before the problems above are solved',
    );
  else run('npm', ['publish', tarball, '--provenance', '--access', 'public'], folder);
} catch (error) {
  console.error(`the release stops: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
} finally {
  if (values.keep) console.log(`kept: ${folder}`);
  else rmSync(folder, { recursive: true });
}

/** Packs twice, the second time with the package.json for publishing. Returns the tarball. `folder/package` has its files. */
function pack(): string {
  const staged = join(folder, 'staged');
  mkdirSync(staged);
  const packed = (from: string, to: string): string =>
    join(
      to,
      (
        JSON.parse(run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', to], from)) as [{ filename: string }]
      )[0].filename,
    );
  run('tar', ['-xzf', packed(root, staged), '-C', staged], folder);
  const manifest = join(staged, 'package/package.json');
  writeFileSync(
    manifest,
    `${JSON.stringify(manifestOf(JSON.parse(readFileSync(manifest, 'utf8')) as object, publisher), null, 2)}\n`,
  );
  const tarball = packed(join(staged, 'package'), folder);
  run('tar', ['-xzf', tarball, '-C', folder], folder);
  if (statSync(tarball).size === 0) throw new Error(`${tarball} is empty`);
  return tarball;
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000)} kB`;
}
