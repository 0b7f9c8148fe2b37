/** Follows the links of a path, also if the path leads to no file. */
import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/**
 * The end of a path whose links were followed. `path` has no links, and its last parts may not exist. `outside`: a link outside
 * of the allowed folder leads to nothing. `endless`: there are too many links, usually because a link leads back to an earlier
 * link.
 */
export type Real = { readonly kind: 'path'; readonly path: string } | { readonly kind: 'outside' } | { readonly kind: 'endless' };

/** Follows the links of a path. A link that leads to nothing is read only if `isInside` accepts the path of the link. */
export function realOf(path: string, isInside: (path: string) => boolean, links = 0): Real {
  try {
    return { kind: 'path', path: realpathSync(path) };
  } catch {
    if (path === dirname(path)) return { kind: 'outside' };
    const parent = realOf(dirname(path), isInside, links);
    if (parent.kind !== 'path') return parent;
    const here = join(parent.path, basename(path));
    const target = targetOf(here);
    if (target === undefined) return { kind: 'path', path: here };
    if (!isInside(here)) return { kind: 'outside' };
    return links < MAX_LINKS ? realOf(resolve(parent.path, target), isInside, links + 1) : { kind: 'endless' };
  }
}

/** Returns the text of a link; undefined for anything else. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

const MAX_LINKS = 40;

/** Whether the file, or a folder above it, is a link. */
export const isLinked = (path: string): boolean => isLink(path) || (path !== dirname(path) && isLinked(dirname(path)));

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
