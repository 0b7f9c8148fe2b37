/**
 * Finds the browser for the console's tests: `node scripts/browsers.ts` finds a browser, or installs Debian's Chromium. If the
 * installation fails, the script prints advice and fails, because tests are not skipped without a browser.
 * Chromium's headless shell is preferred, because it needs less than half of the processor time of the full Chromium.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptInstall } from './apt.ts';

const NAMES = [
  'chromium-headless-shell',
  'chrome-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'microsoft-edge',
];
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/snap/bin/chromium',
];

export const WAY_OUT =
  'install Chromium or Chrome (apt-get install chromium, brew install --cask chromium), or set CHROMIUM to its executable';

/** Returns the executable of a browser that playwright-core can drive. Undefined without such a browser. */
export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const named = env['CHROMIUM'];
  if (named) return runs(named) ? named : undefined;
  const folders = (env['PATH'] ?? '').split(delimiter).filter(Boolean);
  return [...NAMES.flatMap((name) => folders.map((folder) => join(folder, name))), ...PLACES].find((path) => runs(path));
}

function runs(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) {
  const why =
    findBrowser() === undefined && aptInstall('chromium-headless-shell') !== undefined ? aptInstall('chromium') : undefined;
  const found = findBrowser();
  if (found === undefined) {
    process.stderr.write(`no browser for the console's tests${why === undefined ? '' : `: ${why}`}\n  ${WAY_OUT}\n`);
    process.exitCode = 1;
  } else process.stdout.write(`${found}\n`);
}
