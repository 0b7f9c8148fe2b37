/** Tests the commands of two agents of one program that uses the library. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { handleRegistry, runTool } from '../../src/entries/agent.ts';
import { openEarpiece } from '../../src/index.ts';
import { CLI } from '../built.ts';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';

it('a command in the shell of a library agent acts for this agent', async () => {
  proves('agent:no-person');
  await using shell = new Shell();
  const { EARPIECE_ADDRESS: _, ...env } = shell.env();
  await using ear = await openEarpiece({ db: shell.db, cwd: shell.folder, env });
  const command = `"${process.execPath}" "${CLI}" run-and-tell --name build -- sh -c 'echo $EARPIECE_HANDLE_OF; exit 3'`;
  for (const agent of ['one', 'two']) {
    await using handles = handleRegistry({
      earpiece: ear,
      address: `${agent}#work`,
      folder: join(shell.folder, agent),
      tools: [runTool({ cwd: shell.folder, env })],
    });
    const call = { id: agent, signal: new AbortController().signal, batch: [], progress: () => {} };
    const outcome = await handles.tools.find(({ name }) => name === 'run')?.execute({ command }, call);
    expect(outcome?.content).toBe(`shop/${agent}#work\n[exit code 3]`);
  }
  const queued = (await shell.json(['log', '--all'])).filter(({ type }) => type === 'system_notification_queued');
  expect(queued.map(({ log, origin }) => [log, (origin as { agent?: string }).agent])).toEqual([
    ['shop/one', 'shop/one'],
    ['shop/two', 'shop/two'],
  ]);
});
