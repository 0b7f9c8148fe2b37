/** Tests how a person blocks a task while an agent works on the task: from the click to the end of the execution. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { least } from '../least.ts';
import { proves } from '../verifies.ts';
import { Office } from './stage.ts';

const CALLS_EVERY_MS = 500;
const BAR_MS = 2_000;

describe('blocked by a person while the agent works', () => {
  it('within 2 s the next call is refused, get_notifications gives the instruction, and report_completed closes the execution', async () => {
    proves('tasks:blocked', 'pull:report-completed');
    expect(await least(BAR_MS, blockedWhileItWorks)).toBeLessThan(BAR_MS);
  }, 60_000);

  /** Measures the time from the click to the report, on the person's clock and in the log. */
  async function blockedWhileItWorks(): Promise<number> {
    await using office = await Office.open();
    const { person } = office;
    await person.createTask({ title: 'Count down', assignee: 'coder' });
    const agent = await office.agent();
    const next = await agent.does('get_next_action');
    expect(next).toMatchObject({ action: 'work', task: { id: 't1', title: 'Count down' }, execution: 't1.1' });
    expect(await person.task('t1')).toMatchObject({
      status: 'in_progress',
      statusChangedBy: { kind: 'agent', name: 'coder' },
      execution: { conversation: 's1', endedAt: null },
    });

    // The agent makes a call every half second, until a call is refused.
    const refusals: string[] = [];
    let steps = 0;
    const started = Promise.withResolvers<void>();
    const works = (async () => {
      for (; ; steps++) {
        const answer = await agent.call('echo', { text: `step ${steps}` });
        if (answer.isError) return void refusals.push(answer.text);
        if (steps === 1) started.resolve();
        await sleep(CALLS_EVERY_MS);
      }
    })();
    await Promise.race([started.promise, works]);
    const clickedAt = performance.now();
    await person.moveTask('t1', { status: 'blocked', expected: 'in_progress', reason: 'legal has to agree', author: 'Ann' });
    await works;
    expect(refusals[0]).toContain('this call was not made, an interrupt came first');
    expect(refusals[0]).toContain('Ann asks to cancel: “Task t1 "Count down" is blocked: legal has to agree”');
    expect(refusals[0]).toContain('get_notifications lets calls through again.');

    const pulled = await agent.does('get_notifications');
    expect(pulled).toMatchObject({
      success: true,
      count: 1,
      notifications: [
        {
          type: 'interrupt',
          action: 'cancel',
          task_id: 't1',
          from: 'Ann',
          message: 'Task t1 "Count down" is blocked: legal has to agree',
          instruction: 'Stop the current work and call report_completed(result="blocked", task_id="t1").',
        },
      ],
    });
    const reported = await agent.does('report_completed', { result: 'blocked', summary: 'stopped as I was told' });
    const tookMs = performance.now() - clickedAt;
    expect(reported).toEqual({
      success: true,
      tasks: [{ id: 't1', status: 'blocked' }],
      already_interrupted: true,
      message: 'Already interrupted: t1 was blocked by Ann (legal has to agree).',
      instruction: 'End work.',
    });

    const { statusChangedAt, execution, ...task } = await person.task('t1');
    expect(task).toMatchObject({ status: 'blocked', blockedReason: 'legal has to agree', statusChangedBy: { name: 'Ann' } });
    expect(execution).toMatchObject({ result: 'blocked', exitCode: 1, message: 'Ann blocked the task: legal has to agree' });
    expect((await person.taskExecutions('t1')).items).toEqual([execution]);
    // The interrupt is read, and no longer refuses calls.
    const [interrupt] = (await person.notifications({ log: 'shop/coder' })).items;
    expect(interrupt).toMatchObject({ kind: 'task.blocked', receipt: 'read', gate: false });
    expect(await agent.does('get_next_action')).toMatchObject({ action: 'none', blocked: ['t1'] });
    // The refused calls never reached the server.
    expect(steps).toBeGreaterThan(0);
    expect(office.calls().map(({ text }) => text)).toEqual(Array.from({ length: steps }, (_, i) => `step ${i}`));
    expect((await agent.call('echo', { text: 'on' })).text).toBe('on');
    return Math.max(tookMs, (execution?.endedAt ?? Infinity) - statusChangedAt);
  }

  it('a running call returns its result with the interrupt; the next call is refused', async () => {
    proves('tasks:blocked', 'gate:before');
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    const running = agent.call('echo', { text: 'running', held: true });
    // The gateway accepts frames in the order of their arrival. So after the answer to this ping, the server has the call.
    await agent.client.ping();
    await office.person.moveTask('t1', { status: 'blocked', reason: 'wait' });
    await agent.client.request({ method: 'release' }, z.looseObject({}));
    const answer = await running;
    expect(answer).toMatchObject({ isError: false });
    expect(answer.text).toMatch(/^running\n[^]*Task t1 "Fix the login" is blocked: wait/u);
    const refused = await agent.call('echo', { text: 'next' });
    expect(refused.isError).toBe(true);
    expect(office.calls().map(({ text }) => text)).toEqual(['running']);
    // The agent may report without a pull, because the report lowers the gate.
    expect(await agent.does('report_completed', { result: 'blocked', summary: 'ok' })).toMatchObject({
      already_interrupted: true,
    });
    expect((await agent.call('echo', { text: 'free' })).text).toBe('free');
  });

  it('a block by the command line stops the agent like a block over HTTP', async () => {
    proves('tasks:blocked');
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    const { code, stdout } = await office.run(['tasks', 'status', 't1', 'blocked', '--as', 'Ann', '--reason', 'wait']);
    expect([code, stdout]).toEqual([0, 't1  blocked of coder: Fix the login\n']);
    expect((await agent.call('echo')).text).toContain('Ann asks to cancel: “Task t1 "Fix the login" is blocked: wait”');
  });

  it('without get_notifications every further call is refused with the same text, also of failing tools', async () => {
    proves('tasks:blocked');
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.person.moveTask('t1', { status: 'blocked' });
    const refusals = [await agent.call('echo'), await agent.call('fail'), await agent.call('echo', { text: 'x' })];
    expect(new Set(refusals.map(({ text }) => text)).size).toBe(1);
    expect(refusals.every(({ isError }) => isError)).toBe(true);
    expect(office.calls()).toEqual([]);
  });

  it('an agent that is between calls gets the interrupt at its next call, even through a new gateway', async () => {
    proves('tasks:blocked');
    await using office = await Office.open();
    const first = await office.agent();
    await office.working(first);
    await first.client.close();
    await office.person.moveTask('t1', { status: 'blocked', reason: 'wait' });
    const again = await office.agent();
    const refused = await again.call('echo', { text: 'x' });
    expect(refused.text).toContain('is blocked: wait');
    expect(office.calls()).toEqual([]);
  });
});

describe('a task that is unblocked', () => {
  it('withdraws an interrupt that the agent has not read, and calls pass', async () => {
    proves('tasks:unblocked');
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.person.moveTask('t1', { status: 'blocked' });
    await office.person.moveTask('t1', { status: 'in_progress', expected: 'blocked' });
    expect(await agent.call('echo', { text: 'a' })).toMatchObject({ text: 'a', isError: false });
    expect(await agent.does('get_notifications')).toEqual({ success: true, count: 0, notifications: [] });
    expect(await agent.does('get_next_action')).toMatchObject({ action: 'work', resumed: true, execution: 't1.1' });
    expect(await agent.does('report_completed', { result: 'success', summary: 'done' })).toMatchObject({ success: true });
    expect(await office.person.task('t1')).toMatchObject({ status: 'done', execution: { result: 'success', exitCode: 0 } });
  });

  it('lets the agent continue after it has read the interrupt, and its report ends nothing', async () => {
    proves('tasks:unblocked');
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.person.moveTask('t1', { status: 'blocked', author: 'Ann' });
    await agent.does('get_notifications');
    await office.person.moveTask('t1', { status: 'in_progress', author: 'Ann' });
    const told = await agent.call('report_completed', { result: 'blocked', summary: 'as told' });
    expect(told.text).toContain('the reason to stop is resolved');
    expect(await office.person.task('t1')).toMatchObject({ status: 'in_progress', execution: { endedAt: null } });
    expect((await agent.call('echo', { text: 'on' })).text).toBe('on');
    expect(await agent.does('report_completed', { result: 'blocked', summary: 'no key' })).toMatchObject({
      tasks: [{ id: 't1', status: 'blocked' }],
    });
    expect(await office.person.task('t1')).toMatchObject({ blockedReason: 'no key', statusChangedBy: { name: 'coder' } });
  });
});
