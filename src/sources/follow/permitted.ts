/** Refuses files and addresses that an agent may not follow, because the agent could then read them without permission. */
import { lstatSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { EarpieceError } from '../../core/errors.ts';

const shown = (text: string): string => JSON.stringify(text.slice(0, 200));

/**
 * Returns the real path of a log in the project. A link must not lead out of the project. The error for a path outside is the same
 * whether the file exists or not.
 */
export function permittedLog(folder: string, file: string): string {
  const root = realpathSync(folder);
  const real = realOf(resolve(folder, file));
  if (real === undefined || (real !== root && !real.startsWith(root.endsWith(sep) ? root : root + sep)))
    throw new EarpieceError(
      'not_trusted',
      `log ${shown(file)} is outside of the project; a person can follow it: earpiece follow log`,
    );
  const stat = statSync(real, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new EarpieceError('not_found', `log ${shown(file)} does not exist yet; follow it when the file exists`);
  if (stat.isFile()) return real;
  const is = stat.isDirectory() ? 'a folder' : 'not a regular file';
  throw new EarpieceError('bad_argument', `log ${shown(file)} is ${is}; name one log file`);
}

/** Returns the path without links. Its last parts may be missing. Undefined for a path with too many links. */
function realOf(path: string, links = 0): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    if (links >= MAX_LINKS || path === dirname(path)) return undefined;
    if (isLink(path)) return realOf(resolve(dirname(path), readlinkSync(path)), links + 1);
    const parent = realOf(dirname(path), links);
    return parent === undefined ? undefined : join(parent, basename(path));
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
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
    throw new EarpieceError('bad_argument', 'url must not have a password, because follow does not store passwords');
  if (/^(?:localhost|[\w-]+\.localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname)) return url.href;
  throw new EarpieceError(
    'not_trusted',
    `url ${shown(text)} is not an address of this machine; a person can follow it: earpiece follow url`,
  );
}
