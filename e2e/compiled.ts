/** Shares Node's compile cache among the commands that tests start in separate environments. */
import { join } from 'node:path';

export const COMPILED = { NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled') };
