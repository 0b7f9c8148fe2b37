import { expect, test } from 'vitest';
import { Background, lineOf, startAndStop, troubleTeller } from './source.ts';

/** Makes modes whose transitions end on request. */
function stepped(): { readonly done: string[]; readonly release: () => void } & ReturnType<typeof startAndStop> {
  const done: string[] = [];
  let waiting: (() => void)[] = [];
  const until = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      signal?.addEventListener('abort', () => resolve());
    });
  const modes = startAndStop({
    enter: async (signal) => {
      done.push('enter');
      await until(signal);
      done.push(signal.aborted ? 'entered, unwanted' : 'entered');
    },
    leave: async () => {
      done.push('leave');
      await until();
      done.push('left');
    },
    failed: (error) => done.push(lineOf(error)),
  });
  const release = (): void => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { done, release, ...modes };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a second start or stop has no effect', async () => {
  const { start, stop, done, release } = stepped();
  const starts = [start(), start()];
  await tick();
  release();
  await Promise.all(starts);
  await start();
  expect(done).toEqual(['enter', 'entered']);
  const stops = [stop(), stop()];
  await tick();
  release();
  await Promise.all(stops);
  await stop();
  expect(done).toEqual(['enter', 'entered', 'leave', 'left']);
});

test('a stop before the start has no effect, a stop during the start ends it early, and the last call counts', async () => {
  const { start, stop, done, release } = stepped();
  await stop();
  await Promise.all([start(), stop()]);
  expect(done).toEqual([]);
  const started = start();
  await tick();
  const stopped = stop();
  const again = start();
  // An aborted start does not count, so the start begins again.
  for (let i = 0; i < 3; i++) await tick().then(release);
  await Promise.all([started, stopped, again]);
  expect(done).toEqual(['enter', 'entered, unwanted', 'leave', 'left', 'enter', 'entered']);
});

test('an error of a transition is reported, and the next transition works', async () => {
  const lines: string[] = [];
  let broken = true;
  const { start, stop } = startAndStop({
    enter: async () => {
      if (broken) throw new Error('no room\n  at x');
    },
    leave: async () => void lines.push('left'),
    failed: (error) => lines.push(lineOf(error)),
  });
  await start();
  broken = false;
  await stop();
  await start();
  await stop();
  expect(lines).toEqual(['no room', 'left', 'left']);
});

test('idle waits for running work, and for work that this work starts; failures are reported', async () => {
  const failures: string[] = [];
  const background = new Background((error) => failures.push(lineOf(error)));
  const ended: string[] = [];
  background.run(async () => {
    await tick();
    background.run(async () => {
      await tick();
      ended.push('inner');
    });
    ended.push('outer');
  });
  background.run(() => {
    throw new Error('at once');
  });
  expect(background.size).toBe(2);
  await background.idle();
  expect([ended, failures, background.size]).toEqual([['outer', 'inner'], ['at once'], 0]);
});

test('the same problem is reported once a minute, even if the receiver throws', () => {
  const lines: string[] = [];
  let now = 0;
  const tell = troubleTeller(
    (line) => {
      lines.push(line);
      throw new Error('no');
    },
    () => now,
  );
  for (now of [0, 1, 59_999]) tell('a');
  tell('b');
  now = 60_000;
  tell('a');
  expect(lines).toEqual(['a', 'b', 'a']);
  for (const ms of [0, 3, 12]) tell(`no connection to port 9 after ${ms} ms`);
  tell('no connection to port 8 after 0 ms');
  expect(lines.slice(3)).toEqual(['no connection to port 9 after 0 ms', 'no connection to port 8 after 0 ms']);
});
