import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { parseWhen, showTime } from './when.ts';

/** A Saturday, eleven o'clock in Berlin. The clocks there change that night. */
const NOW = Date.parse('2026-03-28T10:00:00Z');
const BERLIN = { now: NOW, timeZone: 'Europe/Berlin' };
const at = async (text: string, here = BERLIN): Promise<string> => {
  const when = await parseWhen(text, here);
  return 'at' in when ? new Date(when.at).toISOString().replace(':00.000Z', 'Z') : `${when.afterTurns} turns`;
};

describe('a time in words', () => {
  proves('sources:timers');

  it.each([
    ['in 10m', '2026-03-28T10:10Z'],
    ['in 10 min', '2026-03-28T10:10Z'],
    ['10 minutes', '2026-03-28T10:10Z'],
    ['in 90s', '2026-03-28T10:01:30.000Z'],
    ['in 1h 30m', '2026-03-28T11:30Z'],
    ['in half an hour', '2026-03-28T10:30Z'],
    ['at 15:30', '2026-03-28T14:30Z'],
    ['15:30', '2026-03-28T14:30Z'],
    ['at noon', '2026-03-28T11:00Z'],
    // A time that has already passed today means tomorrow.
    ['at 9', '2026-03-29T07:00Z'],
    ['9am', '2026-03-29T07:00Z'],
    // The clocks go forward tonight, and nine means nine by the clocks of tomorrow.
    ['tomorrow at 9', '2026-03-29T07:00Z'],
    ['in 3 days', '2026-03-31T09:00Z'],
    ['in a week at 9', '2026-04-04T07:00Z'],
    // Hours are elapsed hours, even if the clocks change.
    ['in 24 hours', '2026-03-29T10:00Z'],
    ['friday at 8', '2026-04-03T06:00Z'],
    ['on friday at 8', '2026-04-03T06:00Z'],
    ['next friday', '2026-04-03T10:00Z'],
    // Half past two does not exist in that night.
    ['tomorrow at 2:30', '2026-03-29T01:30Z'],
    ['2026-05-01T10:00', '2026-05-01T08:00Z'],
    ['2026-05-01T10:00:00Z', '2026-05-01T10:00Z'],
    ['2026-05-01T10:00:00+05:30', '2026-05-01T04:30Z'],
    ['2026-05-01 10:00', '2026-05-01T08:00Z'],
    ['15:30 UTC', '2026-03-28T15:30Z'],
    ['at 15:30 America/New_York', '2026-03-28T19:30Z'],
    ['tomorrow at 9 (asia/kolkata)', '2026-03-29T03:30Z'],
    ['in 10m Europe/Berlin', '2026-03-28T10:10Z'],
    ['May 1 at 10:00', '2026-05-01T08:00Z'],
    ['after 3 turns', '3 turns'],
    ['in 1 turn', '1 turns'],
  ])('"%s" means %s', async (text, expected) => {
    expect(await at(text)).toBe(expected);
  });

  it.each([
    ['America/New_York', '2026-03-28T13:00Z'],
    ['Asia/Kolkata', '2026-03-29T03:30Z'],
    ['UTC', '2026-03-29T09:00Z'],
    ['Pacific/Auckland', '2026-03-28T20:00Z'],
  ])("at 9 means nine o'clock in %s", async (timeZone, expected) => {
    expect(await at('at 9', { now: NOW, timeZone })).toBe(expected);
  });

  it.each([
    ['banana', /^the time "banana" is not understood; write e\.g\. "in 10m", "at 15:30"/u],
    ['', /is not understood/u],
    ['in 10m '.repeat(5_000), /is not understood/u],
    ['at 25:00', /is not understood/u],
    ['at 15:30 Europe/Berln', /is not understood/u],
    ['31 February at 9', /is not understood/u],
    ['in 10m or so', /is not understood/u],
    ['at 9 or at 10', /is not understood/u],
    ['from 9 to 10', /is (?:a span|not understood)/u],
    ['yesterday', /has passed \(Fri 2026-03-27 11:00\); write e.g. "in 10m"/u],
    ['today at 9', /has passed \(Sat 2026-03-28 09:00\)/u],
    ['2020-01-01', /has passed/u],
    ['in 2 years', /is more than a year away \(Tue 2028-03-28 .*\); write a time within a year/u],
    ['after 0 turns', /must be 1 to 1000 turns, got 0/u],
    ['after 5000 turns', /must be 1 to 1000 turns, got 5000/u],
  ])('%j is refused', async (text, message) => {
    await expect(parseWhen(text, BERLIN)).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringMatching(message) as string,
    });
  });

  it('the suggested times can be parsed at any time', async () => {
    for (const now of [NOW, Date.parse('2031-12-31T23:59:59Z')]) {
      const refusal = await parseWhen('banana', { now, timeZone: 'UTC' }).then(JSON.stringify, (error: Error) => error.message);
      const forms = [...refusal.matchAll(/"([^"]+)"/gu)].map(([, form]) => form as string).slice(1);
      expect(forms.length).toBeGreaterThan(3);
      for (const form of forms) await parseWhen(form, { now, timeZone: 'UTC' });
    }
  });

  it('a time is shown in its time zone', () => {
    expect(showTime(NOW, 'Europe/Berlin')).toBe('Sat 2026-03-28 11:00');
    expect(showTime(NOW + 90_500, 'UTC')).toBe('Sat 2026-03-28 10:01:30');
    expect(showTime(Date.parse('2026-03-28T00:05:00Z'), 'UTC')).toBe('Sat 2026-03-28 00:05');
  });
});
