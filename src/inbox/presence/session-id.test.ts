import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { proves } from '../../../e2e/verifies.ts';
import { conversationId } from '../../core/address.ts';
import { conversationOfSession } from '../index.ts';

describe('the conversation of a session', () => {
  proves('hosts:distinct-sessions');

  it.each(['session-1', '0c3d1f8e-92d1-4c1a-b0a4-7d6c0a4f2f11', 'ses_6f1', 'a'.repeat(128), 'ä b'])(
    'has the id of the session: %s',
    (session) => expect(conversationOfSession(session)).toBe(session),
  );

  it('differs for each id that an address does not allow', () => {
    const long = 'x'.repeat(128);
    const ids = ['p-q', 'p/q', 'p#q', 'p*q', ' p-q', 'p-q ', 'p\nq', '\u202ep', '..', '../..', '*', '#', `${long}1`, `${long}2`];
    const broken = ['/\ud800', '/\ud801'];
    const found = [...ids, ...broken].map((id) => conversationOfSession(id));
    expect(new Set(found).size).toBe(found.length);
    expect(conversationOfSession('p/q')).toMatch(/^p-q-[0-9a-f]{12}$/u);
  });

  it('is a valid name, and the same each time', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 300 }), (units) => {
        const session = String.fromCharCode(...units);
        const id = conversationOfSession(session);
        expect(conversationId(id)).toBe(conversationOfSession(session));
      }),
    );
  });
});
