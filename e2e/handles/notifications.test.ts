/** Tests the notifications that a conversation gets about its handles. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import type { Subscriber } from '../../src/bus/index.ts';
import { proves } from '../verifies.ts';
import { puppet, stage, type Stage } from './stage.ts';

const STOPPED = 'tool.stopped info Background work "job" has stopped: done';

/** Appends a result record that carries the due notifications. */
const carry = async (set: Stage, id: string, knows: readonly string[] = []): Promise<string> => {
  const known = Object.fromEntries(knows.map((about) => [about, set.inbox.store.now()]));
  return (
    await set.conversation.carry(
      { type: 'tool_call_response', id, content: 'result', is_error: false },
      { at: 'tool_batch_end', known },
    )
  ).text;
};

async function spawned(definition: Parameters<typeof puppet>[0] = {}, options: Parameters<typeof stage>[1] = {}) {
  const work = puppet(definition);
  const set = stage([work], options);
  await set.call('work', { action: 'spawn', id: 'job' });
  const run = work.runs.get('job');
  if (run === undefined) throw new Error('job does not run');
  return { ...set, set, work, run };
}

describe('the notifications of a conversation', () => {
  it('a stopped handle is reported, with the data that can close the notification as known', async () => {
    const { run, until, items, set } = await spawned();
    run.finish('all\ndone\n');
    const { uid } = await until('job', ({ state }) => state === 'stopped');
    expect((await items())[0]?.notification).toMatchObject({
      id: `${uid}.stopped`,
      kind: { source: 'tool', name: 'stopped' },
      level: 'info',
      message: 'Background work "job" has stopped: done',
      about: 'handle:job',
      key: `handle:${uid}`,
      supersede: true,
      origin: { tool: 'work' },
      data: { handle: 'job', tool: 'work' },
    });
    expect(await carry(set, 'c1')).toContain('Background work "job" has stopped: done');
    expect(await carry(set, 'c2')).toBe('result');
  });

  it('a failed handle is reported', async () => {
    const { run, until, open } = await spawned();
    run.fail(new Error('no more ink'));
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual(['tool.failed error Background work "job" failed: no more ink']);
  });

  it('a finished or failed agent is reported once', async () => {
    proves('sources:sub-agents');
    const done = await spawned({ isAgent: true });
    done.run.finish('I looked.\nAll 12 links work.');
    await done.until('job', ({ state }) => state === 'stopped');
    expect((await done.items())[0]?.notification).toMatchObject({
      kind: { source: 'subagent', name: 'complete' },
      message: 'Sub-agent "job" is done: I looked.\nAll 12 links work.',
      about: 'handle:job',
      supersede: true,
      origin: { tool: 'work' },
      data: { task_id: 'job', result_summary: 'I looked.\nAll 12 links work.' },
    });
    const failed = await spawned({ isAgent: true });
    failed.run.fail(new Error('it ran out of tokens'));
    await failed.until('job', ({ state }) => state === 'stopped');
    expect(await failed.open()).toEqual(['subagent.failed error Sub-agent "job" has failed: it ran out of tokens']);
    const ended = await spawned({ isAgent: true });
    await ended.call('work', { action: 'abort', id: 'job' });
    expect(await ended.open(), 'the agent that ends a handle knows its end').toEqual([]);
  });

  it('a waiting handle is reported until it is answered', async () => {
    const { run, open, call, until } = await spawned();
    void run.side.ask('Which ink?');
    await until('job', ({ state }) => state === 'waiting');
    expect(await open()).toEqual(['tool.waiting warning Background work "job" is waiting for input: Which ink?']);
    await call('work', { action: 'apply', id: 'job', input: 'blue' });
    expect(await open()).toEqual([]);
  });

  it('only the newest state is reported', async () => {
    const { run, open, until, set } = await spawned();
    run.side.waiting('Which ink?');
    await open();
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toHaveLength(2);
    const text = await carry(set, 'c1');
    expect(text).toContain('has stopped');
    expect(text).not.toContain('Which ink');
    expect(await open()).toEqual([]);
  });

  it('a handle that repeatedly seems to wait and then continues by itself is reported once', async () => {
    const { run, open, call } = await spawned();
    for (let i = 0; i < 5; i++) {
      run.side.waiting('password:');
      await open();
      run.side.resumed();
    }
    run.side.waiting('password:');
    expect(await open()).toEqual([]);
    // The model has fetched the state, so the next wait for input is news.
    run.side.resumed();
    await call('work', { action: 'fetch', id: 'job' });
    run.side.waiting('password:');
    expect(await open()).toHaveLength(1);
  });

  it('a question that the tool asks is reported, even if the handle seemed to wait before and continued by itself', async () => {
    const { run, open, call } = await spawned();
    run.side.waiting('password:');
    expect(await open()).toHaveLength(1);
    run.side.resumed();
    expect(await open()).toEqual([]);
    const answer = run.side.ask('Which ink?');
    expect(await open()).toEqual(['tool.waiting warning Background work "job" is waiting for input: Which ink?']);
    await call('work', { action: 'apply', id: 'job', input: 'blue' });
    expect(await answer).toBe('blue');
  });

  it('new output is reported only on request, and once until the next fetch', async () => {
    const quiet = await spawned();
    quiet.run.side.show('line 1');
    expect(await quiet.open()).toEqual([]);
    const { run, open, call } = await spawned({ notifyContent: true });
    run.side.show('line 1');
    run.side.show('line 2');
    expect(await open()).toEqual(['tool.content info Background work "job" has new output: line 1']);
    await call('work', { action: 'fetch', id: 'job' });
    expect(await open()).toEqual([]);
    run.side.show('line 3');
    expect(await open()).toEqual(['tool.content info Background work "job" has new output: line 3']);
  });

  it('without an inbox nothing is reported', async () => {
    const { run, until, open } = await spawned({}, { noInbox: true });
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual([]);
  });
});

describe('the content of an answer is not reported again', () => {
  it('a handle that is awaited gives no notification when it stops', async () => {
    const { run, open, ask } = await spawned();
    const awaited = ask('await', { all: ['job'] });
    run.finish('done');
    await awaited;
    expect(await open()).toEqual([]);
  });

  it('a handle that was awaited, fetched or aborted gives no notification of the same state', async () => {
    for (const look of [
      { name: 'await', args: { any: ['job'] } },
      { name: 'work', args: { action: 'fetch', id: 'job' } },
      { name: 'work', args: { action: 'abort', id: 'job' } },
    ]) {
      const { run, open, set, batch, call } = await spawned();
      if (look.args.action !== 'abort') run.finish('done');
      const [outcome] = await batch([look]);
      expect(outcome?.knows).toEqual(['handle:job']);
      // A notification that was queued before the fetch closes as known with the next carrier.
      expect(await carry(set, 'c1', outcome?.knows)).toBe('result');
      expect(await open()).toEqual([]);
      await call('work', { action: 'spawn', id: 'next' });
      expect(await open()).toEqual([]);
    }
  });

  it('a notification that was queued before the fetch closes as known, in the same append as the answer', async () => {
    const { run, open, call, set, inbox, until } = await spawned();
    run.finish('done');
    const { uid } = await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual([STOPPED]);
    const { knows } = await call('work', { action: 'fetch', id: 'job' });
    // The answer is not recorded yet: after a crash here, the notification would arrive.
    expect(await open()).toEqual([STOPPED]);
    await carry(set, 'c1', knows);
    expect((await inbox.why(`${uid}.stopped`))?.items.map(({ receipt }) => receipt)).toEqual(['known']);
  });

  it('if a host ignores `knows`, a notification of a fetched state is withdrawn before the next batch', async () => {
    const { run, open, call, until } = await spawned();
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual([STOPPED]);
    await call('work', { action: 'fetch', id: 'job' });
    await call('work', { action: 'spawn', id: 'next' });
    expect(await open()).toEqual([]);
  });

  it('a host can ask to withdraw a notification of a fetched state at once', async () => {
    const { run, open, call, until } = await spawned({}, { withdrawAtOnce: true });
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual([STOPPED]);
    await call('work', { action: 'fetch', id: 'job' });
    expect(await open()).toEqual([]);
  });

  it('a handle that stops after an answer that showed it running is reported', async () => {
    const { run, open, call, until, set } = await spawned();
    const { knows = [] } = await call('work', { action: 'fetch', id: 'job' });
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual([STOPPED]);
    expect(await carry(set, 'c1', knows)).toContain('has stopped');
  });

  it('a state that an interrupted await did not return is reported', async () => {
    const { run, open, call, until } = await spawned();
    const stop = new AbortController();
    await call('work', { action: 'spawn', id: 'slow' });
    const awaited = call('await', { all: ['job', 'slow'] }, { signal: stop.signal });
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    // The agent still awaits the handle, so there is no notification yet.
    expect(await open()).toEqual([]);
    stop.abort();
    await awaited;
    // No answer has reported the end, so a notification reports it.
    expect(await open()).toEqual([STOPPED]);
  });

  it('a state that an interrupted fetch did not return is reported', async () => {
    const { run, open, call, until } = await spawned();
    const steady = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    run.side.serve({
      settle: async () => {
        asked.resolve();
        await steady.promise;
      },
    });
    const stop = new AbortController();
    const fetched = call('work', { action: 'fetch', id: 'job' }, { signal: stop.signal });
    await asked.promise;
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    stop.abort();
    steady.resolve();
    await fetched;
    expect(await open()).toEqual([STOPPED]);
  });

  it('a reused name is a new handle, so the end of the first handle is still reported', async () => {
    const { run, work, open, call, set, until } = await spawned();
    run.finish('first');
    await until('job', ({ state }) => state === 'stopped');
    await call('work', { action: 'spawn', id: 'job' });
    await until('job', ({ state }) => state === 'running');
    work.runs.get('job')?.finish('second');
    const { knows } = await call('await', { all: ['job'] });
    expect(knows).toEqual(['handle:job#2']);
    expect(await open()).toEqual(['tool.stopped info Background work "job" has stopped: first']);
    expect(await carry(set, 'c1', knows)).toContain('has stopped: first');
  });
});

describe('failures', () => {
  it('if the inbox fails, handles continue, and the notification is retried', async () => {
    let broken = true;
    const work = puppet();
    const queued: string[] = [];
    const set = stage([work], {
      inbox: {
        queue: async (_, input) => {
          if (broken) throw new Error('the store is away');
          queued.push(input.message);
        },
        withdraw: async () => {},
      },
    });
    await set.call('work', { action: 'spawn', id: 'job' });
    work.runs.get('job')?.finish('done');
    await set.until('job', ({ state }) => state === 'stopped');
    await set.handles.idle();
    expect(set.troubles).toEqual([new Error('the store is away')]);
    broken = false;
    await set.call('work', { action: 'spawn', id: 'other' });
    await set.handles.idle();
    expect(queued).toEqual(['Background work "job" has stopped: done']);
  });

  it('if the log cannot be written, handles continue', async () => {
    const work = puppet();
    const set = stage([work], {
      record: async () => {
        throw new Error('the log is away');
      },
    });
    expect(await set.ask('work', { action: 'spawn', id: 'job' })).toEqual({ id: 'job', state: 'running' });
    await set.handles.idle();
    expect(set.troubles).toEqual([new Error('the log is away')]);
  });

  it('if the ledger cannot be written, handles start, stop and close, and the trouble is reported once', async () => {
    const work = puppet();
    const set = stage([work]);
    await set.call('work', { action: 'spawn', id: 'first' });
    // A folder in the place of the next version of the file makes every write fail.
    mkdirSync(join(set.folder, 'handles.json.next'));
    work.runs.get('first')?.finish('done');
    await set.until('first', ({ state }) => state === 'stopped');
    expect(await set.open()).toEqual(['tool.stopped info Background work "first" has stopped: done']);

    expect(await set.ask('work', { action: 'spawn', id: 'second' })).toEqual({ id: 'second', state: 'running' });
    expect(await set.ask('work', { action: 'spawn', id: 'third' })).toEqual({ id: 'third', state: 'running' });
    expect(await set.ask('work', { action: 'abort', id: 'second' })).toMatchObject({ state: 'stopped' });
    await set.handles.close();
    expect(set.handles.active).toBe(0);
    expect(set.troubles).toMatchObject([
      {
        message: `the ledger of handles ${set.folder}/handles.json cannot be written (EISDIR): free disk space, or make ${set.folder} writable; until then, a crash loses notifications about handles`,
      },
    ]);
  });

  it('if the ledger can be written again, it has all handles, and the next failure is reported', async () => {
    const set = stage([puppet()]);
    const next = join(set.folder, 'handles.json.next');
    for (const round of [1, 2]) {
      mkdirSync(next);
      await set.call('work', { action: 'spawn', id: `unsaved-${round}` });
      expect(set.troubles).toHaveLength(round);
      rmSync(next, { recursive: true });
      await set.call('work', { action: 'spawn', id: `saved-${round}` });
    }
    const { handles } = JSON.parse(readFileSync(join(set.folder, 'handles.json'), 'utf8')) as { handles: { id: string }[] };
    expect(handles.map(({ id }) => id)).toEqual(['unsaved-1', 'saved-1', 'unsaved-2', 'saved-2']);
  });

  it('if the ledger could only be removed, because no handle is left, the next failure is reported too', async () => {
    const work = puppet();
    const set = stage([work], { noInbox: true });
    const next = join(set.folder, 'handles.json.next');
    for (const round of [1, 2]) {
      mkdirSync(next);
      await set.call('work', { action: 'spawn', id: `job-${round}` });
      expect(set.troubles).toHaveLength(round);
      rmSync(next, { recursive: true });
      // Without an inbox, the end of the last handle removes the file and writes no entry before.
      work.runs.get(`job-${round}`)?.finish('done');
      await set.until(`job-${round}`, ({ state }) => state === 'stopped');
    }
  });
});

describe('through a bus', () => {
  const subscriber: Subscriber = {
    id: 'background_tools',
    name: 'Background tools',
    description: '',
    version: '1.0.0',
    events: { types: ['tool.*'], severityFilter: 'info' },
    batching: { windowMs: 0, maxSize: 1, dedupeWindowMs: 0 },
    output: { priority: 'normal', injectAt: 'immediate', core: false, supersede: false },
    from: { folder: 'program', file: 'test' },
  };

  it('a notification comes from its subscriber, with the key, the id and the data that can close it as known', async () => {
    const { run, until, items, set } = await spawned({}, { subscribers: [subscriber] });
    run.finish('done');
    const { uid } = await until('job', ({ state }) => state === 'stopped');
    expect((await items()).map(({ notification }) => notification)).toMatchObject([
      {
        id: `handles/${uid}.stopped~background_tools`,
        kind: { source: 'tool', name: 'stopped' },
        message: 'Background work "job" has stopped: done',
        about: 'handle:job',
        key: `handle:${uid}`,
        supersede: true,
        subscriber: { id: 'background_tools' },
      },
    ]);
    expect(await carry(set, 'c1')).toContain('Background work "job" has stopped: done');
    expect(await carry(set, 'c2')).toBe('result');
  });

  it("input to a waiting handle withdraws its notification; a tool result with the handle's state closes the notification as known", async () => {
    const { run, open, call, ask, until, set } = await spawned({}, { subscribers: [subscriber] });
    void run.side.ask('Which ink?');
    await until('job', ({ state }) => state === 'waiting');
    expect(await open()).toEqual(['tool.waiting warning Background work "job" is waiting for input: Which ink?']);
    await call('work', { action: 'apply', id: 'job', input: 'blue' });
    expect(await open()).toEqual([]);
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual([STOPPED]);
    await ask('work', { action: 'fetch', id: 'job' });
    expect(await carry(set, 'c1', ['handle:job'])).toBe('result');
  });

  it('without a subscriber, the notification still arrives', async () => {
    const { run, open, until } = await spawned({}, { subscribers: [] });
    run.finish('done');
    await until('job', ({ state }) => state === 'stopped');
    expect(await open()).toEqual([STOPPED]);
  });
});
