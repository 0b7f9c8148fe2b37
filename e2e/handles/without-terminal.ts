/** Runs two commands without the optional packages of a terminal, and prints the answers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { handleRegistry, runTool } from '../../src/handles/index.ts';

registerHooks({
  resolve: (specifier, context, next) => {
    if (/^@(?:lydell|xterm)\//u.test(specifier)) throw new Error(`Cannot find package '${specifier}'`);
    return next(specifier, context);
  },
});

const folder = mkdtempSync(join(tmpdir(), 'earpiece-bare-'));
const handles = handleRegistry({ tools: [runTool()], address: 'shop/coder', folder });
const [run] = handles.tools;
for (const pty of [false, true]) {
  const call = { id: `c${pty}`, signal: new AbortController().signal, batch: [], progress: () => {} };
  console.log(JSON.stringify(await run?.execute({ command: 'echo fine', pty }, call)));
}
await handles.close();
rmSync(folder, { recursive: true });
