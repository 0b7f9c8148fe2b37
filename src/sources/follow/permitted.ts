/** Refuses files and URLs that an agent may not follow, because a follower could read them for the agent without permission. */
import { realpathSync, statSync, type Stats } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { EarpieceError } from '../../core/errors.ts';
import { hasControl } from '../wording.ts';
import { isLinked, realOf } from './links.ts';
import { portProblem } from './ports.ts';

const shown = (text: string): string => JSON.stringify(text.slice(0, 200));

/**
 * Returns the real path of a log in the project. A link must not lead out of the project. The error for a path outside is the
 * same whether the file exists or not.
 */
export function permittedLog(folder: string, file: string): string {
  if (hasControl(file))
    throw new EarpieceError('bad_argument', `log ${shown(file)} has a control character; remove the character`);
  const path = realInside(folder, resolve(folder, file), file);
  const stat = statOf(path, file);
  if (stat === undefined)
    throw new EarpieceError('not_found', `log ${shown(file)} does not exist yet; follow the log when the file exists`);
  if (stat.isFile()) return path;
  const is = stat.isDirectory() ? 'a folder' : 'not a regular file';
  throw new EarpieceError('bad_argument', `log ${shown(file)} is ${is}; name one log file`);
}

/**
 * Returns the path of a log without its links, because an agent's follower reads no file behind a link. A link must not lead out
 * of the project. `file` may not exist yet.
 */
export function unlinkedLog(folder: string, file: string): string {
  const path = belowRoot(resolve(file));
  return isLinked(path) ? realInside(folder, path, file) : path;
}

/**
 * Follows a link in the root folder of the system, such as `/tmp` or `/var` on macOS. Only the system can make a link there, so
 * such a link is safe.
 */
function belowRoot(path: string): string {
  const [, top = ''] = path.split(sep);
  try {
    return join(realpathSync(sep + top), path.slice(sep.length + top.length));
  } catch {
    return path;
  }
}

/** Returns the real path of a file in the project. Throws for a path that leads out of the project. */
function realInside(folder: string, path: string, file: string): string {
  const root = realpathSync(folder);
  const isInside = (each: string): boolean => each === root || each.startsWith(root.endsWith(sep) ? root : root + sep);
  const real = realOf(path, isInside);
  if (real.kind === 'endless')
    throw new EarpieceError(
      'bad_argument',
      `log ${shown(file)} is behind a link that leads back to itself; name the file itself`,
    );
  if (real.kind === 'outside' || !isInside(real.path))
    throw new EarpieceError(
      'not_trusted',
      `log ${shown(file)} is outside of the project; a person can run: earpiece follow log <file>`,
    );
  return real.path;
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
 * Returns the URL in the text. Throws for any text except an http or https URL of this machine without a password and without a
 * blocked port.
 */
export function permittedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    throw new EarpieceError(
      'bad_argument',
      `url ${shown(text)} is not a valid http or https URL; write e.g. http://localhost:3000/health`,
    );
  if (url.username !== '' || url.password !== '')
    throw new EarpieceError('bad_argument', 'url must not have a user name or password; leave both out of the url');
  if (!/^(?:localhost|[\w-]+\.localhost|127(?:\.\d+){3}|\[::1\])$/u.test(url.hostname))
    throw new EarpieceError(
      'not_trusted',
      `url ${shown(text)} is not a URL of this machine; a person can run: earpiece follow url <url>`,
    );
  const problem = portProblem(url);
  if (problem !== undefined) throw new EarpieceError('bad_argument', `url ${shown(text)} ${problem}`);
  return url.href;
}
