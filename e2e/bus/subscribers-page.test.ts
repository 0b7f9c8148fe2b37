/** Tests the tables of `docs/subscribers.md`. To update them: `vitest run e2e/bus/subscribers-page.test.ts --update`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { shippedFolder, subscriberFolders } from '../../src/bus/subscribers/folders.ts';
import { MAX_FILES } from '../../src/bus/subscribers/folder.ts';
import { LIMITS } from '../../src/bus/subscribers/fields.ts';
import { verifies } from '../verifies.ts';
import { withTables } from './subscribers-page.ts';

const PAGE = join(import.meta.dirname, '../../docs/subscribers.md');
const page = readFileSync(PAGE, 'utf8');

verifies('bus:shipped', 'docs/subscribers.md has every field, every shipped subscriber and every type of event', async () => {
  const made = withTables(page, subscriberFolders({ shipped: shippedFolder() }).of('shop'));
  expect(made).toContain('<!-- made: fields -->');
  expect(made).toContain('<!-- made: shipped -->');
  expect(made).toContain('<!-- made: types -->');
  await expect(made).toMatchFileSnapshot(PAGE);
});

verifies('bus:checked', 'docs/subscribers.md states the real limits', () => {
  expect(page).toContain(`${LIMITS.fileBytes / 1_024} kB`);
  expect(page).toContain(`${MAX_FILES.toLocaleString('en')} \`*.toml\` files`);
});
