import { join } from 'node:path';
import { expect, test } from 'vitest';
import { consoleViolations, violations } from './layers.ts';
import { proves } from '../verifies.ts';

test('the arrows between the rooms point inward', () => {
  proves('package:layers');
  expect(violations(join(import.meta.dirname, '../../src'))).toEqual([]);
});

test('the console talks to the server through the client only', () => {
  expect(consoleViolations(join(import.meta.dirname, '../../console/src'))).toEqual([]);
  expect(consoleViolations(join(import.meta.dirname, 'fixture-console/src'))).toEqual([
    'console/reaches.ts:1 imports preact; only react, react/jsx-runtime, react-dom/client, @toon-format/toon',
    'console/reaches.ts:2 imports ../../src/stores/index.ts; of src it may import wire/client, and types of core',
    'console/reaches.ts:3 imports ../../src/core/records.ts; of src it may import wire/client, and types of core',
  ]);
});

test('an arrow outward, an impure core and an unknown room are each seen', () => {
  expect(violations(join(import.meta.dirname, 'fixture'))).toEqual([
    'core/impure.ts:1 imports node:fs; only @toon-format/toon',
    'core/impure.ts:2 imports smol-toml; only @toon-format/toon',
    'core/impure.ts:8 says Date.now; core has no clock, no chance and no I/O',
    'core/impure.ts:9 says new Date(); core has no clock, no chance and no I/O',
    'core/impure.ts:10 says Math.random; core has no clock, no chance and no I/O',
    'core/impure.ts:11 says performance.n; core has no clock, no chance and no I/O',
    'core/views/leak.ts:1 imports core/arbitraries.ts, which is for tests only',
    'gateway/outward.ts:1 imports stores/index.ts; it may import core, inbox, tasks, mcp',
    'gateway/outward.ts:2 imports cli/main.ts; it may import core, inbox, tasks, mcp',
    'gateway/outward.ts:3 imports earpiece.ts; it may import core, inbox, tasks, mcp',
    'gateway/outward.ts:4 imports ../../../package.json, which is outside of src',
    'gateway/outward.ts:5 imports stores/memory.ts; it may import core, inbox, tasks, mcp',
    'lounge/somebody.ts: the room lounge has no arrows yet; say in e2e/layers/layers.ts whom it may import',
  ]);
});
