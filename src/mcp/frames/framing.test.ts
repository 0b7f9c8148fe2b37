import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { LineReader, sseEvent, SseReader, type SseEvent } from './framing.ts';
import { proves } from '../../../e2e/verifies.ts';

/** Cuts the bytes at the places `at`, each taken modulo the length plus 1. Some pieces are empty. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)), bytes.length].toSorted((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe('lines', () => {
  proves('gateway:fuzz');
  test('for any chunks, the lines together are the same bytes, and each line ends once', () => {
    const stream = fc.array(
      fc.oneof(
        fc.uint8Array({ maxLength: 20 }),
        fc.constantFrom(...['\n', '\r\n', '\n\n', '{}\n', 'é\n'].map((t) => Uint8Array.from(Buffer.from(t)))),
      ),
    );
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 8 }), (pieces, at) => {
        const bytes = Buffer.concat(pieces);
        const lines: Buffer[] = [];
        const reader = new LineReader({ line: (line) => lines.push(line), tooLong: () => expect.unreachable() });
        for (const chunk of cut(bytes, at)) reader.push(chunk);
        reader.end();
        expect(Buffer.concat(lines).equals(bytes)).toBe(true);
        lines.forEach((line, index) => {
          expect(line.indexOf(0x0a)).toBe(line.at(-1) === 0x0a ? line.length - 1 : -1);
          if (index < lines.length - 1) expect(line.at(-1)).toBe(0x0a);
        });
      }),
    );
  });

  test('a line that is too long is dropped except for its ends, and the next line is complete', () => {
    const lines: string[] = [];
    const dropped: { bytes: number; head: string; tail: string }[] = [];
    const reader = new LineReader(
      {
        line: (line) => lines.push(line.toString()),
        tooLong: ({ bytes, head, tail }) => dropped.push({ bytes, head: head.toString(), tail: tail.toString() }),
      },
      10_000,
    );
    reader.push(Buffer.from(`before\n{"id":7,${'x'.repeat(9_000)}`));
    for (let index = 0; index < 10; index += 1) reader.push(Buffer.from('y'.repeat(1_000)));
    reader.push(Buffer.from('"end"}\nafter\n'));
    expect(lines).toEqual(['before\n', 'after\n']);
    expect(dropped).toHaveLength(1);
    expect(dropped[0]!.bytes).toBe(8 + 9_000 + 10_000 + 7);
    expect(dropped[0]!.head.startsWith('{"id":7,x')).toBe(true);
    expect(dropped[0]!.tail.endsWith('y"end"}\n')).toBe(true);
  });

  test('a line of exactly the limit passes', () => {
    const lines: number[] = [];
    const reader = new LineReader({ line: (line) => lines.push(line.length), tooLong: () => expect.unreachable() }, 100);
    reader.push(Buffer.from(`${'x'.repeat(99)}\n`));
    expect(lines).toEqual([100]);
  });

  test('a stream that ends within a line that is too long is reported', () => {
    const dropped: number[] = [];
    const reader = new LineReader({ line: () => expect.unreachable(), tooLong: ({ bytes }) => dropped.push(bytes) }, 10);
    reader.push(Buffer.from('x'.repeat(11)));
    reader.end();
    expect(dropped).toEqual([11]);
  });
});

describe('server-sent events', () => {
  proves('gateway:fuzz');
  function read(bytes: Buffer, at: readonly number[] = []): SseEvent[] {
    const events: SseEvent[] = [];
    const reader = new SseReader({ event: (event) => events.push(event), tooLong: () => expect.unreachable() });
    for (const chunk of cut(bytes, at)) reader.push(chunk);
    reader.end();
    return events;
  }

  test.each([
    ['data: {"a":1}\n\n', [{ data: '{"a":1}' }]],
    ['data:{"a":1}\r\n\r\n', [{ data: '{"a":1}' }]],
    ['event: message\nid: 7\nretry: 10\ndata: x\n\n', [{ data: 'x', event: 'message', id: '7', retry: '10' }]],
    ['data: a\ndata: b\n\n', [{ data: 'a\nb' }]],
    [': keepalive\n\n', [{}]],
    ['data\n\n', [{ data: '' }]],
    ['data: \n\n', [{ data: '' }]],
    ['id:\ndata:  two spaces\n\n', [{ data: ' two spaces', id: '' }]],
    ['unknown: x\ndata: a:b\n\n', [{ data: 'a:b' }]],
    ['data: not ended', [{ data: 'not ended' }]],
    ['\n\ndata: x\n\n', [{}, {}, { data: 'x' }]],
    ['\ufeffdata: x\n\n', [{ data: 'x' }]],
    ['data: x\r\r', [{ data: 'x' }]],
    ['event: a\rdata: x\rdata: y\r\rdata: z\r\r', [{ data: 'x\ny', event: 'a' }, { data: 'z' }]],
    [': x\rdata: y\r\r\n', [{ data: 'y' }]],
    ['data: x\n\rdata: y\r\n\r', [{ data: 'x' }, { data: 'y' }]],
  ])('%j', (text, expected) => {
    expect(
      read(Buffer.from(text)).map(({ raw: _raw, data, ...rest }) => ({ ...(data && { data: data.toString() }), ...rest })),
    ).toEqual(expected);
  });

  test('for any split of the stream, the raw events join to the same bytes, and each written event is read unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), fc.array(fc.nat(), { maxLength: 8 }), (texts, at) => {
        const payloads = texts.map((text) => JSON.stringify(text));
        const bytes = Buffer.concat(
          payloads.map((text, index) => sseEvent(Buffer.from(text), { event: 'message', id: `é${index}` })),
        );
        const events = read(bytes, at);
        expect(Buffer.concat(events.map(({ raw }) => raw)).equals(bytes)).toBe(true);
        expect(events.map(({ data }) => data?.toString())).toEqual(payloads);
        events.forEach(({ id }, index) => expect(id).toBe(`é${index}`));
      }),
    );
  });

  test('LF, CR and CRLF end lines wherever the stream is split, and an event is complete at its last CR', () => {
    const lineEnd = fc.constantFrom('\n', '\r', '\r\n');
    const event = fc.tuple(fc.array(fc.constantFrom('a', 'b: c', 'é'), { minLength: 1, maxLength: 3 }), lineEnd);
    fc.assert(
      fc.property(fc.array(event, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 8 }), (written, at) => {
        const text = written.map(([data, end]) => [...data.map((each) => `data: ${each}`), '', ''].join(end)).join('');
        const events = read(Buffer.from(text), at);
        expect(Buffer.concat(events.map(({ raw }) => raw)).toString()).toBe(text);
        const given = events.flatMap(({ data }) => (data === undefined ? [] : [data.toString()]));
        expect(given).toEqual(written.map(([data]) => data.join('\n')));
      }),
    );
    const seen: (string | undefined)[] = [];
    const reader = new SseReader({ event: ({ data }) => seen.push(data?.toString()), tooLong: () => expect.unreachable() });
    reader.push(Buffer.from('data: x\r\n\r'));
    expect(seen).toEqual(['x']);
    reader.push(Buffer.from('\n'));
    reader.push(Buffer.from('data: y\r'));
    reader.push(Buffer.from('\r'));
    expect(seen).toEqual(['x', undefined, 'y']);
  });

  test('an event written with line breaks between its tokens is the same JSON', () => {
    const [event] = read(sseEvent(Buffer.from('{\r\n "a": 1\n}\n')));
    expect(JSON.parse(event!.data!.toString())).toEqual({ a: 1 });
  });
});
