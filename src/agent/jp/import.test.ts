import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Json } from '../../core/json.ts';
import { Inbox } from '../../inbox/index.ts';
import { memoryStore } from '../../stores/index.ts';
import { createAgent } from '../agent.ts';
import { scriptedModel } from '../scripted-model.ts';
import { entryOf, recordOf, type JpEntry } from './entries.ts';
import { importJp } from './import.ts';

const b64 = (text: string): string => Buffer.from(text).toString('base64');
const at = (n: number): { timestamp: string } => ({ timestamp: `2026-04-10 17:04:${String(n).padStart(2, '0')}.531233` });

/** One entry of each form that JP writes, and some entries of other forms. */
const ENTRIES: readonly JpEntry[] = [
  { type: 'config_delta', ...at(0), delta: { assistant: { model: 'x' } }, inherit: true },
  { ...at(1), type: 'turn_start' },
  { ...at(2), type: 'chat_request', content: 'run the tests', author: 'Jean', schema: { type: 'object' } },
  { ...at(3), type: 'chat_response', reasoning: 'I should run them', metadata: { anthropic_thinking_signature: b64('sig==') } },
  { ...at(4), type: 'chat_response', message: 'Running.' },
  {
    ...at(5),
    type: 'tool_call_request',
    id: 'c1',
    name: 'cargo_test',
    arguments: { cmd: b64('cargo test'), deep: [{ x: b64('ü') }], n: 1.5 },
    metadata: { rendered_arguments: b64('cargo test') },
  },
  { ...at(6), type: 'inquiry_request', id: 'q1', source: 'tool', question: { text: 'sure?' } },
  { ...at(7), type: 'inquiry_response', id: 'q1', answer: true },
  {
    ...at(8),
    type: 'system_notification_queued',
    kind: { source: 'mcp', name: 'disconnected' },
    level: 'error',
    message: 'github has disconnected',
  },
  { ...at(9), type: 'system_notification_queued', kind: { source: 'tool', name: 'stopped' }, message: 'filtered away' },
  {
    ...at(10),
    type: 'tool_call_response',
    id: 'c1',
    content: b64('ok\n1 passed'),
    is_error: false,
    notifications: [{ kind: { source: 'mcp', name: 'disconnected' }, level: 'error', message: 'github has disconnected' }],
  },
  { ...at(11), type: 'chat_response', data: { passed: 1 } },
  { ...at(12), type: 'compaction', from_turn: 0, to_turn: 1, summary: 'tests ran' },
  { ...at(13), type: 'from_the_future', anything: [1, { a: null }], metadata: { x: b64('y') } },
  { ...at(14), type: 'tool_call_request', id: 'c2', name: 'plain', arguments: { not: 'base64!' } },
  { ...at(15), type: 'tool_call_response', id: 'c2', content: 'not base64 either', is_error: true },
  { ...at(16), type: 'chat_response', message: 'done' },
  {
    ...at(17),
    type: 'system_notification_queued',
    kind: { source: 'tool', name: 'waiting' },
    level: 'warning',
    message: 'still pending',
  },
];

describe('a conversation of JP', () => {
  let folder: string;
  let inbox: Inbox;
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'earpiece-jp-')), '17648402467-run-the-tests');
    mkdirSync(folder);
    inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  });
  afterEach(async () => {
    await inbox.close();
    rmSync(join(folder, '..'), { recursive: true });
  });
  const write = (entries: unknown, more: Readonly<Record<string, string>> = {}): void => {
    writeFileSync(join(folder, 'events.json'), typeof entries === 'string' ? entries : JSON.stringify(entries));
    for (const [name, text] of Object.entries(more)) writeFileSync(join(folder, name), text);
  };

  it('an entry of each form is written as it was read', () => {
    for (const entry of ENTRIES) expect(entryOf(JSON.parse(JSON.stringify(recordOf(entry))) as never)).toEqual(entry);
  });

  it('any entry is written as it was read', () => {
    const entry = fc.record(
      {
        type: fc.oneof(fc.constantFrom('tool_call_request', 'tool_call_response', 'chat_request', 'odd'), fc.string()),
        timestamp: fc.string(),
        arguments: fc.jsonValue(),
        content: fc.oneof(fc.string(), fc.base64String()),
        metadata: fc.dictionary(fc.string(), fc.oneof(fc.base64String(), fc.string(), fc.jsonValue())),
      },
      { requiredKeys: ['type'] },
    );
    fc.assert(
      fc.property(entry, (made) => {
        const plain = JSON.parse(JSON.stringify(made)) as JpEntry;
        expect(JSON.parse(JSON.stringify(entryOf(recordOf(plain)))) as Json).toEqual(plain);
      }),
    );
  });

  it('stored strings are readable, and signatures are sent to the provider', () => {
    expect(recordOf(ENTRIES[5] as JpEntry)).toMatchObject({ arguments: { cmd: 'cargo test', deep: [{ x: 'ü' }], n: 1.5 } });
    expect(recordOf(ENTRIES[3] as JpEntry)).toMatchObject({ metadata: { provider: { anthropic: { signature: 'sig==' } } } });
  });

  it('is imported with delivered notifications closed, and an agent continues the conversation', async () => {
    write(ENTRIES, {
      'metadata.json': '{"title":"Run the tests","last_activated_at":"2026-04-10 17:04:20.531233"}',
      'base_config.json': '{"a":1}',
    });
    const imported = await importJp(inbox, folder, 'shop/jp');
    expect(imported).toMatchObject({
      address: 'shop/jp#17648402467-run-the-tests',
      title: 'Run the tests',
      records: ENTRIES.length,
      pending: 1,
    });

    const items = await inbox.store.items('shop/jp' as never, { kind: 'latest', limit: 10 });
    expect(Object.fromEntries(items.map((i) => [i.notification.message, i.state === 'open' ? 'open' : i.outcome]))).toEqual({
      'github has disconnected': 'delivered',
      'filtered away': 'filtered',
      'still pending': 'open',
    });

    const model = scriptedModel([{ text: 'going on' }], 'anthropic.messages');
    await using agent = await createAgent({ model, earpiece: inbox, address: imported.address });
    expect(await agent.send('and now?')).toMatchObject({ how: 'complete' });
    const prompt = model.requests[0]?.prompt ?? [];
    expect(prompt.map((m) => m.role)).toEqual(['user', 'assistant', 'user']);
    const text = JSON.stringify(prompt);
    expect(text).toContain('tests ran');
    expect(text.match(/still pending/g)).toHaveLength(1);
    for (const hidden of ['github has disconnected', '1 passed', 'filtered away', 'sure?']) expect(text).not.toContain(hidden);

    await expect(importJp(inbox, folder, 'shop/jp')).rejects.toThrow('already has records');
  });

  it('is sent completely if no turn is compacted', async () => {
    write(ENTRIES.filter(({ type }) => type !== 'compaction'));
    const imported = await importJp(inbox, folder, 'shop/jp');
    const model = scriptedModel([{ text: 'going on' }], 'anthropic.messages');
    await using agent = await createAgent({ model, earpiece: inbox, address: imported.address });
    await agent.send('and now?');
    const prompt = model.requests[0]?.prompt ?? [];
    expect(prompt.map((m) => m.role)).toEqual(['user', 'assistant', 'tool', 'user', 'assistant', 'tool', 'assistant', 'user']);
    const text = JSON.stringify(prompt);
    expect(text.match(/github has disconnected/g)).toHaveLength(1);
    expect(text).toContain('1 passed');
    expect(text).toContain('"signature":"sig=="');
    expect(text).not.toContain('filtered away');
  });

  const call = { type: 'tool_call_request', id: 'c1', name: 'run', arguments: {} };
  it.each<[string, Json, string]>([
    [
      'content that is null',
      { type: 'chat_request', content: null },
      'entry 1 (chat_request) has null as content: expected string',
    ],
    ['a call without a name', { ...call, id: 'c2', name: '' }, 'entry 1 (tool_call_request) has "" as name'],
    ['two calls with one id', call, 'entry 1 (tool_call_request) has the same id "c1" as entry 0'],
    ['a kind that is a number', { type: 'system_notification_queued', kind: 7, message: 'x' }, 'has 7 as kind'],
    [
      'notifications that are a text',
      { type: 'tool_call_response', id: 'c1', content: 'x', notifications: 'none' },
      'has "none" as notifications: expected array',
    ],
    [
      'a type of record that belongs to Earpiece',
      { type: 'carrier_offered', carrier: 'x' },
      'has the type "carrier_offered", which belongs to Earpiece',
    ],
    ['a compaction without turns', { type: 'compaction', summary: 'x' }, 'has nothing as from_turn'],
    [
      'a compaction that ends before it begins',
      { type: 'compaction', from_turn: 2, to_turn: 1 },
      'must have a to_turn that is at least from_turn',
    ],
    ['an answer that says nothing', { type: 'chat_response' }, 'must have one of message, reasoning and data'],
  ])('%s: the import is refused, and the error names the file and the entry', async (_what, entry, message) => {
    write([call, entry]);
    const refused = importJp(inbox, folder, 'shop/jp');
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.toThrow(`${join(folder, 'events.json')}: entry 1`);
    await expect(refused).rejects.toMatchObject({ code: 'bad_argument' });
    expect(await inbox.store.head()).toBe(0);
  });

  it.each([
    ['a folder without events.json', undefined, 'events.json cannot be read (ENOENT)'],
    ['a file that is not JSON', '[{', 'is not JSON'],
    ['a file that is not a list', '{}', 'is not a list of events'],
    ['an entry without a type', '[{"type":"turn_start"},{"x":1}]', 'entry 1 is not an event with a "type"'],
  ])('%s is refused', async (_what, text, message) => {
    if (text !== undefined) write(text);
    await expect(importJp(inbox, folder, 'shop/jp')).rejects.toThrow(message);
    expect(await inbox.store.head()).toBe(0);
  });
});
