/** Tests handles that still run at the end of a turn (RFD 037). */
import { describe, expect, it } from 'vitest';

import type { Inquiry, OnTurnEnd, TurnEndAnswer } from '../../src/handles/index.ts';
import { puppet, stage } from './stage.ts';

async function running(onTurnEnd: OnTurnEnd | undefined, ids: readonly string[], turnEndSecs = 60) {
  const work = puppet({ ...(onTurnEnd === undefined ? {} : { onTurnEnd }), turnEndSecs });
  const set = stage([work], { clock: { now: () => now } });
  let now = 1_700_000_000_000;
  for (const id of ids) await set.call('work', { action: 'spawn', id });
  now += 3_200;
  return { ...set, work };
}

describe('the end of a turn', () => {
  it('asks about all running handles in one question, and follows the answers', async () => {
    const { work, handles, records, open } = await running(undefined, ['check', 'test', 'server']);
    work.runs.get('test')?.side.show('running 42 tests…');
    let asked: readonly Inquiry[] = [];
    const end = await handles.endOfTurn({
      ask: async (inquiries) => {
        asked = inquiries;
        const [check, test, server] = inquiries.map(({ id }) => id) as [string, string, string];
        setImmediate(() => work.runs.get('check')?.finish('ok'));
        return { [check]: 'wait', [test]: 'abort', [server]: 'leave' };
      },
    });
    expect(end).toEqual({ waited: ['check'], aborted: ['test'], left: ['server'], again: true });
    expect(asked[1]).toMatchObject({
      source: { source: 'tool', name: 'work' },
      question: {
        text: 'work "test" is still running after 3.2 s (running 42 tests…). Wait for it, abort it, or leave it running?',
        answer_type: { type: 'select', options: ['wait', 'abort', 'leave'] },
        handle: { id: 'test', tool: 'work', state: 'running', elapsed_secs: 3.2, output_preview: 'running 42 tests…' },
      },
    });
    expect(records.filter(({ type }) => type.startsWith('inquiry_'))).toEqual([
      ...asked.map((inquiry) => ({ type: 'inquiry_request', ...inquiry })),
      { type: 'inquiry_response', id: asked[0]?.id, answer: 'wait' },
      { type: 'inquiry_response', id: asked[1]?.id, answer: 'abort' },
      { type: 'inquiry_response', id: asked[2]?.id, answer: 'leave' },
    ]);
    expect((await open()).toSorted()).toEqual([
      'tool.stopped info Background work "check" has stopped: ok',
      'tool.stopped info Background work "test" was aborted at the end of the turn: running 42 tests…',
    ]);
  });

  it('keeps all handles running if there is no usable answer', async () => {
    const { handles, troubles } = await running('inquire', ['a', 'b']);
    const left = { waited: [], aborted: [], left: ['a', 'b'], again: false };
    expect(await handles.endOfTurn()).toEqual(left);
    expect(await handles.endOfTurn({ ask: async () => ({}) })).toEqual(left);
    expect(
      await handles.endOfTurn({ ask: async (all) => Object.fromEntries(all.map(({ id }) => [id, 'kill' as TurnEndAnswer])) }),
    ).toEqual(left);
    expect(
      await handles.endOfTurn({
        ask: async () => {
          throw new Error('quota');
        },
      }),
    ).toEqual(left);
    expect(troubles).toEqual([new Error('quota')]);
  });

  it('asks nothing if no handle runs', async () => {
    const { handles, work } = await running('inquire', ['a']);
    work.runs.get('a')?.finish('x');
    const ask = async (): Promise<never> => {
      throw new Error('asked');
    };
    await new Promise(setImmediate);
    expect(await handles.endOfTurn({ ask })).toEqual({ waited: [], aborted: [], left: [], again: false });
  });

  it('with "await", waits for the handle, and the next turn has its notification', async () => {
    const { handles, work, open, conversation } = await running('await', ['a']);
    const ending = handles.endOfTurn();
    setImmediate(() => work.runs.get('a')?.finish('ready'));
    expect(await ending).toEqual({ waited: ['a'], aborted: [], left: [], again: false });
    expect(await open()).toEqual(['tool.stopped info Background work "a" has stopped: ready']);
    const { text } = await conversation.carry({ type: 'chat_request', content: 'next' }, { at: 'turn_start' });
    expect(text).toContain('"a" has stopped: ready');
  });

  it('with "await", aborts the handle after the time limit, and reports that', async () => {
    const { handles, open } = await running('await', ['a'], 0.05);
    expect(await handles.endOfTurn()).toEqual({ waited: [], aborted: ['a'], left: [], again: false });
    expect(await open()).toEqual([
      'tool.stopped info Background work "a" was aborted at the end of the turn, after the time limit',
    ]);
  });

  it('with "abort", aborts all handles, and reports each', async () => {
    const { handles, open } = await running('abort', ['a', 'b']);
    expect(await handles.endOfTurn()).toEqual({ waited: [], aborted: ['a', 'b'], left: [], again: false });
    expect(await open()).toHaveLength(2);
  });

  it("a person's stop ends the wait and nothing else", async () => {
    const { handles } = await running('await', ['a']);
    const stop = new AbortController();
    const ending = handles.endOfTurn({ signal: stop.signal });
    stop.abort();
    expect(await ending).toEqual({ waited: [], aborted: [], left: ['a'], again: false });
    const asking = await running('inquire', ['b']);
    const again = new AbortController();
    const waiting = asking.handles.endOfTurn({
      signal: again.signal,
      ask: async (all) => {
        setImmediate(() => again.abort());
        return Object.fromEntries(all.map(({ id }) => [id, 'wait' as const]));
      },
    });
    expect(await waiting).toEqual({ waited: [], aborted: [], left: ['b'], again: false });
  });
});
