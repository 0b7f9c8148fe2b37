import { expect, test } from 'vitest';
import { agentPath } from '../wire/client/paths.ts';
import { conversationId, logKey, parseAddress } from './address.ts';
import { type EventInput, makeEvent } from './event.ts';

test('an address that is not a text is refused as a bad address', () => {
  const refused = (seen: string) =>
    expect.objectContaining({ code: 'bad_address', message: expect.stringContaining(`address ${seen}: is not a text; write`) });
  for (const [value, seen] of [
    [undefined, 'undefined'],
    [null, 'null'],
    [5, '5'],
    [{ to: 'shop/coder' }, 'an object'],
    [['shop/coder'], 'an object'],
    [10n, '10'],
  ] as const) {
    expect(() => parseAddress(value as never)).toThrow(refused(seen));
    expect(() => agentPath(value as never)).toThrow(refused(seen));
  }
  const event = { type: 'build.failed', source: 'ci' } as EventInput;
  expect(() => makeEvent(event, { id: 'e', now: 0 })).toThrow(refused('undefined'));
  expect(() => parseAddress('')).toThrow('address "": is empty; write');
});

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  [{ id: 'main' }, 'an object'],
])('a name that is not a text is refused as a bad address: %j', (value, seen) => {
  const refused = (what: string) =>
    expect.objectContaining({ code: 'bad_address', message: expect.stringContaining(`${what} ${seen} is not a text`) });
  expect(() => conversationId(value as never)).toThrow(refused('conversation'));
  expect(() => logKey(value as never, 'coder')).toThrow(refused('project'));
  expect(() => logKey('shop', value as never)).toThrow(refused('agent'));
});
