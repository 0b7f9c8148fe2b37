import { expect, it } from 'vitest';
import { EVENT_TYPES } from '../bus/event-types.ts';
import { SOURCES } from './table.ts';

it('every known type of event belongs to exactly one source', () => {
  const emitted: readonly string[] = Object.values(SOURCES).flatMap(({ emits }) => emits);
  expect(emitted.toSorted()).toEqual(Object.keys(EVENT_TYPES).toSorted());
});
