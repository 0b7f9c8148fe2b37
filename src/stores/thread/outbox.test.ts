import { expect, it } from 'vitest';
import { outbox } from './outbox.ts';

it('calls that are added in one turn of the event loop are sent in one message, in their order', async () => {
  const sent: (readonly number[])[] = [];
  const { add, flush } = outbox<number>(
    (all) => sent.push(all),
    () => expect.unreachable(),
  );
  [1, 2, 3].forEach(add);
  expect(sent).toEqual([]);
  await Promise.resolve();
  expect(sent).toEqual([[1, 2, 3]]);
  add(4);
  flush();
  expect(sent).toEqual([[1, 2, 3], [4]]);
  add(5);
  await Promise.resolve();
  expect(sent).toEqual([[1, 2, 3], [4], [5]]);
});

it('a call that no message can contain is returned, and the other calls are sent', () => {
  const sent: unknown[] = [];
  const refused: unknown[] = [];
  const { add, flush } = outbox<unknown>(
    (all) => sent.push(structuredClone(all)),
    (one) => refused.push(one),
  );
  const bad = (): void => {};
  [1, bad, 2].forEach(add);
  flush();
  expect(sent).toEqual([[1], [2]]);
  expect(refused).toEqual([bad]);
});
