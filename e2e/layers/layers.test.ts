import { join } from 'node:path';
import { expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { circles, longFiles, MAX_LINES } from './circles.ts';
import { consoleViolations, violations } from './layers.ts';
import { IN_A_CIRCLE, TOO_LONG } from './unmended.ts';

const SRC = join(import.meta.dirname, '../../src');
const CONSOLE = join(import.meta.dirname, '../../console/src');

test('the imports between the rooms point inward', () => {
  proves('package:layers');
  expect(violations(SRC)).toEqual([]);
});

test('the console imports only the HTTP client and types from src', () => {
  expect(consoleViolations(CONSOLE)).toEqual([]);
  expect(consoleViolations(join(import.meta.dirname, 'fixture-console/src'))).toEqual([
    'console/reaches.ts:1 imports preact; it may import only react, react/jsx-runtime, react-dom/client, @toon-format/toon',
    'console/reaches.ts:2 imports ../../src/stores/index.ts; of src it may import wire/client, and types of core',
    'console/reaches.ts:3 imports ../../src/core/records.ts; of src it may import wire/client, and types of core',
  ]);
});

test('the check finds an outward import, an impure core and an unknown room', () => {
  expect(violations(join(import.meta.dirname, 'fixture'))).toEqual([
    'core/impure.ts:1 imports node:fs; it may import only @toon-format/toon',
    'core/impure.ts:2 imports smol-toml; it may import only @toon-format/toon',
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
    'lounge/somebody.ts: the room lounge is not listed in e2e/layers/layers.ts; list there what it may import',
  ]);
});

test('files do not import each other in a circle', () => {
  expect(circles(join(import.meta.dirname, 'fixture-circle'))).toEqual([['folder/middle.ts', 'folder/types.ts', 'values.ts']]);
  expect(circles(CONSOLE)).toEqual([]);
  const found = circles(SRC);
  const unlisted = found.filter((circle) => circle.some((file) => !IN_A_CIRCLE.includes(file)));
  expect(unlisted, 'these import each other; move what they share into a file that imports none of them').toEqual([]);
  const mended = IN_A_CIRCLE.filter((file) => !found.flat().includes(file));
  expect(mended, 'these are in no circle any more; take them out of IN_A_CIRCLE in unmended.ts').toEqual([]);
});

test(`a source file has at most ${MAX_LINES} lines`, () => {
  expect(longFiles(CONSOLE)).toEqual([]);
  const found = longFiles(SRC);
  const unlisted = found.filter(({ file }) => !TOO_LONG.includes(file));
  expect(unlisted, 'these are too long; cut them where one idea ends').toEqual([]);
  const mended = TOO_LONG.filter((file) => !found.some((long) => long.file === file));
  expect(mended, 'these are short enough now; take them out of TOO_LONG in unmended.ts').toEqual([]);
});
