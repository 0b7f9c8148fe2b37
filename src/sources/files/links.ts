import { realpathSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Whether a symbolic link leads to a folder, or to itself. */
export function leadsToNoFile(link: string): boolean {
  try {
    return statSync(link, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ELOOP';
  }
}

/** Whether the path between the root and this path's folder contains a symbolic link. */
export function isBehindLink(root: string, path: string): boolean {
  try {
    const folder = dirname(path);
    return realpathSync(folder) !== join(realpathSync(root), relative(root, folder));
  } catch {
    return false;
  }
}
