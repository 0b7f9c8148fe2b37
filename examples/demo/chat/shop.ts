/** Makes the project of the chat's story: the shop of `npm start -- gateway`, with slow tests. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeShop } from '../shop.ts';

/** A test that is as slow as a real suite, so that the agent has time for other work. */
const CHECK = `import { setTimeout as sleep } from 'node:timers/promises';
import { total } from './src/cart.js';

const cart = [{ price: 1001, count: 1 }];
const checks = [
  ['a whole cart costs what it costs', total(cart), 1001],
  ['half a cent is rounded up', total(cart, 0.5), 501],
];
let failed = 0;
for (const [name, is, wanted] of checks) {
  await sleep(600);
  console.log(\`\${is === wanted ? 'ok    ' : 'not ok'} \${name}: \${is}\`);
  if (is !== wanted) failed++;
}
if (failed > 0) console.log(\`\${failed} of \${checks.length} failed: half of 1001 cents is 500, 501 expected\`);
process.exitCode = failed > 0 ? 1 : 0;
`;

const BENCH = `import { total } from './src/cart.js';

const cart = [{ price: 1001, count: 1 }, { price: 420, count: 3 }];
const until = performance.now() + 1500;
let carts = 0;
while (performance.now() < until) for (let i = 0; i < 1000; i++, carts++) total(cart, 0.5);
console.log(\`\${Math.round(carts / 1.5e6)} million carts a second\`);
`;

export function writeChatShop(folder: string): void {
  writeShop(folder);
  writeFileSync(join(folder, 'check.js'), CHECK);
  writeFileSync(join(folder, 'bench.js'), BENCH);
}
