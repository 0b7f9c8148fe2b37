/** Opens Settings, Advanced, for tests. */
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import type { Stage } from './stage.ts';

export const userFile = (stage: Stage): string => join(stage.folder, 'config/earpiece/earpiece.toml');

export const row = (page: Page, key: string): Locator => page.locator(`[data-setting='${key}']`);

export async function advanced(stage: Stage, options: Parameters<Stage['page']>[0] = {}): Promise<Page> {
  const page = await stage.page(options);
  await page.goto(`${stage.url}/#/settings/advanced`);
  await row(page, 'min_level').waitFor();
  return page;
}
