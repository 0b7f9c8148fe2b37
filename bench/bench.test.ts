import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cpuUs, systemCalls } from './costs.ts';
import { median, percentile, versus } from './rounds.ts';
import { missed } from './row.ts';
import { page, PAGE, read } from './scale/page.ts';
import { verdictOf, type Stretch } from './steady/verdict.ts';
import { isMissed, table, type Line } from './table.ts';

describe('percentiles', () => {
  it.each([
    { values: [], percent: 50, expected: Number.NaN },
    { values: [7], percent: 99, expected: 7 },
    { values: [10, 9, 1], percent: 50, expected: 9 },
    { values: Array.from({ length: 1000 }, (_, i) => i + 1), percent: 99.9, expected: 999 },
    { values: [2, 100, 30], percent: 100, expected: 100 },
  ])('the value at $percent of $values.length values is correct', ({ values, percent, expected }) => {
    expect(percentile(values, percent)).toBe(expected);
  });
});

describe('two sides', () => {
  it('run by turns, in the opposite order in each second round, and the first round is not counted', async () => {
    const order: string[] = [];
    const side = (name: string, figures: readonly number[]) => (round: number) => {
      order.push(`${name}${round}`);
      return figures[round] ?? 1000;
    };
    const measured = await versus({
      ours: side('ours', [10, 20, 90]),
      theirs: side('theirs', [10, 5, 30]),
      unit: 'ms',
      rounds: 3,
    });
    expect(order).toEqual(['theirs-1', 'ours-1', 'ours0', 'theirs0', 'theirs1', 'ours1', 'ours2', 'theirs2']);
    // The ratio compares neighbouring rounds, so it is the median of 1, 4 and 3. The ratio of the medians 20 and 10 would be 2.
    expect(measured.figures['ratio']?.value).toBe(3);
    expect(measured.ours?.value).toBe(median([10, 20, 90]));
  });
});

describe('a further side', () => {
  it('is measured in the same rounds, and reported next to the ratio', async () => {
    const { figures } = await versus({
      ours: () => 10,
      theirs: () => 20,
      beside: { 'one row': () => 40 },
      unit: 'ms',
      rounds: 3,
    });
    expect(figures['ratio']?.value).toBe(0.5);
    expect(figures['one row']).toEqual({ value: 40, unit: 'ms' });
    expect(figures['against one row']?.value).toBe(0.25);
  });
});

describe('the cost of an operation', () => {
  /** Uses the processor for this time, and returns how often per second the work could run at the speed of this run. */
  const busy = (ms: number): number => {
    const began = performance.now();
    const used = (): number => process.threadCpuUsage().user + process.threadCpuUsage().system;
    for (const until = used() + ms * 1_000; used() < until;);
    return 1_000 / (performance.now() - began);
  };

  it('is reported for each side in microseconds of processor time', async () => {
    const { figures } = await versus({ ours: () => busy(20), theirs: () => busy(10), unit: '/s', rounds: 3 });
    const [ours = 0, theirs = 0] = ['CPU, ours', 'CPU, theirs'].map((name) => figures[name]?.value);
    // Other programs slow this process down, but do not add to its processor time.
    expect(ours).toBeLessThan(25_000);
    expect(theirs).toBeLessThan(ours);
  });

  it('is reported in system calls if they can be counted, also for another process', async () => {
    const child = spawn(process.execPath, [
      '-e',
      'process.stdin.on("data", () => { for (let i = 0; i < 500; i++) process.getuid(); process.stdout.write("."); })',
    ]);
    const ask = async (): Promise<void> => {
      child.stdin.write('go');
      await once(child.stdout, 'data');
    };
    try {
      await ask();
      for (const [pid, work] of [
        [child.pid, ask],
        [process.pid, async () => void Array.from({ length: 500 }, () => process.getuid?.())],
      ] as const) {
        let calls = await systemCalls([pid ?? 0], work);
        if (calls === undefined) continue;
        // On a busy machine, the counting may begin late.
        for (let again = 0; again < 10 && calls < 500; again++) calls = (await systemCalls([pid ?? 0], work)) ?? 0;
        expect(calls).toBeGreaterThanOrEqual(500);
        expect(calls).toBeLessThan(1_500);
      }
      expect(cpuUs([child.pid ?? 0])).toBeGreaterThan(0);
    } finally {
      child.kill();
    }
  });
});

describe('steady work', () => {
  const at = (more: Partial<Stretch>): Stretch => ({ rss: 100e6, heap: 20e6, p50: 0.5, p99: 2, ...more });

  it('is flat if the last third equals the first third; the very first period is not counted', () => {
    expect(verdictOf([at({ rss: 50e6, p99: 90 }), ...Array.from({ length: 9 }, () => at({}))]).kind).toBe('flat');
  });

  it.each(['rss', 'heap', 'p50', 'p99'] as const)('is not flat if %s grows', (name) => {
    const grown = verdictOf(Array.from({ length: 10 }, (_, n) => at({ [name]: at({})[name] * (1 + n / 5) })));
    expect(grown.kind).toBe('grown');
    expect(grown.lines.filter((line) => line.includes('GROWN'))).toEqual([expect.stringContaining(`${name}: `)]);
  });

  it('has no verdict if it was too short', () => {
    expect(verdictOf([at({}), at({}), at({ rss: 900e6 })]).kind).toBe('too short');
  });
});

describe('the bar', () => {
  it('is missed by a figure that is too low, too high, not equal, or not measured', () => {
    const figures = {
      ratio: { value: 0.59, unit: '' },
      p99: { value: 51, unit: 'ms' },
      lost: { value: 1, unit: 'records' },
    } as const;
    const bar = [
      { figure: 'ratio', is: '>=', value: 0.6 },
      { figure: 'p99', is: '<=', value: 50 },
      { figure: 'lost', is: '=', value: 0 },
      { figure: 'max', is: '<=', value: 1 },
    ] as const;
    expect(missed(bar, figures)).toEqual(bar);
    expect(missed([{ figure: 'ratio', is: '>=', value: 0.59 }], figures)).toEqual([]);
  });

  it('is shown in the table, and a row that failed counts as missed', () => {
    const row = { name: 'queue', what: 'queue against insert', bar: [{ figure: 'ratio', is: '>=', value: 0.6 }] } as const;
    const good: Line = {
      row,
      outcome: {
        kind: 'measured',
        seconds: 1,
        ours: { value: 12_345, unit: '/s' },
        theirs: { value: 15.25, unit: '/s' },
        figures: {
          ratio: { value: 0.6, unit: '' },
          'CPU, ours': { value: 37.5, unit: 'us' },
          'CPU, theirs': { value: 9, unit: 'us' },
        },
      },
    };
    const bad: Line = { row: { ...row, name: 'lost' }, outcome: { kind: 'failed', why: 'its process ended' } };
    expect([good, bad].map(isMissed)).toEqual([false, true]);
    expect(table([good, bad])).toBe(
      [
        '| row   | ours     | theirs | ratio | CPU us      | system calls | bar      |        |',
        '|-------|----------|--------|-------|-------------|--------------|----------|--------|',
        '| queue | 12,345/s | 15.3/s | 0.60  | 37.5 / 9.00 |              | >= 0.6 x | ok     |',
        '| lost  |          |        |       |             |              | >= 0.6 x | FAILED |',
      ].join('\n'),
    );
  });
});

it('a curve of subscribers does not begin below the nine subscribers that each measurement has', () => {
  const script = path.join(import.meta.dirname, 'scale.ts');
  const { status, stderr } = spawnSync(process.execPath, [script, '--engine', '', '--subscribers', '9,8'], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringMatching(
      /^--subscribers 8: must be whole numbers from 9 on, because each measurement has the 9 subscribers of the first design\nusage: /u,
    ) as string,
  });
});

describe('docs/scale.md', () => {
  it('shows the measured figures; to update it, run node bench/scale/page.ts', () => {
    const text = fs.readFileSync(PAGE, 'utf8');
    expect(text).toBe(page(text, read()));
    expect(text).toContain('xychart-beta');
  });

  it('a block for a curve that was not measured is an error', () => {
    expect(() => page('<!-- scale: moons -->\n<!-- /scale -->', read())).toThrow('"moons", which was not measured');
  });
});
