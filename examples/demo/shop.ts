/** Makes the small project that the agent works on: a checkout, and a test that contradicts the checkout. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export const CART = 'src/cart.js';
export const PRICES = 'src/prices.json';
export const CHANGELOG = 'CHANGELOG.md';

export const ROUNDS_DOWN = '  return Math.floor(cents * share);';
export const ROUNDS = '  return Math.round(cents * share);';

export const FILES: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "shop", "type": "module" }\n',
  [CART]: `/** What a cart costs, in cents. */
export function total(items, share = 1) {
  let cents = 0;
  for (const { price, count } of items) cents += price * count;
${ROUNDS_DOWN}
}
`,
  [PRICES]: prices(0),
  'test/cart.test.js': `import assert from 'node:assert';
import test from 'node:test';
import { total } from '../src/cart.js';

test('rounds half a cent up', () => {
  assert.equal(total([{ price: 1001, count: 1 }], 0.5), 501);
});
`,
};

/** Returns the price list after this many steps of an import. */
export function prices(step: number): string {
  return `${JSON.stringify({ tea: 420 + step, cups: 1001 + 5 * step })}\n`;
}

export function writeShop(folder: string): void {
  for (const [path, text] of Object.entries(FILES)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
