/**
 * Caches Node's compiled code, so that a command starts in a third of the time. Hooks need a fast start, because each event
 * starts a process.
 */
import { enableCompileCache } from 'node:module';
import { cacheFolder, type Env } from '../config/places.ts';
import { makePrivateCache } from '../input/folders.ts';

/**
 * Switches the cache on for modules that are loaded later. The cache is in the user's cache folder: in a shared folder, which is
 * Node's default, another user could plant code. A folder that others can write is emptied and made private. A folder of another
 * user is not used. `NODE_COMPILE_CACHE` and `NODE_DISABLE_COMPILE_CACHE` work as Node documents them. Without a cache, each
 * start is as slow as the first.
 */
export function keepCompiled(env: Env): void {
  if (env['NODE_COMPILE_CACHE'] || env['NODE_DISABLE_COMPILE_CACHE']) return;
  try {
    const folder = cacheFolder({ env });
    if (makePrivateCache(folder)) enableCompileCache(folder);
  } catch {
    // Caching is optional: for example, the user may have no home directory.
  }
}
