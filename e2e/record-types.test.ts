/** Tests that the list of record types contains each type that the sources write. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RECORD_TYPES, type RecordType } from '../src/core/record-types.ts';
import { isOurs, type KnownDraft } from '../src/core/records.ts';

/** The compiler rejects this line if a record that `src/core/records.ts` describes has a type outside the list. */
const described: readonly RecordType[] = [] as readonly KnownDraft['type'][];

const SRC = join(import.meta.dirname, '../src');

it('the list of record types contains each type that Earpiece writes', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !/\.test\.ts$|^stores\/contract\//u.test(file),
  );
  const written = files.flatMap((file) =>
    [...readFileSync(join(SRC, file), 'utf8').matchAll(/\btype: (?:\w+ \? )?'(\w+)'(?: : '(\w+)')?/gu)].flatMap(
      ([, one = '', other = '']) => [one, other],
    ),
  );
  const missing = written.filter((type) => isOurs(type) && !(RECORD_TYPES as readonly string[]).includes(type));
  expect([...described, ...new Set(missing)]).toEqual([]);
});
