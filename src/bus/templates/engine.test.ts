import { spawnSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setImmediate as turn } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { decode } from '@toon-format/toon';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { proves, verifies } from '../../../e2e/verifies.ts';
import type { Json } from '../../core/json.ts';
import { templateEngine, type TemplateEngine } from './engine.ts';
import { sandbox } from './sandbox.ts';

/** Workers of this process that have not ended. */
const alive = new Set<Worker>();
const watch = (message: unknown): void => {
  const { worker } = message as { worker: Worker };
  alive.add(worker);
  worker.once('exit', () => alive.delete(worker));
};
beforeAll(() => subscribe('worker_threads', watch));
afterAll(() => {
  unsubscribe('worker_threads', watch);
});

const CONTEXT = {
  event: { type: 'tool.call.failure', severity: 'error', payload: { tool_name: 'grep', count: 3, missing: null } },
  rows: [
    { tool: 'a', message: 'x, y' },
    { tool: 'b', message: 'l1\nl2' },
  ],
  nulls: [
    { job: 'web', branch: null, error: null },
    { job: null, branch: 'main', error: null },
  ],
  large: 9_007_199_254_740_992,
  at: '2026-01-01T10:20:30Z',
  time_zone: 'Europe/Berlin',
};

const named = (text: string, name = 'test.toon.j2'): { name: string; text: string } => ({ name, text });

/**
 * Measures the longest time that this thread worked without returning to its event loop. The result is in ms of processor time,
 * so that the load of the machine does not count.
 */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  const spent = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  await turn();
  let longest = 0;
  let before = spent();
  const tick = (): void => {
    const now = spent();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const timer = setInterval(tick, 1);
  await work();
  tick();
  clearInterval(timer);
  return longest;
}

/** A long deadline, for tests in which another problem must occur before the deadline, even on a busy machine. */
const PATIENT = { deadlineMs: 20_000 };

describe('the result of a template', () => {
  const engine = templateEngine(PATIENT);
  afterAll(() => engine.close());

  test.each([
    ['a field', '{{ event.payload.tool_name }} {{ event.payload.count }}', 'grep 3'],
    ['a missing or null field as the empty text', '[{{ event.payload.nothing }}{{ event.payload.missing }}]', '[]'],
    ['the argument of default for a null field', '{{ event.payload.missing|default("none given") }}', 'none given'],
    ['the content of blocks without the lines of their tags', 'a\n  {% if true %}\nb\n  {% endif %}\nc', 'a\nb\nc'],
    ['text without escaping', '<b>{{ "<i> & \\"" }}', '<b><i> & "'],
    [
      "the results of Python's methods",
      '{% for key, value in event.payload.items() %}{{ key.upper() }};{% endfor %}',
      'COUNT;TOOL_NAME;',
    ],
    ['a table', '{{ rows|toon_encode }}', '[2]{message,tool}:\n  "x, y",a\n  "l1\\nl2",b'],
    ['a table that toon_encode makes as a function', '{{ toon_encode(rows) }}', '[2]{message,tool}:\n  "x, y",a\n  "l1\\nl2",b'],
    ['one table of rows that lack a field', '{{ [{"a": 1, "b": 2}, {"a": 3}]|toon_encode }}', '[2]{a,b}:\n  1,2\n  3,null'],
    [
      'a table of rows with nulls, its columns in their order',
      '{{ nulls|toon_encode }}',
      '[2]{job,branch,error}:\n  web,null,null\n  null,main,null',
    ],
    ['null in an object of a list as the empty text', '[{{ nulls[0].branch }}{{ "set" if nulls[0].branch is defined }}]', '[]'],
    ['a large whole number without ".0"', '{{ large }} {{ nulls|length }}', '9007199254740992 2'],
    [
      'the empty text for a missing value with each filter',
      '[{{ nothing|toon_encode }}{{ nothing|format_time }}{{ nothing|severity_prefix }}]',
      '[]',
    ],
    ['a time in the time zone of the context', '{{ at|format_time }} {{ 0|format_time }}', '11:20:30 01:00:00'],
    ['a text that is not a time, unchanged', '{{ "soon"|format_time }}', 'soon'],
    [
      'a prefix for each severity from warning on',
      '{{ event|severity_prefix }} {{ "critical"|severity_prefix }} {{ "warning"|severity_prefix }}',
      '!error: !critical: !warning:',
    ],
    ['no prefix for the severity info', '[{{ "info"|severity_prefix }}]', '[]'],
    ['a cut text', '{{ "one two three"|truncate(9, leeway=0) }}', 'one...'],
    ['a text that is cut within a word', '{{ "one two three"|truncate(9, true, "…", 0) }}', 'one two …'],
    ['a whole text within the leeway', '{{ "one two three"|truncate(9) }}', 'one two three'],
    ['whole characters in a cut text', '{{ "😀😀😀😀"|truncate(2, true, "", 0) }}', '😀😀'],
  ])('shows %s', async (_what, text, expected) => {
    expect(await engine.render(named(text), CONTEXT)).toEqual({ kind: 'text', text: expected });
  });

  test('is never escaped, with any name', async () => {
    for (const name of ['x.html', 'x.json', 'x.xml'])
      expect(await engine.render(named('{{ "<" }}', name), {})).toEqual({ kind: 'text', text: '<' });
  });

  test('shows times in UTC if the time zone is missing or unknown', async () => {
    const at = named('{{ at|format_time }}');
    expect(await engine.render(at, { at: CONTEXT.at })).toEqual({ kind: 'text', text: '10:20:30' });
    expect(await engine.render(at, { at: CONTEXT.at, time_zone: 'Mars/Base' })).toEqual({ kind: 'text', text: '10:20:30' });
  });

  test.each([
    ['x\n\n{{ rows|toon_encod }}', 'line 3: unknown filter toon_encod; did you mean toon_encode?'],
    ['{{ rang(3) }}', 'line 1: unknown function rang; did you mean range?'],
    ['{{ 1 is evn }}', 'line 1: unknown test evn; did you mean even?'],
    ['\n{% if a %}', 'line 2: syntax error: unexpected end of input, expected end of block'],
    ['a\n  {{ event.nothing.more }}', 'line 2: reads a field of a value that does not exist: {{ event.nothing.more }}'],
    ['{{ "x" * 20000 }}', 'result has more than 16,384 characters'],
    ['{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}', 'takes more than 1,000,000 steps'],
    [
      '{% set n = namespace(s="a") %}{% for i in range(50) %}{% set n.s = n.s ~ n.s %}{% endfor %}',
      'needs more than 64 MB of memory',
    ],
    ['x'.repeat(65_537), 'has more than 65,536 characters'],
  ])('is a failure with its reason for the template %.60s', async (text, reason) => {
    expect(await engine.render(named(text), CONTEXT)).toEqual({ kind: 'failed', reason });
  });

  verifies('bus:toon-filter', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a,b', 'a\nb', 'a "b"', '- x', '', ' ', 'null', '1', 'a\tb|c\\'),
    );
    const rows = fc.array(fc.record({ tool: text, message: text, count: fc.integer() }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(rows, async (list) => {
        const made = await engine.render(named('{{ rows|toon_encode }}'), { rows: list });
        if (made.kind === 'failed') throw new Error(made.reason);
        expect(decode(made.text)).toEqual(list);
      }),
      { numRuns: 200 },
    );
  });
});

describe('conditions', () => {
  const engine = templateEngine(PATIENT);
  afterAll(() => engine.close());

  test.each([
    ['event.payload.count > 2 and event.severity in ["error", "critical"]', true],
    ['event.payload.count > 3', false],
    ['event.payload.missing is none', true],
    ['event.payload.nothing', false],
    ['rows', true],
    ['[]', false],
    ['{}', false],
    ['{"a": {"b": 1}}["a"]["b"]', true],
    ['""', false],
    ['event.payload.tool_name.startswith("gr")', true],
  ])('%s is %s', async (expression, value) => {
    expect(await engine.evaluate(expression, CONTEXT)).toEqual({ kind: 'value', value });
  });

  test.each([
    ['event.payload.count >', 'syntax error: unexpected end of input, expected expression'],
    ['event.nothing.more', 'reads a field of a value that does not exist: event.nothing.more'],
    ['"a" * 1000000000', 'needs more than 64 MB of memory'],
    ['true }}{% for', 'syntax error: unexpected "}}" or "%}"'],
    ['"a" * 4000000000', 'needs more than 64 MB of memory'],
  ])('%s fails with the reason', async (expression, reason) => {
    expect(await engine.evaluate(expression, CONTEXT)).toEqual({ kind: 'failed', reason });
  });
});

describe('a check finds problems without running the template', () => {
  const engine = templateEngine();
  afterAll(() => engine.close());

  test.each([
    ['fine {{ event.payload.x|upper }}{% if a is not defined %}{% endif %}', undefined],
    ['{% for i in range(100000000) %}{% endfor %}', undefined],
    ['{# {{ x|nope }} #}{% raw %}{{ x|nope }}{% endraw %}{{ "|nope is nope" }}', undefined],
    ['{% if %}', { line: 1, message: 'syntax error: unexpected end of block' }],
    ['\n{{ a\n |  uper }}', { line: 3, message: 'unknown filter uper; did you mean upper?' }],
    ['{% filter uper %}x{% endfilter %}', { line: 1, message: 'unknown filter uper; did you mean upper?' }],
    ['{{ "}}" ~ a is defned }}', { line: 1, message: 'unknown test defned; did you mean defined?' }],
  ])('reports the problem, if any, of the template %s', async (text, expected) => {
    expect(await engine.check(named(text))).toEqual(expected);
  });

  test.each([
    ['payload.percent > 80', undefined],
    ['payload.percent >', { line: 1, message: 'syntax error: unexpected end of input, expected expression' }],
    ['payload.percent|nope', { line: 1, message: 'unknown filter nope' }],
  ])('reports the problem, if any, of the expression %s', async (expression, expected) => {
    expect(await engine.checkExpression(expression)).toEqual(expected);
  });
});

describe('attacks', () => {
  proves('bus:templates-safe');
  const troubles: string[] = [];
  const engine = templateEngine({ onTrouble: (reason) => troubles.push(reason) });
  afterAll(() => engine.close());

  /** The time in addition to the deadline, for this thread's own work and for the start of a new worker. */
  const SLACK_MS = 500;
  const usedMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };

  type Run = () => Promise<{ readonly kind: string; readonly reason?: string }>;

  /**
   * Repeats an attack up to five times until it stays within the limits, because a busy machine may slow it down. Returns the
   * reason of the failure.
   */
  async function attack(run: Run): Promise<string | undefined> {
    for (let left = 5; ; left--) {
      const { outcome, ms, blockedMs } = await attackOnce(run);
      expect(outcome.kind).toBe('failed');
      if (left > 0 && (ms >= 250 + SLACK_MS || blockedMs >= 20)) continue;
      expect(ms).toBeLessThan(250 + SLACK_MS);
      expect(blockedMs).toBeLessThan(20);
      return outcome.reason;
    }
  }

  async function attackOnce(run: Run) {
    expect(await engine.render(named('warm'), {})).toEqual({ kind: 'text', text: 'warm' });
    let outcome: Awaited<ReturnType<Run>> = { kind: 'none' };
    let ms = Number.POSITIVE_INFINITY;
    const blockedMs = await longestTurn(async () => {
      // The time is processor time, because the clock would also count the load of the machine.
      const from = usedMs();
      outcome = await run();
      ms = usedMs() - from;
      // `longestTurn` also measures the work that the attack causes later in this thread.
      expect(await engine.render(named('next {{ n }}'), { n: 1 })).toEqual({ kind: 'text', text: 'next 1' });
    });
    return { outcome, ms, blockedMs };
  }

  const endless = '{% set s = "a" * 1000000 %}{% for i in range(10000) %}{% set t = s|replace("a", "b") %}{% endfor %}';
  const slow = 'took longer than 250 ms';
  const steps = 'takes more than 1,000,000 steps';
  const memory = 'needs more than 64 MB of memory';
  const deep = 'is nested too deeply';

  test.each([
    ['a loop of 10^8 rounds', '{% for i in range(100000000) %}{% endfor %}', /range has too many elements/u],
    ['loops in loops', '{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}', steps],
    ['a slow loop of few steps', endless, slow],
    ['a list built over and over', '{% for i in range(10000) %}{% set x = range(10000)|list %}{% endfor %}', slow],
    ['10^9 characters', '{{ "a" * 1000000000 }}', memory],
    ['doubling by ~', '{% set n = namespace(s="a") %}{% for i in range(50) %}{% set n.s = n.s ~ n.s %}{% endfor %}', memory],
    ['doubling by +', '{% set n = namespace(s="a") %}{% for i in range(50) %}{% set n.s = n.s + n.s %}{% endfor %}', memory],
    [
      'doubling lists',
      '{% set n = namespace(s=[1]) %}{% for i in range(50) %}{% set n.s = n.s + n.s %}{% endfor %}{{ n.s|sum }}',
      memory,
    ],
    ['10^9 columns', '{{ [1]|batch(1000000000, 0) }}', memory],
    ['output that grows', '{% for i in range(10000) %}{{ "a" * 100000 }}{% endfor %}', memory],
    [
      'output over the limit',
      '{% for i in range(2000) %}{{ "a" * 10 }}{% endfor %}',
      /^result has more than 16,384 characters$/u,
    ],
    ['a macro that calls itself', '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}', /recursion limit exceeded/u],
    ['a template that includes itself', '{% include "template" %}', /could not render include|recursion limit/u],
    ['a template that extends itself', '{% extends "template" %}', /cycle in template inheritance/u],
    ['parentheses', `{{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`, /maximum recursion limits/u],
    ['negations', `{{ ${'not '.repeat(15_000)}1 }}`, deep],
    ['a chain of filters', `{{ 1${'|int'.repeat(15_000)} }}`, deep],
  ])('%s: the render fails in time, with its reason', async (_what, text, reason) => {
    const seen = await attack(() => engine.render(named(text), CONTEXT));
    // On a busy machine, the deadline may pass before the template reaches its other limit.
    if (seen !== slow) expect(seen).toEqual(typeof reason === 'string' ? reason : expect.stringMatching(reason));
  });

  test('a condition has the same limits as a template', async () => {
    expect(await attack(() => engine.evaluate('("a" * 20000000)|upper|lower|upper|lower|replace("a", "bb")|length', {}))).toMatch(
      /^took longer than 250 ms$|^needs more than 64 MB of memory$/u,
    );
  });

  const nested = (depth: number): Json => {
    let value: Json = 1;
    for (let at = 0; at < depth; at++) value = [value];
    return value;
  };
  test.each<[string, Json, string]>([
    ['of one text', { text: 'a'.repeat(200_000_000) }, 'context is larger than 524,288 characters'],
    [
      'of many values',
      { list: Array.from({ length: 1_000_000 }, (_, at) => ({ at })) },
      'context is larger than 524,288 characters',
    ],
    ['that is deep', nested(100_000), 'context is nested deeper than 200 levels'],
  ])('a huge context %s is refused', async (_what, context, reason) => {
    expect(await attack(() => engine.render(named('{{ text|length }}'), context))).toBe(reason);
  });

  test('the largest allowed context does not block the thread', async () => {
    const list = Array.from({ length: 17_000 }, (_, at) => ({ a: at }));
    await engine.render(named('warm'), {});
    const blockedMs = await longestTurn(() => engine.render(named('{{ list|length }}'), { list }));
    expect(blockedMs).toBeLessThan(20);
  });

  test('the measured time shows a render that blocks this thread', async () => {
    const here = sandbox({ fuel: 20_000_000, maxChars: 16_384, memoryMb: 64 });
    const text = '{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}';
    const blockedMs = await longestTurn(async () => here.answer({ kind: 'render', text, context: '{}' }));
    expect(blockedMs).toBeGreaterThan(20);
  });

  test.each([
    '{{ toon_encode.constructor("return process.version")() }}',
    '{{ event.constructor.constructor("return process.version")() }}',
    '{{ event.__proto__.polluted }}{{ event["__proto__"]["constructor"] }}',
    '{{ ("x"|attr("constructor"))("return process.version") }}',
    '{{ rows.constructor }}{{ rows.map.constructor }}',
    '{{ "".__class__.__mro__[1].__subclasses__() }}',
    '{{ cycler.__init__.__globals__.os.popen("id").read() }}',
    '{{ namespace.__init__.__globals__ }}',
    '{{ self._TemplateReference__context }}',
    '{{ globalThis.process.version }}{{ process.version }}{{ require("fs") }}',
    '{% include "/etc/passwd" %}',
    '{% import "node:fs" as fs %}{{ fs.readFileSync("/etc/passwd") }}',
    '{% set event.__proto__ = {"polluted": 1} %}{{ polluted }}',
  ])('a template cannot run code: %s', async (text) => {
    const made = await engine.render(named(text), CONTEXT);
    // The template cannot access anything outside of its context: it fails, or its result is empty.
    expect(made.kind === 'failed' || made.text === '', JSON.stringify(made)).toBe(true);
    expect(await engine.render(named('{{ polluted }}{{ event.polluted }}ok'), CONTEXT)).toEqual({ kind: 'text', text: 'ok' });
  });

  test('a context cannot change the prototype of objects', async () => {
    const context = JSON.parse('{"event": {"__proto__": {"polluted": 1}, "constructor": 2}}') as Json;
    const made = await engine.render(named('{{ event.constructor }}{{ event|toon_encode }}'), context);
    expect(made.kind).toBe('text');
    expect(await engine.render(named('{{ polluted }}{{ {}.polluted }}ok'), {})).toEqual({ kind: 'text', text: 'ok' });
  });

  test('a listener gets the reason why a worker was lost', () => {
    expect(troubles).toContain('template test.toon.j2 took longer than 250 ms');
    expect(troubles).toContain('template test.toon.j2 needs more than 64 MB of memory');
    expect(troubles.filter((trouble) => trouble.includes('steps'))).toEqual([]);
  });
});

describe('the life of an engine', () => {
  const slow = named('{% set s = "a" * 1000000 %}{% for i in range(10000) %}{% set t = s|replace("a", "b") %}{% endfor %}');
  const hello = named('hello');

  /** Returns the number of workers that an engine leaves running after `close`. */
  async function leftBy(run: (engine: TemplateEngine) => Promise<void>): Promise<number> {
    const before = new Set(alive);
    const engine = templateEngine();
    await run(engine);
    await engine.close();
    return [...alive].filter((worker) => !before.has(worker)).length;
  }

  test('there is no worker before the first question, one worker for all questions, and no worker after the close', async () => {
    const before = alive.size;
    const engine = templateEngine();
    expect(alive.size).toBe(before);
    await Promise.all([engine.render(hello, {}), engine.render(hello, {}), engine.evaluate('1', {})]);
    await engine.render(hello, {});
    expect(alive.size).toBe(before + 1);
    await engine.close();
    expect(alive.size).toBe(before);
    expect(await engine.render(hello, {})).toEqual({ kind: 'failed', reason: 'the template engine is closed' });
  });

  test('a lost worker has ended before the next worker starts', async () => {
    const before = alive.size;
    let most = 0;
    const count = (): void => void (most = Math.max(most, alive.size));
    subscribe('worker_threads', count);
    const left = await leftBy(async (engine) => {
      for (let at = 0; at < 3; at++) {
        await engine.render(named('{{ "a" * 1000000000 }}'), {});
        await engine.render(hello, {});
      }
    });
    unsubscribe('worker_threads', count);
    expect(left).toBe(0);
    expect(most).toBe(before + 1);
  });

  test('an engine can be closed twice, at the same time, early, during the start and during a question', async () => {
    expect(await leftBy(async () => {})).toBe(0);
    expect(await leftBy(async (engine) => void (await Promise.all([engine.close(), engine.close()])))).toBe(0);
    const closed = { kind: 'failed', reason: 'the template engine is closed' };
    const starting = await leftBy(async (engine) => {
      const asked = [engine.render(hello, {}), engine.render(hello, {})];
      await Promise.all([engine.close(), engine.close()]);
      expect(await Promise.all(asked)).toEqual([closed, closed]);
    });
    expect(starting).toBe(0);
    const busy = await leftBy(async (engine) => {
      await engine.render(hello, {});
      const asked = [engine.render(slow, {}), engine.render(hello, {})];
      await turn();
      await engine.close();
      expect(await Promise.all(asked)).toEqual([closed, closed]);
    });
    expect(busy).toBe(0);
  });

  test('questions are answered in their order, also after a question that fails', async () => {
    await using engine = templateEngine();
    const order: number[] = [];
    const made = await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        const one = await engine.render(at === 7 ? slow : named('n {{ n }}'), { n: at });
        order.push(at);
        return one.kind === 'text' ? one.text : one.reason;
      }),
    );
    expect(order).toEqual(order.toSorted((a, b) => a - b));
    expect(made.filter((text) => text.startsWith('n '))).toHaveLength(19);
    expect(made[7]).toBe('took longer than 250 ms');
  });

  test('an answer that arrived while this thread was busy does not count as late', async () => {
    await using engine = templateEngine({ deadlineMs: 50 });
    await engine.render(hello, {});
    const asked = engine.render(hello, {});
    await turn();
    const until = performance.now() + 200;
    while (performance.now() < until);
    expect(await asked).toEqual({ kind: 'text', text: 'hello' });
  });

  test('an engine renders hundreds of templates correctly, although few compiled templates are kept', async () => {
    await using engine = templateEngine();
    for (let at = 0; at < 300; at++)
      expect(await engine.render(named(`{{ n }} of ${at}`), { n: 1 })).toEqual({ kind: 'text', text: `1 of ${at}` });
    expect(await engine.render(named('{{ n }} of 0'), { n: 2 })).toEqual({ kind: 'text', text: '2 of 0' });
  });

  test('if the worker cannot start, each render fails with the reason', async () => {
    const troubles: string[] = [];
    const onTrouble = (reason: string): void => {
      troubles.push(reason);
      throw new Error('a listener that fails');
    };
    await using small = templateEngine({ memoryMb: 0.1, onTrouble });
    const made = await small.render(hello, {});
    expect(made).toMatchObject({ kind: 'failed', reason: expect.stringMatching(/^lost its worker: /u) });
    await using hasty = templateEngine({ startMs: 0, onTrouble });
    expect(await hasty.render(hello, {})).toEqual({
      kind: 'failed',
      reason: 'lost its worker: the worker thread did not start within 0 ms',
    });
    expect(troubles).toEqual([
      expect.stringMatching(/^template test\.toon\.j2 lost its worker: /u),
      'template test.toon.j2 lost its worker: the worker thread did not start within 0 ms',
    ]);
  });

  test('a question that cannot be sent fails with the reason', async () => {
    await using engine = templateEngine();
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    const asked = await engine.render(hello, circle as Json);
    expect(asked).toEqual({ kind: 'failed', reason: 'context is nested deeper than 200 levels' });
    expect(await engine.render(hello, { big: 1n } as unknown as Json)).toMatchObject({ kind: 'failed' });
  });

  test('a process stays alive for its renders, and ends by itself when the worker is idle', () => {
    const url = new URL('engine.ts', import.meta.url).href;
    const script = `
      const { templateEngine } = await import(${JSON.stringify(url)});
      const made = await templateEngine().render({ name: 'x', text: 'hello {{ n }}' }, { n: 1 });
      process.stdout.write(made.text);
    `;
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'hello 1', stderr: '' });
  });
});
