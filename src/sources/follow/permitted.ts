/** Refuses files and addresses that an agent may not follow, because the agent could then read them without permission. */
import { readlinkSync, realpathSync, statSync, type Stats } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { EarpieceError } from '../../core/errors.ts';
import { hasControl } from '../wording.ts';

const shown = (text: string): string => JSON.stringify(text.slice(0, 200));

/**
 * Returns the real path of a log in the project. A link must not lead out of the project. The error for a path outside is the same
 * whether the file exists or not.
 */
export function permittedLog(folder: string, file: string): string {
  if (hasControl(file))
    throw new EarpieceError('bad_argument', `log ${shown(file)} has a control character; write the path without it`);
  const root = realpathSync(folder);
  const isInside = (path: string): boolean => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep);
  const real = realOf(resolve(folder, file), isInside);
  if (real.kind === 'endless')
    throw new EarpieceError(
      'bad_argument',
      `log ${shown(file)} is behind a link that leads back to itself; name the file itself`,
    );
  if (real.kind === 'outside' || !isInside(real.path))
    throw new EarpieceError(
      'not_trusted',
      `log ${shown(file)} is outside of the project; a person can follow it: earpiece follow log`,
    );
  const stat = statOf(real.path, file);
  if (stat === undefined)
    throw new EarpieceError('not_found', `log ${shown(file)} does not exist yet; follow it when the file exists`);
  if (stat.isFile()) return real.path;
  const is = stat.isDirectory() ? 'a folder' : 'not a regular file';
  throw new EarpieceError('bad_argument', `log ${shown(file)} is ${is}; name one log file`);
}

function statOf(path: string, file: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    const why = WHY[code] ?? `cannot be read (${code}); name another log file`;
    throw new EarpieceError('bad_argument', `log ${shown(file)} ${why}`);
  }
}

const WHY: Readonly<Record<string, string>> = {
  ENAMETOOLONG: 'has a longer name than this machine allows; name an existing log file',
  EACCES: 'is in a folder that this user may not open; name a log file that this user can read',
};

/**
 * The end of a path whose links were followed. `path` has no links, and its last parts may not exist. `outside`: a link outside of the project leads to
 * nothing. `endless`: the links inside of the project never end, because one of them leads back to another.
 */
type Real = { readonly kind: 'path'; readonly path: string } | { readonly kind: 'outside' } | { readonly kind: 'endless' };

function realOf(path: string, isInside: (path: string) => boolean, links = 0): Real {
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

/** Returns an http or https address of this machine. */
export function permittedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new EarpieceError(
      'bad_argument',
      `url ${shown(text)} is not an http or https address; write it like http://localhost:3000/health`,
    );
  if (url.username !== '' || url.password !== '')
    throw new EarpieceError('bad_argument', 'url must not have a user name or password; leave it out of the url');
  if (/^(?:localhost|[\w-]+\.localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname)) return url.href;
  throw new EarpieceError(
    'not_trusted',
    `url ${shown(text)} is not an address of this machine; a person can follow it: earpiece follow url`,
  );
}
