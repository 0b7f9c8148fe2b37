import { readFileSync } from 'node:fs';

/** Read from the package's own package.json, which is beside both `src` and `dist`. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
