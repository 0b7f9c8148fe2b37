import { expect, it } from 'vitest';
import { addressOf } from './address.ts';
import { explain } from './trouble.ts';

const ADDRESS = addressOf('postgres://ear:secret@a:5432,b:5433/db');
const said = (code: string, message: string): unknown => explain(Object.assign(new Error(message), { code }), ADDRESS, 5);

it('a server that cannot write its caches is reported as a full disk, not as damage', () => {
  expect(said('XX000', 'could not write init file')).toMatchObject({ code: 'store_full', retryable: true });
  expect(said('53100', 'could not extend file')).toMatchObject({ code: 'store_full', retryable: true });
  expect(said('XX001', 'invalid page in block 3')).toMatchObject({ code: 'store_corrupt', retryable: false });
});

it("a URL may name several hosts, and the store's name for people lists them all", () => {
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

it.each([
  ['foo=bar', /has the unknown parameter "foo"; the known parameters are schema, sslmode, /u],
  ['sslmod=verify-full', /has the unknown parameter "sslmod", did you mean sslmode; the known parameters are /u],
  ['sslmode=bogus', /^sslmode "bogus": must be one of disable, prefer, require, verify-ca, verify-full, no-verify$/u],
  ['sslrootcert=/nonexistent.pem', /^sslrootcert "\/nonexistent\.pem" cannot be read \(ENOENT\): name a readable file$/u],
  ['schema=pg_x', /^schema "pg_x": must .*not begin with pg_/u],
  ['port=99999', /^port "99999": must be 1–65535$/u],
])('the parameter %s is refused', (parameter, message) => {
  expect(() => addressOf(`postgres://ear:secret@a/db?${parameter}`)).toThrow(message);
});

it('a port above 65535 is refused, and an error does not show digits of a password as a port', () => {
  expect(() => addressOf('postgres://ear:secret@a:99999/db')).toThrow(/^port 99999 in the URL .*: must be 1–65535$/u);
  expect(() => addressOf('postgres://ear:123456/7@a/db')).toThrow(/cannot be read/u);
});

it('an sslmode that the driver treats as verify-full is passed as verify-full, so that the driver prints no warning', () => {
  expect(addressOf('postgres://ear@a/db?sslmode=require')).toMatchObject({
    urls: ['postgres://ear@a/db?sslmode=verify-full'],
    shown: 'postgres://ear@a/db?sslmode=require',
  });
});
