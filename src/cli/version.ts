import { readFileSync } from 'node:fs';

/** The version of this package. The package.json is in the folder that contains both `src` and `dist`. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
