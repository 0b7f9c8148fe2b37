import { describe, expect, test } from 'vitest';

import { frameOf, type Success } from '../../mcp/frames/frame.ts';
import { carrierIn, charsOf, plain, replaced, withRide, type Treatment } from './results.ts';
import { Catalog, editedPage, OwnNames, ownToolEdits, profileEdits, toolsIn } from './tools.ts';
import { profileOf, type ProfileKind } from './profiles.ts';
import { proves } from '../../../e2e/verifies.ts';

const frame = (result: string): Success => frameOf(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}\n`)) as Success;
const unframed = (bytes: Buffer): string => bytes.toString().replace(/^\{"jsonrpc":"2.0","id":1,"result":(.*)\}\n$/s, '$1');
const ride = (result: string, treatment: Treatment, what: { text: string; signal?: string }): string =>
  unframed(withRide(carrierIn(frame(result))!, treatment, what));

describe('a notification on a result changes nothing else in it', () => {
  proves('gateway:profiles');
  test.each<[string, string, Treatment, { text: string; signal?: string }, string]>([
    [
      'a block',
      '{"content":[{"type":"text","text":"x"}]}',
      'leave',
      { text: 'N' },
      '{"content":[{"type":"text","text":"x"},{"type":"text","text":"N"}]}',
    ],
    [
      'a block in an empty list of blocks',
      '{ "content" : [ ] }',
      'leave',
      { text: 'N' },
      '{ "content" : [{"type":"text","text":"N"} ] }',
    ],
    [
      'unusual numbers, keys and escapes stay',
      '{"x":1.0,"content":[{"n":1e400,"n":9007199254740993}],"\\u0041":0}',
      'leave',
      { text: 'N"\n' },
      '{"x":1.0,"content":[{"n":1e400,"n":9007199254740993},{"type":"text","text":"N\\"\\n"}],"\\u0041":0}',
    ],
    [
      'structured content is left unchanged',
      '{"content":[],"structuredContent":{"a":1.0}}',
      'leave',
      { text: 'N' },
      '{"content":[{"type":"text","text":"N"}],"structuredContent":{"a":1.0}}',
    ],
    [
      'structured content is extended',
      '{"content":[],"structuredContent":{"a":1.0}}',
      'extend',
      { text: 'N' },
      '{"content":[{"type":"text","text":"N"}],"structuredContent":{"a":1.0,"_notices":"N"}}',
    ],
    [
      'empty structured content is extended',
      '{"structuredContent":{},"content":[]}',
      'extend',
      { text: 'N' },
      '{"structuredContent":{"_notices":"N"},"content":[{"type":"text","text":"N"}]}',
    ],
    [
      'structured content is removed',
      '{"structuredContent":{"a":1},"content":[],"isError":false}',
      'remove',
      { text: 'N' },
      '{"content":[{"type":"text","text":"N"}],"isError":false}',
    ],
    [
      'structured content that cannot be extended is removed',
      '{"content":[],"structuredContent":[1]}',
      'extend',
      { text: 'N' },
      '{"content":[{"type":"text","text":"N"}]}',
    ],
    [
      'structured content that already has _notices is removed',
      '{"content":[],"structuredContent":{"_notices":1}}',
      'extend',
      { text: 'N' },
      '{"content":[{"type":"text","text":"N"}]}',
    ],
    ['a signal', '{"content":[]}', 'leave', { text: '', signal: 'S' }, '{"content":[],"notification":"S"}'],
    [
      'a signal after the removed structured content',
      '{"content":[],"structuredContent":{"a":1}}',
      'remove',
      { text: 'N', signal: 'S' },
      '{"content":[{"type":"text","text":"N"}],"notification":"S"}',
    ],
    [
      'a result that already has the field of the signal',
      '{"content":[],"notification":"theirs"}',
      'leave',
      { text: '', signal: 'S' },
      '{"content":[],"notification":"theirs"}',
    ],
    [
      'a signal with structured content to remove',
      '{"structuredContent":1,"content":[]}',
      'remove',
      { text: '', signal: 'S' },
      '{"content":[],"notification":"S"}',
    ],
    [
      'the last of duplicates',
      '{"content":[1],"content":[2]}',
      'leave',
      { text: 'N' },
      '{"content":[1],"content":[2,{"type":"text","text":"N"}]}',
    ],
  ])('%s', (_, result, treatment, what, expected) => {
    expect(ride(result, treatment, what)).toBe(expected);
  });

  test('a result without a notification has the same bytes, or lacks only structured content', () => {
    const carrier = carrierIn(frame('{"content":[ ],"structuredContent":{"a":1.0},"z":0}'))!;
    expect(plain(carrier, 'leave')).toBe(carrier.frame.bytes);
    expect(plain(carrier, 'extend')).toBe(carrier.frame.bytes);
    expect(unframed(plain(carrier, 'remove'))).toBe('{"content":[ ],"z":0}');
  });

  test('a replaced result keeps only its resultType', () => {
    const carrier = carrierIn(
      frame('{"content":[{"type":"text","text":"secret"}],"resultType":"complete","structuredContent":{},"_meta":{"a":1}}'),
    )!;
    expect(unframed(replaced(carrier, 'N', { asError: false }))).toBe(
      '{"content":[{"type":"text","text":"N"}],"resultType":"complete"}',
    );
    expect(unframed(replaced(carrier, 'N', { asError: true }))).toContain('"isError":true');
  });

  test.each([
    '{"resultType":"input_required","inputRequests":{}}',
    '{"resultType":"input_required","content":[]}',
    '{"resultType":"task","task":{"taskId":"1"},"content":[{"type":"text","text":"started"}]}',
    '{"task":{"taskId":"1"},"content":[]}',
    '{"resultType":7,"content":[]}',
    '{"task":{"taskId":"1"}}',
    '{"content":"x"}',
    '[]',
    'null',
    '"x"',
  ])('%s carries no notification', (result) => {
    expect(carrierIn(frame(result))).toBeUndefined();
  });

  test.each(['{"resultType":"complete","content":[]}', '{"task":"mine","content":[]}'])('%s carries a notification', (result) => {
    expect(carrierIn(frame(result))).toBeDefined();
  });

  test('the size of a result is the number of characters that the model reads', () => {
    expect(charsOf(carrierIn(frame('{"content":[{"type":"text","text":"a\\u0041é\\n"},{"type":"text","text":"12"}]}'))!)).toBe(6);
    expect(charsOf(carrierIn(frame('{"content":[{"type":"text","text":"a"}],"structuredContent":{"a":"12345"}}'))!)).toBe(13);
  });
});

describe('tools/list', () => {
  const list = (tools: string, rest = ''): Success => frame(`{"tools":[${tools}]${rest}}`);
  const listed = (tools: string, kind: ProfileKind): string => {
    const page = toolsIn(list(tools))!;
    return unframed(editedPage(page, profileEdits(page, { ...profileOf(undefined), kind }))).replace(
      /^\{"tools":\[(.*)\]\}$/s,
      '$1',
    );
  };
  const notices =
    '{"type":"string","description":"Notifications for you that came while you worked; not part of the tool result."}';

  test.each<[string, string, string, string]>([
    [
      'no schema',
      '{"name":"a","inputSchema":{"type":"object"}}',
      '{"name":"a","inputSchema":{"type":"object"}}',
      '{"name":"a","inputSchema":{"type":"object"}}',
    ],
    [
      'an object',
      '{"name":"a","outputSchema":{"type":"object","properties":{"n":{"const":1.0}},"additionalProperties":false},"z":1}',
      `{"name":"a","outputSchema":{"type":"object","properties":{"n":{"const":1.0},"_notices":${notices}},"additionalProperties":false},"z":1}`,
      '{"name":"a","z":1}',
    ],
    [
      'an object without properties',
      '{"outputSchema":{"type":"object"},"name":"a"}',
      `{"outputSchema":{"type":"object","properties":{"_notices":${notices}}},"name":"a"}`,
      '{"name":"a"}',
    ],
    [
      'empty properties',
      '{"name":"a","outputSchema":{"properties":{ },"type":"object"}}',
      `{"name":"a","outputSchema":{"properties":{"_notices":${notices} },"type":"object"}}`,
      '{"name":"a"}',
    ],
  ])('%s', (_, tool, extended, stripped) => {
    expect(listed(tool, 'blocks')).toBe(tool);
    expect(listed(tool, 'extend')).toBe(extended);
    expect(listed(tool, 'strip')).toBe(stripped);
  });

  test.each([
    '{"type":"array"}',
    '{"type":["object","null"]}',
    '{"type":"object","oneOf":[]}',
    '{"type":"object","allOf":[]}',
    '{"$ref":"#/$defs/x"}',
    '{"type":"object","maxProperties":1}',
    '{"type":"object","propertyNames":{}}',
    '{"type":"object","properties":{"_notices":{}}}',
    '{"type":"object","properties":[]}',
    '{}',
    'true',
  ])('a schema that cannot take one more property is removed for a client of kind "extend": %s', (schema) => {
    expect(listed(`{"name":"a","outputSchema":${schema}}`, 'extend')).toBe('{"name":"a"}');
    expect(listed(`{"name":"a","outputSchema":${schema}}`, 'blocks')).toBe(`{"name":"a","outputSchema":${schema}}`);
  });

  test('tools of Earpiece are listed at the end of the last page, under a free name', () => {
    proves('pull:name');
    const catalog = new Catalog();
    const first = toolsIn(list('{"name":"get_notifications"}', ',"nextCursor":"2"'))!;
    const last = toolsIn(list('{"name":"b"}', ',"nextCursor":null'))!;
    catalog.add(first);
    expect(catalog.complete).toBe(false);
    catalog.add(last);
    expect(catalog.complete).toBe(true);
    const own = [{ name: 'get_notifications', inputSchema: { type: 'object' } }, { name: 'free' }];
    const names = new OwnNames(own, catalog);
    expect(unframed(editedPage(last, ownToolEdits(last, own, names)))).toBe(
      '{"tools":[{"name":"b"},{"name":"earpiece_get_notifications","inputSchema":{"type":"object"}},{"name":"free"}],"nextCursor":null}',
    );
    expect(names.meant('earpiece_get_notifications')).toBe('get_notifications');
    expect(names.meant('get_notifications')).toBeUndefined();
    expect(names.meant('free')).toBe('free');
  });

  test('each known client has its profile, and any other client has the kind extend', () => {
    expect(profileOf({ name: 'claude-code', version: '2.1.330' })).toEqual({
      kind: 'extend',
      maxResultChars: 50_000,
      maxErrorChars: 11_000,
      showsInstructions: true,
    });
    expect(profileOf({ name: 'codex-mcp-client' }).kind).toBe('extend');
    expect(profileOf({ name: 'gemini-cli-mcp-client-files' }).kind).toBe('blocks');
    expect(profileOf({ name: 'opencode' }).kind).toBe('blocks');
    expect(profileOf({ name: 'qwen-cli-mcp-client-x' }).kind).toBe('blocks');
    expect(profileOf({ name: 'ai-sdk-mcp-client' }).kind).toBe('blocks');
    expect(profileOf({ name: 'something new' }).kind).toBe('extend');
    expect(profileOf(undefined).kind).toBe('extend');
  });
});
