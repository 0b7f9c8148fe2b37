import { expect, test } from 'vitest';
import { problemResponse } from './problems.ts';

test('a part of the server that cannot be loaded any more is a 503 that says what to do', async () => {
  const missing = Object.assign(new Error("Cannot find module '/x/chunks/why-1.js'"), { code: 'ERR_MODULE_NOT_FOUND' });
  const answer = problemResponse(missing, 'a1');
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    code: 'outdated',
    detail: 'Earpiece was upgraded or removed while this process was running; restart the process',
  });
});
