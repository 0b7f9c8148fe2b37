/** `node scripts/pictures.ts` takes the pictures of docs/console.md from the built console, with the test data of one morning. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openBrowser } from '../e2e/console/browser.ts';
import { morning } from '../e2e/console/morning.ts';
import { Stage } from '../e2e/console/stage.ts';

const FOLDER = join(import.meta.dirname, '../docs/images');
const MAX_BYTES = 150_000;

mkdirSync(FOLDER, { recursive: true });
await using browser = await openBrowser();
await using stage = await Stage.open(browser);
await morning(stage);

const desk = await stage.page({ viewport: { width: 1100, height: 640 }, colorScheme: 'light', reducedMotion: 'reduce' });
await desk.goto(`${stage.url}/#/agents/shop/coder/main`);
await desk.getByRole('button', { name: 'Why tool.call.failure' }).first().click();
await desk.getByRole('complementary', { name: 'Why' }).getByText('What was sent').waitFor();
await desk.locator('.timeline').evaluate('(timeline) => timeline.scrollTo(0, 90)');
await desk.screenshot({ path: join(FOLDER, 'console.png') });

const phone = await stage.page({ viewport: { width: 390, height: 720 }, colorScheme: 'dark', reducedMotion: 'reduce' });
await phone.goto(`${stage.url}/#/agents/shop/coder/main`);
await phone.locator('article[data-state=staged]').first().waitFor();
await phone.screenshot({ path: join(FOLDER, 'console-phone.png') });

for (const name of ['console.png', 'console-phone.png']) {
  const { size } = statSync(join(FOLDER, name));
  process.stdout.write(`${name} ${Math.round(size / 1_000)} kB\n`);
  if (size > MAX_BYTES) process.exitCode = 1;
}
