/** A hook call that goes wrong: one line on stderr, and an exit code by which its agent goes on. */
import { expect, it } from 'vitest';
import { Shell } from './shell.ts';

it.for([
  ['codex', 1],
  ['gemini', 1],
  // It blocks the call whose hook ends with an error.
  ['cline', 0],
] as const)('earpiece hook %s lets its agent go on', async ([host, code]) => {
  await using shell = new Shell();
  const ran = await shell.run(['hook', host], { input: '{"unknown": 1}' });
  expect(ran).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^earpiece: .*; the agent goes on\n$/) as string });
});
