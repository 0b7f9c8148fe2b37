/** What Node made of our sources, kept for the many commands that tests start, each with an environment of its own. */
import { join } from 'node:path';

export const COMPILED = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled') };
