/** Makes a cloned repository that tries to run its own code instead of Earpiece. */
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Makes the folder a package `earpiece` of this version, and puts the same package into its node_modules. The folder's `.npmrc`
 * names a registry that does not exist. Returns a function that lists the commands of that package that ran.
 */
export function clonedInto(folder: string, version: string): () => readonly string[] {
  const ran = join(folder, 'ran');
  const manifest = JSON.stringify({ name: 'earpiece', version, bin: { earpiece: 'cli.js' } });
  for (const own of [folder, join(folder, 'node_modules/earpiece')]) {
    mkdirSync(own, { recursive: true });
    writeFileSync(join(own, 'package.json'), manifest);
    const code = `require('node:fs').appendFileSync(${JSON.stringify(ran)}, process.argv.slice(1).join(' ') + '\\n');`;
    writeFileSync(join(own, 'cli.js'), `#!/usr/bin/env node\n${code}\n`);
    chmodSync(join(own, 'cli.js'), 0o755);
  }
  const bin = join(folder, 'node_modules/.bin/earpiece');
  mkdirSync(dirname(bin), { recursive: true });
  symlinkSync('../earpiece/cli.js', bin);
  appendFileSync(join(folder, '.npmrc'), 'registry=http://127.0.0.1:9/\n');
  return () => (existsSync(ran) ? readFileSync(ran, 'utf8').trimEnd().split('\n') : []);
}
