import { expect, it } from 'vitest';
import { defined } from './defined.ts';

it('`defined` leaves out only the keys whose value is undefined', () => {
  const given: { readonly key: string | undefined; readonly level: string | null; readonly count: number; readonly on: boolean } =
    {
      key: undefined,
      level: null,
      count: 0,
      on: false,
    };
  expect(Object.entries(defined(given))).toEqual([
    ['level', null],
    ['count', 0],
    ['on', false],
  ]);
});
