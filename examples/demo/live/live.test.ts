import { afterEach, describe, expect, it } from 'vitest';
import { openLoadedInbox, type LoadedInbox } from '../../../src/loaded-inbox.ts';
import type { LogKey } from '../../../src/core/address.ts';
import { Tasks } from '../../../src/tasks/index.ts';
import { writeChatShop } from '../chat/shop.ts';
import { AGENT, Stage } from '../stage.ts';
import { live } from './live.ts';

const BY = { kind: 'person', name: 'Ann' } as const;

describe('the agent that works while the console is open', { timeout: 120_000 }, () => {
  const stages: Stage[] = [];
  afterEach(async () => {
    for (const stage of stages.splice(0)) await stage.end();
  });
  const open = async (): Promise<{ stage: Stage; ear: LoadedInbox }> => {
    const stage = new Stage();
    stages.push(stage);
    writeChatShop(stage.project);
    const ear = await openLoadedInbox({ cwd: stage.project, env: stage.env });
    stage.onEnd(() => ear.close());
    return { stage, ear };
  };
  /** Waits for a record that matches, and returns its body. */
  const seen = async (ear: LoadedInbox, is: (body: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> => {
    for await (const { body } of ear.watch({ log: AGENT as LogKey, after: 0 })) if (is(body)) return body;
    throw new Error('the log ended');
  };

  it('continues with its next round after a person has stopped it in the middle of a sentence', async () => {
    const { stage, ear } = await open();
    const rounds = live(stage, { rounds: 2, wordMs: 40, betweenMs: 100 });
    // After the results of its measurements, the agent writes the long answer that the person stops.
    await seen(ear, ({ type, content }) => type === 'tool_call_response' && String(content).includes('million carts'));
    await stage.earpiece(['send', '--to', `${AGENT}#live`, '--action', 'cancel', '--as', 'Ann', 'stop that']);
    await rounds;
    const records = await ear.store.read({ log: AGENT as LogKey, limit: 10_000 });
    const said = JSON.stringify(records.map(({ body }) => body));
    expect(said).toContain('“stop that”: that reached me');
  });

  it('takes and reports a task that a person assigns, and stops work on a task that a person takes away', async () => {
    const { stage, ear } = await open();
    const tasks = new Tasks(ear);
    const enough = new AbortController();
    await tasks.create('shop', { title: 'Look at the cart', assignee: 'coder' }, BY);
    const rounds = live(stage, { signal: enough.signal, wordMs: 20, betweenMs: 100 });
    await seen(ear, ({ type, to }) => type === 'task_status_changed' && to === 'done');
    await tasks.create('shop', { title: 'Look at the prices', assignee: 'coder' }, BY);
    await seen(ear, ({ type, task }) => type === 'task_execution_started' && task === 't2');
    await tasks.move('shop', 't2', 'cancelled', { by: BY });
    await seen(ear, ({ type, task }) => type === 'task_execution_ended' && task === 't2');
    enough.abort();
    await rounds;
    expect((await tasks.get('shop', 't1')).executions).toMatchObject([{ result: 'success', exitCode: 0 }]);
    expect((await tasks.get('shop', 't2')).executions).toMatchObject([{ result: 'blocked', message: 'Ann cancelled the task' }]);
  });
});
