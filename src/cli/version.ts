import { readFileSync } from 'node:fs';

/** From the package's own package.json, beside `src` and `dist` alike. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
