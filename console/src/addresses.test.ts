import { expect, test } from 'vitest';
import { routeOf, to } from './addresses.ts';

test.each(['main', 'a b', 'ä/ö', '../..', '%2F', '?why=x', '<img>', '#', '\'"&', '\u202E'])(
  'the name %j is one part of an address, and is read back unchanged',
  (name) => {
    const address = to.conversation(`shop/${name}`, name, name);
    expect(routeOf(address)).toEqual({
      kind: 'conversation',
      log: `shop/${name}`,
      conversation: name,
      why: name,
      find: null,
      at: null,
    });
    expect(address).toMatch(/^#\/agents\/shop\/[^/]+\/[^/]+\?why=[^/]+$/u);
  },
);

test('a place in a conversation is read back from its URL; an invalid position is ignored', () => {
  const find = { words: 'a b', from: 5, until: null };
  const address = to.conversation('shop/coder', 'main', null, { find, at: 12 });
  expect(routeOf(address)).toMatchObject({ why: null, find, at: 12 });
  expect(routeOf('#/agents/shop/coder/main?at=-1')).toMatchObject({ at: null, find: null });
});

test.each(['', '#', '#/', '#/nowhere', '#code=abc', '#/agents/', '#/agents/shop'])('%j opens the list of agents', (hash) => {
  expect(routeOf(hash)).toMatchObject({ kind: 'agents' });
});

test('a part that cannot be decoded stays as it is', () => {
  expect(routeOf('#/agents/%E0%A4%A/x')).toMatchObject({ kind: 'conversation', log: '%E0%A4%A/x', conversation: 'main' });
  expect(routeOf('#/settings/elsewhere')).toMatchObject({ kind: 'settings', tab: 'notifications' });
});
