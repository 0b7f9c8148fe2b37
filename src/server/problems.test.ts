import { expect, test } from 'vitest';
import { problemResponse } from './problems.ts';

test('if a file of the server is missing, the answer is a 503 with advice', async () => {
  const missing = Object.assign(new Error("Cannot find module '/x/chunks/why-1.js'"), { code: 'ERR_MODULE_NOT_FOUND' });
  const answer = problemResponse(missing, 'a1');
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({
    code: 'outdated',
    detail: 'Earpiece was upgraded or removed while this process was running; restart the process',
  });
});
