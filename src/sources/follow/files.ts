/**
 * Follows the files of a folder that match globs, and reports each file that is changed, created or deleted. The events have the
 * same types as those of the files source of `earpiece chat`.
 */
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { EventInput } from '../../core/event.ts';
import { quoted } from '../wording.ts';
import { fileEvent, look, scopeOf, shownPath, stateOf, type FileChange, type Scope } from '../files/index.ts';
import { CannotLook, type Follower } from './follower.ts';
import type { What } from './list.ts';

const EVERY_MS = 5_000;
/** The minimum age of a reported change, because a file that was just written may be incomplete. */
const QUIET_MS = 300;
const MAX_FILES = 5_000;

/** The size and time of each file, by its path in the folder. */
type Seen = Readonly<Record<string, string>>;

export function filesFollower({ folder, globs }: Extract<What, { kind: 'files' }>): Follower {
  return {
    look: async (state) => {
      const before = state as Seen | undefined;
      const scope = scopeOf(folder, globs);
      const [problem] = scope.problems;
      if (problem !== undefined) throw new CannotLook(problem, { lasting: true });
      const now = await filesIn(folder, scope);
      const seen: Record<string, string> = {};
      const events: EventInput[] = [];
      const tell = async (name: string, change: FileChange): Promise<boolean> => {
        const path = join(folder, name);
        const found = await look(path);
        if (found.kind === 'unclear' || (found.kind === 'file' && found.moving)) return false;
        const current = found.kind === 'gone' ? 'absent' : found.hash;
        const event = fileEvent(folder, { path, change: current === 'absent' ? 'deleted' : change, read: false, current });
        // The agent itself may have made the change, so the message names no other program.
        const message = `${quoted(shownPath(folder, path))} ${event.type === 'file.changed' ? 'has changed' : `was ${event.data?.['change'] as string}`}`;
        events.push({ ...event, message, source: 'files', subject: '' });
        return true;
      };
      for (const [name, { state: is, at }] of now) {
        const was = before?.[name];
        const isNew = before !== undefined && was !== is;
        const waits =
          isNew && (Math.abs(Date.now() - at) < QUIET_MS || !(await tell(name, was === undefined ? 'created' : 'changed')));
        if (!waits) seen[name] = is;
        else if (was !== undefined) seen[name] = was;
      }
      for (const [name, was] of Object.entries(before ?? {}))
        if (!now.has(name) && !(await tell(name, 'deleted'))) seen[name] = was;
      return {
        standing: [],
        news: [],
        events,
        state: seen,
        summary: `${now.size} ${now.size === 1 ? 'file' : 'files'}`,
        againMs: EVERY_MS,
      };
    },
  };
}

type Found = ReadonlyMap<string, { readonly state: string; /** Epoch ms. */ readonly at: number }>;

/** Finds the matching files in the folder. Links are not followed. */
async function filesIn(folder: string, scope: Scope): Promise<Found> {
  const found = new Map<string, { state: string; at: number }>();
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await readdir(at, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (at === folder) throw new CannotLook(`${folder} cannot be read (${error.code ?? error.message})`);
      return [];
    });
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.isDirectory() && scope.folder(path)) folders.push(path);
      if (!entry.isFile() || !scope.file(path)) continue;
      const about = await stat(path).catch(() => undefined);
      if (about === undefined) continue;
      if (found.size >= MAX_FILES)
        throw new CannotLook(`the globs match more than ${MAX_FILES} files; use narrower globs`, { lasting: true });
      found.set(relative(folder, path), { state: stateOf(about), at: about.mtimeMs });
    }
  }
  return found;
}
