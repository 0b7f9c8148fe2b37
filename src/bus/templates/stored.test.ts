import { createHash } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { defined } from '../../core/defined.ts';
import type { Json } from '../../core/json.ts';
import type { Line } from '../../core/plan.ts';
import type { NotificationId } from '../../core/notification.ts';
import { EarpieceError } from '../../core/errors.ts';
import { memoryStore } from '../../stores/index.ts';
import type { Template } from '../subscriber.ts';
import { templateEngine } from './engine.ts';
import { storedTemplates } from './stored.ts';

const engine = templateEngine();
afterAll(() => engine.close());

const template = (text: string, name = 'tool_failure.toon.j2'): Template => ({
  name,
  text,
  hash: createHash('sha256').update(text).digest('hex'),
});
const lineOf = (hash: string | undefined): Line => {
  const subscribed = {
    id: 'tool_failure',
    event: { type: 'tool.call.failure', source: 'agent', severity: 'error', time: 0 },
    group: 1,
    ...defined({ template: hash }),
  };
  const details = [{ message: 'grep failed', data: { tool_name: 'grep' } }];
  return {
    ids: ['n1' as NotificationId],
    kind: { source: 'tool', name: 'call.failure' },
    level: 'error',
    messages: ['grep failed'],
    count: 1,
    firstAt: 0,
    lastAt: 0,
    data: [],
    subscriber: subscribed,
    group: [{ subscribed, level: 'error', count: 1, firstAt: 0, lastAt: 0, details }],
  };
};
const how = { timeZone: 'Europe/Berlin' };

/** Makes a store of settings that records its calls. */
function settings(): {
  calls: string[];
  setting: (key: string) => Promise<Json | undefined>;
  setSetting: (key: string, value: Json | undefined) => Promise<void>;
} {
  const store = memoryStore();
  const calls: string[] = [];
  return {
    calls,
    setting: (key) => {
      calls.push('look');
      return store.setting(key);
    },
    setSetting: (key, value) => {
      calls.push('write');
      return store.setSetting(key, value);
    },
  };
}

test('a process renders a template that another process has stored', async () => {
  const store = memoryStore();
  const failed = template('tool_fail: {{ event.payload.tool_name }} at {{ timestamp|format_time }}');
  await storedTemplates(store, engine).keep(failed);
  expect(await store.setting(`template ${failed.hash}`)).toEqual({ name: failed.name, text: failed.text });
  expect(await storedTemplates(store, engine).render(lineOf(failed.hash), how)).toEqual({
    kind: 'text',
    text: 'tool_fail: grep at 01:00:00',
  });
});

test('a template is written once and looked up once, however often it is stored and rendered', async () => {
  const store = settings();
  const one = template('one');
  const templates = storedTemplates(store, engine);
  await Promise.all([templates.keep(one), templates.keep(one)]);
  await templates.keep(one);
  expect(await templates.render(lineOf(one.hash), how)).toEqual({ kind: 'text', text: 'one' });
  expect(store.calls).toEqual(['look', 'write']);

  const other = storedTemplates(store, engine);
  await other.keep(one);
  await other.render(lineOf(one.hash), how);
  expect(store.calls).toEqual(['look', 'write', 'look']);
});

test('no template is lost among hundreds', async () => {
  const store = memoryStore();
  const templates = storedTemplates(store, engine);
  const many = Array.from({ length: 300 }, (_, at) => template(`number ${at}`));
  for (const each of many) await templates.keep(each);
  for (const at of [0, 299])
    expect(await templates.render(lineOf(many[at]?.hash), how)).toEqual({ kind: 'text', text: `number ${at}` });
});

test('an unknown template fails, and the reason names its hash', async () => {
  const templates = storedTemplates(memoryStore(), engine);
  expect(await templates.render(lineOf('0123456789abcdef'), how)).toEqual({
    kind: 'failed',
    reason: 'template 01234567 is not in this store',
  });
  expect(await templates.render(lineOf(undefined), how)).toEqual({ kind: 'failed', reason: 'the subscriber has no template' });
});

test('while the store cannot be reached, rendering and storing a template fail', async () => {
  let there = false;
  const store = memoryStore();
  const away = async <T>(then: () => Promise<T>): Promise<T> => {
    if (!there) throw new EarpieceError('store_unavailable', 'the store is away', { retryable: true });
    return then();
  };
  const templates = storedTemplates(
    {
      setting: (key) => away(() => store.setting(key)),
      setSetting: (key, value) => away(() => store.setSetting(key, value)),
    },
    engine,
  );
  const one = template('one');
  await expect(templates.keep(one)).rejects.toThrow('the store is away');
  expect(await templates.render(lineOf(one.hash), how)).toEqual({
    kind: 'failed',
    reason: `template ${one.hash.slice(0, 8)}: the store is away`,
  });
  there = true;
  await templates.keep(one);
  expect(await templates.render(lineOf(one.hash), how)).toEqual({ kind: 'text', text: 'one' });
});

test('the result of a failed template has the reason', async () => {
  const templates = storedTemplates(memoryStore(), engine);
  const bad = template('\n{{ event.payload.nothing.more }}');
  await templates.keep(bad);
  expect(await templates.render(lineOf(bad.hash), how)).toEqual({
    kind: 'failed',
    reason: 'line 2: reads a field of a value that does not exist: {{ event.payload.nothing.more }}',
  });
});
