/** Tests the tool `await` (RFD 037): its rules and its table of errors. */
import { describe, expect, it } from 'vitest';

import { puppet, stage, type Stage } from './stage.ts';

type Rule = {
  readonly what: string;
  readonly args: Record<string, unknown>;
  /** Makes changes to the running handles a, b and c. Handle c waits with a question that the agent already knows. */
  readonly before?: (work: ReturnType<typeof puppet>) => void;
  readonly answer: unknown;
};

const stopped = (id: string): object => ({ id, state: 'stopped', result: `${id} is done` });
const finish =
  (...ids: string[]) =>
  (work: ReturnType<typeof puppet>): void => {
    for (const id of ids) work.runs.get(id)?.finish(`${id} is done`);
  };
const running = (id: string): object => ({ id, state: 'running' });

const RULES: readonly Rule[] = [
  {
    what: 'all: every one',
    args: { all: ['a', 'b'] },
    before: finish('a', 'b'),
    answer: { completed: [stopped('a'), stopped('b')], pending: [] },
  },
  {
    what: 'any: one is enough',
    args: { any: ['a', 'b'] },
    before: finish('b'),
    answer: { completed: [stopped('b')], pending: [running('a')] },
  },
  {
    what: 'both: all of all and one of any',
    args: { all: ['a'], any: ['b', 'c'] },
    before: finish('a', 'b'),
    answer: { completed: [stopped('a'), stopped('b')], pending: [{ id: 'c', state: 'waiting', question: 'Well?' }] },
  },
  {
    what: 'both: all alone is not enough',
    args: { all: ['a'], any: ['b'], timeout_secs: 0.05 },
    before: finish('a'),
    answer: { completed: [stopped('a')], pending: [running('b')], timed_out: true },
  },
  {
    what: 'both: any alone is not enough',
    args: { all: ['a'], any: ['b'], timeout_secs: 0.05 },
    before: finish('b'),
    answer: { completed: [stopped('b')], pending: [running('a')], timed_out: true },
  },
  {
    what: 'a timeout ends nothing',
    args: { all: ['a'], timeout_secs: 0 },
    answer: { completed: [], pending: [running('a')], timed_out: true },
  },
  {
    what: 'waiting counts as pending',
    args: { all: ['c'], timeout_secs: 0.05 },
    answer: { completed: [], pending: [{ id: 'c', state: 'waiting', question: 'Well?' }], timed_out: true },
  },
  {
    what: 'a name twice counts once',
    args: { all: ['a', 'a'], any: ['a'] },
    before: finish('a'),
    answer: { completed: [stopped('a')], pending: [] },
  },
  {
    what: 'an unknown handle',
    args: { all: ['a', 'zebra'] },
    answer: 'await: no handle is called "zebra"; active handles: a, b, c',
  },
  { what: 'nothing to wait for', args: {}, answer: 'await: at least one handle is needed, in all or in any: {"all": ["build"]}' },
  {
    what: 'empty lists',
    args: { all: [], any: [] },
    answer: 'await: at least one handle is needed, in all or in any: {"all": ["build"]}',
  },
  { what: 'no list', args: { all: 'a' }, answer: 'await: all must be a list of names of handles, got "a"' },
  { what: 'no names', args: { any: [1] }, answer: 'await: any must be a list of names of handles, got [1]' },
  {
    what: 'no number',
    args: { all: ['a'], timeout_secs: '5' },
    answer: 'await: timeout_secs must be a number of at least 0 seconds, got "5"',
  },
  {
    what: 'a negative number',
    args: { all: ['a'], timeout_secs: -1 },
    answer: 'await: timeout_secs must be a number of at least 0 seconds, got -1',
  },
  {
    what: 'an unknown argument',
    args: { al: ['a'] },
    answer: 'await: al is not an argument; the arguments are any, all and timeout_secs; did you mean all?',
  },
];

async function three(): Promise<{ work: ReturnType<typeof puppet>; stage: Stage }> {
  const work = puppet();
  const set = stage([work]);
  for (const id of ['a', 'b', 'c']) await set.call('work', { action: 'spawn', id });
  void work.runs
    .get('c')
    ?.side.ask('Well?')
    .catch(() => {});
  await set.call('work', { action: 'fetch', id: 'c' });
  return { work, stage: set };
}

describe('await', () => {
  it.each(RULES)('$what', async ({ args, before, answer }) => {
    const { work, stage } = await three();
    const outcome = stage.call('await', args as never);
    before?.(work);
    const { content, isError } = await outcome;
    if (typeof answer === 'string') expect({ content, isError }).toEqual({ content: answer, isError: true });
    else expect(JSON.parse(content)).toEqual(answer);
    expect(stage.handles.list().filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it('returns at once if all handles have stopped', async () => {
    const { work, stage } = await three();
    finish('a')(work);
    await stage.until('a', ({ state }) => state === 'stopped');
    expect(await stage.ask('await', { all: ['a'] })).toEqual({ completed: [stopped('a')], pending: [] });
  });

  it('returns the error of a failed handle like any other result', async () => {
    const { work, stage } = await three();
    const outcome = stage.call('await', { any: ['a'] });
    work.runs.get('a')?.fail(new Error('exploded'));
    expect(await outcome).toEqual({
      content: '{"completed":[{"id":"a","state":"stopped","result":{"error":{"message":"exploded"}}}],"pending":[]}',
      knows: ['handle:a'],
    });
  });

  it('closes the notifications of completed handles, not of pending handles', async () => {
    const { work, stage } = await three();
    const outcome = stage.call('await', { any: ['a', 'b'] });
    finish('b')(work);
    expect((await outcome).knows).toEqual(['handle:b']);
  });

  it('awaits a spawn of the same batch, in any order', async () => {
    const work = puppet();
    const { batch, until, open } = stage([work]);
    const outcomes = batch([
      { name: 'await', args: { all: ['x', 'y'] } },
      { name: 'work', args: { action: 'spawn', id: 'x' } },
      { name: 'work', args: { action: 'spawn', id: 'y' } },
    ]);
    await until('y', ({ state }) => state === 'running');
    finish('x', 'y')(work);
    expect((await outcomes)[0]).toEqual({
      content: JSON.stringify({ completed: [stopped('x'), stopped('y')], pending: [] }),
      knows: ['handle:x', 'handle:y'],
    });
    expect(await open()).toEqual([]);
  });

  it('awaits the new handle of a name, not the earlier handle', async () => {
    const work = puppet();
    const { call, batch, until } = stage([work]);
    await call('work', { action: 'spawn', id: 'x' });
    work.runs.get('x')?.finish('old');
    await until('x', ({ state }) => state === 'stopped');
    const outcomes = batch([
      { name: 'await', args: { all: ['x'] } },
      { name: 'work', args: { action: 'spawn', id: 'x' } },
    ]);
    await until('x', ({ state }) => state === 'running');
    work.runs.get('x')?.finish('new');
    expect((await outcomes)[0]?.content).toBe('{"completed":[{"id":"x","state":"stopped","result":"new"}],"pending":[]}');
  });

  it('reports that the spawn of its batch failed, or that a person refused it', async () => {
    const work = puppet({ check: () => 'needs more light' });
    const { batch, handles } = stage([work]);
    const [awaited] = await batch([
      { name: 'await', args: { all: ['x'] } },
      { name: 'work', args: { action: 'spawn', id: 'x' } },
    ]);
    expect(awaited).toEqual({ content: 'await: handle "x" was not spawned: work: needs more light', isError: true });

    const [tool] = handles.tools.filter(({ name }) => name === 'await');
    const refused = tool?.execute(
      { all: ['y'] },
      {
        id: 'c1',
        signal: new AbortController().signal,
        batch: [
          { id: 'c1', name: 'await', args: { all: ['y'] } },
          { id: 'c2', name: 'work', args: { action: 'spawn', id: 'y' } },
        ],
        progress: () => {},
      },
    );
    handles.notRun('c2', 'the user said no');
    expect((await refused)?.content).toBe('await: handle "y" was not spawned: the user said no');
  });

  it('reports that its batch spawns one name twice', async () => {
    const { batch } = stage([puppet()]);
    const outcomes = await batch([
      { name: 'work', args: { action: 'spawn', id: 'x' } },
      { name: 'work', args: { action: 'spawn', id: 'x' } },
      { name: 'await', args: { all: ['x'] } },
    ]);
    expect(outcomes.map(({ isError }) => isError)).toEqual([true, true, true]);
    expect(outcomes[2]?.content).toMatch(/^await: handle "x" was not spawned: nothing of this batch was spawned/u);
  });

  it('returns once for a question that only the model can answer, and then waits for the end', async () => {
    const work = puppet();
    const { call, ask } = stage([work]);
    await call('work', { action: 'spawn', id: 'x' });
    const first = ask('await', { all: ['x'] });
    const answer = work.runs.get('x')?.side.ask('Left or right?');
    expect(await first).toEqual({ completed: [], pending: [{ id: 'x', state: 'waiting', question: 'Left or right?' }] });
    const second = ask('await', { all: ['x'] });
    await call('work', { action: 'apply', id: 'x', input: 'left' });
    expect(await answer).toBe('left');
    finish('x')(work);
    expect(await second).toEqual({ completed: [stopped('x')], pending: [] });
  });

  it('continues to wait while a required handle still runs', async () => {
    const work = puppet();
    const { call, ask, until } = stage([work]);
    await call('work', { action: 'spawn', id: 'x' });
    await call('work', { action: 'spawn', id: 'y' });
    const awaited = ask('await', { all: ['x', 'y'] });
    void work.runs
      .get('x')
      ?.side.ask('Sure?')
      .catch(() => {});
    await until('x', ({ state }) => state === 'waiting');
    finish('y')(work);
    expect(await awaited).toEqual({ completed: [stopped('y')], pending: [{ id: 'x', state: 'waiting', question: 'Sure?' }] });
  });

  it('answers an interrupt at once and ends no handle', async () => {
    const work = puppet();
    const { call, handles } = stage([work]);
    await call('work', { action: 'spawn', id: 'x' });
    const stop = new AbortController();
    const awaited = call('await', { all: ['x'] }, { signal: stop.signal });
    stop.abort();
    expect(await awaited).toEqual({ content: 'await: interrupted; the handles keep running', isError: true });
    expect(handles.active).toBe(1);
  });
});
