/** Makes the events of files, without I/O. */
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { defined } from '../../core/defined.ts';

import type { EventInput } from '../../core/event.ts';
import { keyOf, quoted } from '../wording.ts';
import type { Content } from './knowledge.ts';
import type { Hash } from './look.ts';

type FileEvent = Omit<EventInput, 'source' | 'subject'>;

export type FileChange = 'changed' | 'deleted' | 'created' | 'restored';

/** A change of a file. `read`: whether the agent has read the file. The event of an unread file is less urgent. */
export type SeenChange = {
  readonly path: string;
  readonly change: FileChange;
  readonly read: boolean;
  readonly current: Content;
  readonly previous?: Hash | undefined;
};

export function fileEvent(root: string, { path, change, read, current, previous }: SeenChange): FileEvent {
  const shown = shownPath(root, path);
  return {
    type: `file.${change}`,
    severity: change === 'restored' ? 'debug' : read ? 'warning' : 'info',
    data: {
      path: shown,
      change,
      ...defined({ previous_hash: previous }),
      ...(current === 'absent' ? {} : { current_hash: current }),
    },
    about: aboutFile(root, path),
    key: keyOf(shown),
    message: `${quoted(shown)} ${WORDS[change]}`,
  };
}

/**
 * Makes the event for a file whose content differs from an earlier read. The event has no `about`, because the current read does
 * not show the agent that the content has changed.
 */
export function staleEvent(root: string, path: string, previous: Hash, current: Hash): FileEvent {
  const shown = shownPath(root, path);
  return {
    type: 'source.stale',
    severity: 'warning',
    data: { path: shown, previous_hash: previous, current_hash: current },
    key: keyOf(shown),
    message: `${quoted(shown)} has changed since it was last read`,
  };
}

export const aboutFile = (root: string, path: string): string => `file:${resolve(root, path)}`;

/** Returns the path relative to the root. For a path outside of the root, returns the absolute path. */
export function shownPath(root: string, path: string): string {
  const absolute = resolve(root, path);
  const inside = relative(root, absolute);
  const outside = inside === '' || inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside);
  return (outside ? absolute : inside).toWellFormed();
}

const WORDS: Readonly<Record<FileChange, string>> = {
  changed: 'changed outside',
  deleted: 'was deleted by another program',
  created: 'was created by another program',
  restored: 'has its earlier content again',
};
