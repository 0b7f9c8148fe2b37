/** Tests stateful tools as a model calls them (RFD 009), with tools that the test controls. */
import { describe, expect, it, vi } from 'vitest';

import { schemaOf, ToolFailure, type StatefulTool } from '../../src/handles/index.ts';
import { puppet, stage } from './stage.ts';

const run = (tool: ReturnType<typeof puppet>, id: string) => {
  const found = tool.runs.get(id);
  if (found === undefined) throw new Error(`${id} does not run`);
  return found;
};

describe('a stateful tool', () => {
  it('shows each state: running, waiting for input, running again, stopped', async () => {
    const work = puppet();
    const { ask } = stage([work]);
    expect(await ask('work', { action: 'spawn', id: 'job', what: 'all' })).toEqual({ id: 'job', state: 'running' });
    expect(run(work, 'job').args).toEqual({ what: 'all' });
    run(work, 'job').side.show('half of it');
    expect(await ask('work', { action: 'fetch', id: 'job' })).toEqual({ id: 'job', state: 'running', content: 'half of it' });
    const answer = run(work, 'job').side.ask('Which colour?');
    expect(await ask('work', { action: 'fetch', id: 'job' })).toEqual({
      id: 'job',
      state: 'waiting',
      content: 'half of it',
      question: 'Which colour?',
    });
    expect(await ask('work', { action: 'apply', id: 'job', input: 'red' })).toMatchObject({ state: 'running' });
    expect(await answer).toBe('red');
    run(work, 'job').finish('painted red');
    expect(await ask('work', { action: 'fetch', id: 'job' })).toEqual({ id: 'job', state: 'stopped', result: 'painted red' });
  });

  it('fails with a message, a trace and a hint whether a retry is useful', async () => {
    const work = puppet();
    const { ask } = stage([work]);
    await ask('work', { action: 'spawn', id: 'a' });
    run(work, 'a').fail(new ToolFailure('no network', { trace: ['GET /', 'dns'], transient: true }));
    expect(await ask('work', { action: 'fetch', id: 'a' })).toEqual({
      id: 'a',
      state: 'stopped',
      result: { error: { message: 'no network', trace: ['GET /', 'dns'], transient: true } },
    });
    await ask('work', { action: 'spawn', id: 'b' });
    run(work, 'b').fail(new Error('outer', { cause: new Error('inner') }));
    expect(await ask('work', { action: 'fetch', id: 'b' })).toMatchObject({
      result: { error: { message: 'outer', trace: ['inner'] } },
    });
  });

  it('answers a call without an action like any other tool', async () => {
    const work = puppet();
    const { call, until, open } = stage([work]);
    const first = call('work', { what: 'x' });
    await until('work-1', ({ state }) => state === 'running');
    run(work, 'work-1').finish('done');
    expect(await first).toEqual({ content: 'done' });
    const second = call('work', {});
    await until('work-2', ({ state }) => state === 'running');
    run(work, 'work-2').fail(new Error('broken'));
    expect(await second).toEqual({ content: 'broken', isError: true });
    expect(await open()).toEqual([]);
  });

  it('becomes a handle at its first question in a call without an action, so the model can answer', async () => {
    const work = puppet();
    const { call, ask, until } = stage([work]);
    const first = call('work', {});
    await until('work-1', ({ state }) => state === 'running');
    const answer = run(work, 'work-1').side.ask('Sure?');
    expect(JSON.parse((await first).content)).toEqual({ id: 'work-1', state: 'waiting', question: 'Sure?' });
    await ask('work', { action: 'apply', id: 'work-1', input: 'yes' });
    expect(await answer).toBe('yes');
  });

  it('ends at its first question if it accepts no answers', async () => {
    const work = puppet({ actions: ['fetch'] });
    const { call, until, handles } = stage([work]);
    const first = call('work', {});
    await until('work-1', ({ state }) => state === 'running');
    void run(work, 'work-1')
      .side.ask('Sure?')
      .catch(() => {});
    expect(await first).toEqual({ content: 'work asks a question, but takes no answers: Sure?', isError: true });
    expect(handles.active).toBe(0);
  });

  it('answers with the error if its run() throws at once', async () => {
    const eager: StatefulTool = {
      ...puppet(),
      run: () => {
        throw new Error('at once');
      },
    };
    const { ask, open } = stage([eager]);
    expect(await ask('work', { action: 'spawn', id: 'x' })).toEqual({
      id: 'x',
      state: 'stopped',
      result: { error: { message: 'at once' } },
    });
    // The answer to the spawn has already reported the end, so no notification is open.
    expect(await open()).toEqual([]);
  });

  it('an answer closes the notification of a stopped handle, but not of a running handle', async () => {
    const work = puppet();
    const { call } = stage([work]);
    expect((await call('work', { action: 'spawn', id: 'job' })).knows).toBeUndefined();
    expect((await call('work', { action: 'fetch', id: 'job' })).knows).toBeUndefined();
    run(work, 'job').finish('x');
    expect((await call('work', { action: 'fetch', id: 'job' })).knows).toEqual(['handle:job']);
    // A second spawn with the same name makes a new handle.
    await call('work', { action: 'spawn', id: 'job' });
    expect((await call('work', { action: 'abort', id: 'job' })).knows).toEqual(['handle:job#2']);
  });

  it('counts as stopped after an abort, even if its run() does not end', async () => {
    const deaf: StatefulTool = { ...puppet(), run: () => new Promise(() => {}) };
    const { ask } = stage([deaf]);
    await ask('work', { action: 'spawn', id: 'x' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const answer = ask('work', { action: 'abort', id: 'x' });
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(await answer).toMatchObject({ state: 'stopped', result: { error: { message: 'aborted' } } });
  });

  it('leaves records of its spawn, states, inquiries and end', async () => {
    const work = puppet();
    const { ask, records, handles } = stage([work]);
    await ask('work', { action: 'spawn', id: 'job' });
    void run(work, 'job').side.ask('Which?');
    await ask('work', { action: 'apply', id: 'job', input: 'that' });
    run(work, 'job').finish('x');
    await ask('work', { action: 'fetch', id: 'job' });
    await handles.idle();
    const [uid] = handles.list().map((view) => view.uid);
    expect(records).toEqual([
      { type: 'handle_spawned', uid, id: 'job', tool: 'work', call: 'call_1' },
      { type: 'handle_state', uid, id: 'job', tool: 'work', state: 'waiting', question: 'Which?' },
      {
        type: 'inquiry_request',
        id: `${uid}.1`,
        source: { source: 'tool', name: 'work' },
        question: { text: 'Which?', answer_type: { type: 'text' } },
      },
      { type: 'inquiry_response', id: `${uid}.1`, answer: 'that' },
      { type: 'handle_state', uid, id: 'job', tool: 'work', state: 'running' },
      { type: 'handle_ended', uid, id: 'job', tool: 'work', outcome: 'ok' },
    ]);
  });
});

describe('a wrong call of a model gets an error with the way out', () => {
  const table: readonly (readonly [string, Record<string, unknown>, string | RegExp])[] = [
    ['no id at spawn', { action: 'spawn' }, 'work: spawn needs an id, a name of your choice for the handle'],
    ['no id at fetch', { action: 'fetch' }, 'work: fetch needs an id, the name of the handle'],
    [
      'an id that is no name',
      { action: 'spawn', id: 'my build' },
      /^work: id must be at most 64 letters, digits and _ . : @ -, got "my build"/u,
    ],
    ['an unknown handle', { action: 'fetch', id: 'nope' }, 'no handle is called "nope"; active handles: job'],
    ['a taken id', { action: 'spawn', id: 'job' }, /^handle "job" is taken: work is running under this name; choose another/u],
    [
      'an unknown action',
      { action: 'fetsh', id: 'job' },
      'work: action must be one of spawn, fetch, apply, abort, got "fetsh"; did you mean fetch?',
    ],
    ['no input', { action: 'apply', id: 'job' }, 'work: apply needs input or keys'],
    ['input that is not taken', { action: 'apply', id: 'job', input: 'x' }, 'the handle asks no question and takes no input now'],
    ['lines and bytes', { action: 'fetch', id: 'job', from: 1, bytes: 2 }, /by lines .* or by bytes .* not by both$/u],
    ['a half line', { action: 'fetch', id: 'job', from: 1.5 }, 'work: from must be a whole number, got 1.5'],
    ['a handle of another tool', { action: 'fetch', id: 'other' }, 'handle other belongs to the tool play: call that tool'],
  ];
  it.each(table)('%s is refused', async (_, args, message) => {
    const { call } = stage([puppet(), puppet({ name: 'play' })]);
    await call('work', { action: 'spawn', id: 'job' });
    if (args['id'] === 'other') await call('play', { action: 'spawn', id: 'other' });
    const { content, isError } = await call('work', args as never);
    expect(isError).toBe(true);
    if (typeof message === 'string') expect(content).toBe(message);
    else expect(content).toMatch(message);
  });

  it('an action that the tool lacks and a call to a stopped handle are refused', async () => {
    const { call } = stage([puppet({ actions: ['abort'], oneShot: false })]);
    await call('work', { action: 'spawn', id: 'job' });
    expect((await call('work', { action: 'fetch', id: 'job' })).content).toBe(
      'work: action must be one of spawn, abort, got "fetch"',
    );
    expect((await call('work', {})).content).toBe('work: action is missing; write one of spawn, abort');
    const other = stage([puppet()]);
    await other.call('work', { action: 'spawn', id: 'job' });
    await other.call('work', { action: 'abort', id: 'job' });
    expect((await other.call('work', { action: 'apply', id: 'job', input: 'x' })).content).toBe(
      'handle job has stopped and takes no input',
    );
  });

  it('a batch that spawns one name twice spawns neither handle', async () => {
    const work = puppet();
    const { batch, handles } = stage([work]);
    const outcomes = await batch([
      { name: 'work', args: { action: 'spawn', id: 'twin' } },
      { name: 'work', args: { action: 'spawn', id: 'single' } },
      { name: 'work', args: { action: 'spawn', id: 'twin' } },
    ]);
    for (const outcome of outcomes)
      expect(outcome).toEqual({
        content:
          'nothing of this batch was spawned: two of its calls name their handle "twin"; give each handle a different name',
        isError: true,
      });
    expect(handles.list()).toEqual([]);
  });
});

describe('the schema', () => {
  it('offers the actions of the tool, and no top-level keyword that providers refuse', () => {
    const schema = schemaOf(puppet({ actions: ['abort'], oneShot: false })) as {
      properties: Record<string, { oneOf?: { const: string }[] }>;
    };
    expect(schema).toMatchObject({ type: 'object', required: ['action', 'id'] });
    expect(Object.keys(schema)).toEqual(['type', 'properties', 'required']);
    expect(schema.properties['action']?.oneOf?.map((choice) => choice.const)).toEqual(['spawn', 'abort']);
    expect(Object.keys(schema.properties)).toEqual(['what', 'action', 'id']);
    expect(Object.keys((schemaOf(puppet()) as { properties: object }).properties)).toEqual([
      'what',
      'action',
      'id',
      'from',
      'lines',
      'from_byte',
      'bytes',
      'input',
      'keys',
    ]);
  });

  it('includes await if a handle can be awaited', () => {
    expect(stage([puppet()]).handles.tools.map((tool) => tool.name)).toEqual(['work', 'await']);
    expect(stage([]).handles.tools).toEqual([]);
  });

  it('a tool cannot use the names of the protocol', () => {
    expect(() => stage([puppet({ parameters: { properties: { id: {} } } })])).toThrow(
      'the parameters id have reserved names; choose other names than',
    );
  });
});
