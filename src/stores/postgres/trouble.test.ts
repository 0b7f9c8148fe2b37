import { expect, it } from 'vitest';
import { addressOf } from './address.ts';
import { explain } from './trouble.ts';

const ADDRESS = addressOf('postgres://ear:secret@a:5432,b:5433/db');
const said = (code: string, message: string): unknown => explain(Object.assign(new Error(message), { code }), ADDRESS, 5);

it('a server that cannot write its caches is full, and not damaged', () => {
  expect(said('XX000', 'could not write init file')).toMatchObject({ code: 'store_full', retryable: true });
  expect(said('53100', 'could not extend file')).toMatchObject({ code: 'store_full', retryable: true });
  expect(said('XX001', 'invalid page in block 3')).toMatchObject({ code: 'store_corrupt', retryable: false });
});

it("an address may name several hosts, and the store's name for people lists them all", () => {
  expect(ADDRESS).toMatchObject({
    urls: ['postgres://ear:secret@a:5432/db', 'postgres://ear:secret@b:5433/db'],
    shown: 'postgres://ear@a:5432,b:5433/db',
    name: 'postgres a:5432,b:5433/db',
  });
  expect(addressOf('postgres://a:1/db?schema=x')).toMatchObject({
    urls: ['postgres://a:1/db'],
    shown: 'postgres://a:1/db?schema=x',
  });
  expect(() => addressOf('postgres://ear:secret@a:x,b/db')).toThrow(/cannot be read/u);
});
