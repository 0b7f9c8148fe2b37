import { describe, expect, it } from 'vitest';
import type { WireName } from '../model/server.ts';
import { RULES, validate } from './validate.ts';
import { SAMPLES } from './wrong.ts';

describe.each(Object.keys(SAMPLES) as WireName[])('%s', (wire) => {
  const { path, good, bad } = SAMPLES[wire];

  it('accepts a correct conversation', () => expect(validate({ path, body: good })).toEqual([]));

  it.each(bad.map(([rule, body], i) => [rule, i + 1, body] as const))('%s rejects wrong request %i', (rule, _, body) => {
    expect(validate({ path, body }).map((violation) => violation.rule)).toContain(rule);
    expect(validate({ path, body }, [rule]).map((violation) => violation.rule)).not.toContain(rule);
  });

  it('has a test with a wrong request for each of its rules', () => {
    expect([...new Set(bad.map(([rule]) => rule))].toSorted()).toEqual(RULES[wire].map(({ id }) => id).toSorted());
  });
});
