/** Names the command that adds an optional package to this installation of Earpiece. */
import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Whether a path is in a cache folder of `npx`, `pnpm dlx`, `yarn dlx` or `bunx`. */
export const isCached = (path: string): boolean => /[\\/](_npx|dlx(-[^\\/]*)?|bunx-[^\\/]*|xfs-[^\\/]*)[\\/]/.test(path);

/** Returns the command that adds these packages, so that Earpiece finds them. `file`: a file of the installation. */
export function addPackages(packages: readonly string[], file = fileURLToPath(import.meta.url)): string {
  if (isCached(file)) return `npx ${['earpiece', ...packages].map((name) => `-p ${name}`).join(' ')} earpiece …`;
  const [folder = ''] = file.split(`${sep}node_modules${sep}`);
  const isGlobal = folder !== file && !existsSync(join(folder, 'package.json'));
  return `npm install ${isGlobal ? '--global ' : ''}${packages.join(' ')}`;
}
