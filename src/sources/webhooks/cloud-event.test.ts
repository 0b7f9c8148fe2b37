import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { makeEvent, type EventInput } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';
import { cloudEventOf, cloudEventsIn, eventFromCloudEvent } from './cloud-event.ts';

const WHOLE = {
  specversion: '1.0',
  id: 'A234-1234',
  source: '/ci/runs',
  type: 'com.example.build.failed',
  subject: 'shop/coder',
  time: '2026-05-01T10:00:00.5+02:00',
  datacontenttype: 'application/json',
  severity: 'error',
  message: 'the build failed',
  key: 'build',
  supersede: true,
  about: 'file:/a.ts',
  purpose: 'review',
  ttlms: 60_000,
  deliver: 'turns:3',
  data: { branch: 'main', run: 7 },
} as const;

const said = (json: Json, defaults = {}): string => {
  try {
    eventFromCloudEvent(json, defaults);
    return 'taken';
  } catch (error) {
    expect(error).toMatchObject({ code: 'bad_event' });
    return (error as Error).message;
  }
};
const without = (name: string): Json => Object.fromEntries(Object.entries(WHOLE).filter(([each]) => each !== name));

describe('a CloudEvent', () => {
  proves('cli:emit', 'sources:webhooks');

  it('is read with all of its attributes', () => {
    expect(eventFromCloudEvent(WHOLE)).toEqual({
      id: 'A234-1234',
      type: 'com.example.build.failed',
      source: '/ci/runs',
      subject: 'shop/coder',
      time: Date.parse('2026-05-01T08:00:00.500Z'),
      severity: 'error',
      data: { branch: 'main', run: 7 },
      message: 'the build failed',
      key: 'build',
      supersede: true,
      about: 'file:/a.ts',
      purpose: 'review',
      ttlMs: 60_000,
      deliver: { afterTurns: 3 },
    });
  });

  it('that is written and read again is unchanged', () => {
    const event = fc.record(
      {
        id: fc.string({ minLength: 1, maxLength: 20 }).filter((text) => text.trim() !== ''),
        type: fc.constantFrom('build.failed', 'a', 'x-y.z_1'),
        source: fc.constantFrom('ci', 'https://example.com/a?b#c'),
        subject: fc.constantFrom('shop/coder', 'shop/coder#s1', 'shop/*'),
        time: fc.integer({ min: 0, max: 4e12 }),
        severity: fc.constantFrom('debug', 'info', 'warning', 'error', 'critical'),
        data: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
        message: fc.constant('what happened'),
        key: fc.constant('k'),
        supersede: fc.boolean(),
        ttlMs: fc.integer({ min: 1, max: 1e9 }),
        deliver: fc.constantFrom('now', 'turn_end', { afterTurns: 2 }, { at: 1_700_000_000_000 }),
      },
      { requiredKeys: ['type', 'source', 'subject'] },
    );
    fc.assert(
      fc.property(event, (input) => {
        const made = makeEvent(input as EventInput, { id: 'made', now: 1_700_000_000_000 });
        const text = JSON.stringify(cloudEventOf(made));
        expect(cloudEventsIn(text)).toEqual([JSON.parse(JSON.stringify(made))]);
      }),
    );
  });

  it.each<[string, object, object]>([
    ['none', {}, {}],
    ['an object', { data: { a: 1 } }, { a: 1 }],
    ['a list', { data: [1, 2] }, { value: [1, 2] }],
    ['a number', { data: 0 }, { value: 0 }],
    ['a text in JSON', { data: 'x' }, { value: 'x' }],
    ['a text', { data: 'x', datacontenttype: 'text/plain' }, { text: 'x' }],
    ['null', { data: null }, {}],
    ['JSON in base64', { data_base64: Buffer.from('{"a":1}').toString('base64') }, { a: 1 }],
    ['bytes', { data_base64: '/9j/', datacontenttype: 'image/jpeg' }, { base64: '/9j/' }],
  ])('becomes an event with the same data: %s', (_what, attributes, data) => {
    expect(
      eventFromCloudEvent({ ...(without('data') as object), datacontenttype: 'application/json', ...attributes }).data,
    ).toEqual(data);
  });

  it.each<[string, Json, string]>([
    ['a list in place of the object', [1], 'a CloudEvent is a JSON object with specversion, id, source, type, got a list'],
    ['no version', without('specversion'), 'event attribute specversion must be "1.0", the supported version'],
    [
      'an older version',
      { ...WHOLE, specversion: '0.3' },
      'event attribute specversion "0.3": must be "1.0", the supported version',
    ],
    ['no id', without('id'), 'event attribute id is missing; every CloudEvent needs this attribute'],
    [
      'a blank source',
      { ...WHOLE, source: ' ' },
      'event attribute source " ": needs a text that is not blank; leave the attribute out if there is no text',
    ],
    [
      'a number as type',
      { ...WHOLE, type: 7 },
      'event attribute type 7: needs a text that is not blank; leave the attribute out if there is no text',
    ],
    [
      'a time in words',
      { ...WHOLE, time: 'yesterday' },
      'event attribute time "yesterday": must be an RFC 3339 time such as "2026-05-01T10:00:00Z"',
    ],
    [
      'a day that does not exist',
      { ...WHOLE, time: '2026-13-01T10:00:00Z' },
      'event attribute time "2026-13-01T10:00:00Z": must be an RFC 3339 time such as "2026-05-01T10:00:00Z"',
    ],
    [
      'a mistyped severity',
      { ...WHOLE, severity: 'eror' },
      'event attribute severity "eror": must be one of debug, info, warning, error, critical; did you mean error?',
    ],
    [
      'a mistyped moment',
      { ...WHOLE, deliver: 'nxt' },
      'event attribute deliver "nxt": must be one of next, after_tool, next_cycle, cycle_end, turn_start, turn_end, now, turns:<n>, after:<tool>, or a time such as "2026-05-01T10:00:00Z"; did you mean next?',
    ],
    [
      'a time to live in minutes',
      { ...WHOLE, ttlms: '10m' },
      'event attribute ttlms "10m": must be a whole number of milliseconds above 0',
    ],
    ['a number as supersede', { ...WHOLE, supersede: 1 }, 'event attribute supersede 1: must be true or false'],
    ['data twice', { ...WHOLE, data_base64: 'AA==' }, 'the event has both data and data_base64; write only one'],
    [
      'data_base64 that is not base64',
      { ...(without('data') as object), data_base64: '%%' },
      'event attribute data_base64 "%%": must be a text in base64',
    ],
    [
      'data_base64 that is not JSON',
      { ...(without('data') as object), data_base64: 'AAAA' },
      expect.stringMatching(/^event data is not JSON \(.*\); send valid JSON, or set another datacontenttype$/u) as string,
    ],
  ])('with %s is refused with the reason', (_what, json, message) => {
    expect(said(json)).toEqual(message);
  });

  it('an event typed by a person needs only a type, and its typing errors are reported', () => {
    const defaults = { source: 'cli', subject: 'shop/coder' };
    expect(eventFromCloudEvent({ type: 'build.failed' }, defaults)).toEqual({
      type: 'build.failed',
      source: 'cli',
      subject: 'shop/coder',
      data: {},
    });
    expect(said({ type: 'x', sevrity: 'error' }, defaults)).toBe('event attribute "sevrity" is unknown; did you mean severity?');
    expect(said({ type: 'x', 'Build-Id': 1 }, defaults)).toBe(
      'event attribute "Build-Id" is unknown, and not a valid extension (1 to 64 lower-case letters and digits); put other values into data',
    );
    expect(said({ type: 'x', traceparent: '00-abc' }, defaults)).toBe('taken');
    expect(said({}, defaults)).toBe('event attribute type is missing; every CloudEvent needs this attribute');
  });
});

describe('a file of CloudEvents', () => {
  proves('cli:emit');
  const defaults = { source: 'cli', subject: 'shop/coder' };
  const types = (text: string): readonly string[] => cloudEventsIn(text, defaults).map((event) => event.type);

  it('contains one event, a list, or one event per line', () => {
    expect(types('{\n "type":\n "a"\n}\n')).toEqual(['a']);
    expect(types('[{"type":"a"}, {"type":"b"}]')).toEqual(['a', 'b']);
    expect(types('{"type":"a"}\n\n{"type":"b"}\r\n')).toEqual(['a', 'b']);
  });

  it.each([
    ['', /^the input is blank; write at least one event$/u],
    ['[]', /^the list is empty; write at least one event$/u],
    [
      '{"type": }',
      /^the input is not JSON \(.*\); write \{"type": "build.failed", "data": \{…\}\}, a list of such objects, or one object per line$/u,
    ],
    ['{\n"type": \n}', /^the input is not JSON/u],
    ['{"type":"a"}\n{"type":', /^line 2 is not JSON/u],
    ['{"type":"a"}\n{"id":"b"}', /^line 2: event attribute type is missing/u],
    ['[{"type":"a"}, 7]', /^event 2 of the list: a CloudEvent is a JSON object/u],
    [`{"type":"a","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /^event data nests more than 64 levels deep/u],
  ])('is refused with the reason: %j', (text, message) => {
    expect(() => cloudEventsIn(text, defaults)).toThrow(message);
  });
});
