/** Tests that errors delay the end of a turn in a real Claude Code, up to a limit. */
import { expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { place } from './hook-place.ts';
import { send } from './earpiece.ts';
import { run } from './run.ts';
import { told } from './told.ts';

const HOLDS = 3;

test('an error holds the end of a turn, at most three times in a row; the next error waits for the next prompt', async () => {
  proves('hosts:hold');
  using at = place();
  let asked = 0;
  let home = '';
  using seen = await run('claude', {
    hooks: at.hooks(),
    env: at.env,
    script: [{ calls: [{ shell: 'echo one' }] }, ...Array.from({ length: HOLDS + 3 }, (_, n) => ({ text: `ANSWER-${n}` }))],
    onToolStep: (step) => void (home = step.home),
    async onRequest({ body }) {
      // After the tool call, the model tries to end the turn with each answer, so an error is queued before each answer.
      if (home === '' || !Array.isArray(body?.['tools']) || body['tools'].length === 0) return;
      await send(home, at.database, `WORD-${asked++}- it failed again`, '--level', 'error', '--kind', `ci${asked}.failed`);
    },
  });
  expect({ exitCode: seen.exitCode, asked }).toEqual({ exitCode: 0, asked: HOLDS + 1 });
  expect(Array.from({ length: HOLDS + 1 }, (_, n) => told(seen, `WORD-${n}-`))).toEqual([1, 1, 1, 0]);
});
