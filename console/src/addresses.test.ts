import { expect, test } from 'vitest';
import { routeOf, to } from './addresses.ts';

test.each(['main', 'a b', 'ä/ö', '../..', '%2F', '?why=x', '<img>', '#', '\'"&', '\u202E'])(
  'the name %j comes back as it was, as one part of an address',
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

test('a place in a conversation comes back from its address; an invalid position counts as none', () => {
  const find = { words: 'a b', from: 5, until: null };
  const address = to.conversation('shop/coder', 'main', null, { find, at: 12 });
  expect(routeOf(address)).toMatchObject({ why: null, find, at: 12 });
  expect(routeOf('#/agents/shop/coder/main?at=-1')).toMatchObject({ at: null, find: null });
});

test.each(['', '#', '#/', '#/nowhere', '#code=abc', '#/agents/', '#/agents/shop'])('%j leads to the agents', (hash) => {
  expect(routeOf(hash)).toMatchObject({ kind: 'agents' });
});

test('what is broken is taken as it stands', () => {
  expect(routeOf('#/agents/%E0%A4%A/x')).toMatchObject({ kind: 'conversation', log: '%E0%A4%A/x', conversation: 'main' });
  expect(routeOf('#/settings/elsewhere')).toMatchObject({ kind: 'settings', tab: 'notifications' });
});
