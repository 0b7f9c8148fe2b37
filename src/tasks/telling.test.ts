import { describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import type { TaskActor } from '../core/task.ts';
import { Inbox, type ConversationOptions } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { REPORT_TOOL, Tasks } from './index.ts';

const ANN: TaskActor = { kind: 'person', name: 'Ann' };
const CALL = 'Stop the current work and call report_completed(result="blocked", task_id="t1").';
const WITHOUT = 'Stop the current work and say where you stopped.';

describe('the request to a stopped agent', () => {
  proves('tasks:without-tools');

  const inboxWith = (policy: Partial<typeof DEFAULT_POLICY> = {}): Inbox =>
    new Inbox({ store: memoryStore(), policies: { policy: () => ({ ...DEFAULT_POLICY, ...policy }) }, timeZone: 'UTC' });
  /** Makes a task of the agent. A person then cancels the task while the task is in progress. */
  const stopped = async (inbox: Inbox): Promise<void> => {
    const tasks = new Tasks(inbox);
    await tasks.create('shop', { title: 'x', assignee: 'coder' }, ANN);
    await tasks.move('shop', 't1', 'in_progress', { by: ANN });
    await tasks.move('shop', 't1', 'cancelled', { by: ANN });
  };

  it.each<[string, ConversationOptions, string]>([
    ['names the report tool if the agent has it', { has: [REPORT_TOOL] }, CALL],
    ['asks an agent without the tool to stop and say where', { has: [] }, WITHOUT],
    ['asks for no tool if no carrier knows the tools of the conversation', {}, WITHOUT],
  ])('%s', async (_who, options, asked) => {
    const inbox = inboxWith();
    await stopped(inbox);
    const conversation = inbox.conversation('shop/coder#s1', { pulls: true, ...options });
    const [shown] = (await conversation.pull({ mark: false })).notifications;
    expect(shown?.instruction).toBe(asked);
    expect((await conversation.refuse({ on: 'echo' }))?.text).toContain(asked);
    const carried = await inbox
      .conversation('shop/coder#s1', options)
      .carry({ type: 'chat_request', content: 'go' }, { at: 'turn_start' });
    expect(carried.records.length).toBeGreaterThan(0);
    await inbox.close();
  });

  it("names the report tool through any carrier, once a carrier has recorded the agent's tools", async () => {
    const inbox = inboxWith();
    await inbox.conversation('shop/coder#s1', { has: [REPORT_TOOL] }).seen();
    await stopped(inbox);
    const carried = await inbox
      .conversation('shop/coder#s1')
      .carry({ type: 'chat_request', content: 'go' }, { at: 'turn_start' });
    expect(carried.text).toContain(CALL);
    // The record has only the text that the agent read.
    expect(JSON.stringify(carried.records.at(-1)?.body)).not.toContain('where you stopped');
    await inbox.close();
  });

  it('a task that another agent unblocked names this agent', async () => {
    const inbox = inboxWith();
    const tasks = new Tasks(inbox);
    const coder = inbox.conversation('shop/coder#s1', { pulls: true });
    await tasks.create('shop', { title: 'x', assignee: 'coder' }, ANN);
    await tasks.move('shop', 't1', 'in_progress', { by: ANN });
    await tasks.move('shop', 't1', 'blocked', { by: ANN });
    await coder.pull({ mark: true });
    await tasks.move('shop', 't1', 'in_progress', { by: { kind: 'agent', name: 'lead' } });
    const [shown] = (await coder.pull({ mark: true })).notifications;
    expect(shown?.message).toBe('Task t1 "x" may go on, because the agent lead changed the task');
    await inbox.close();
  });

  it('hides secrets with and without the tool; a needed tool without an instruction is refused', async () => {
    const inbox = inboxWith({ redact: ['sk-\\w+'] });
    const needs = { tool: 'deploy', otherwise: 'use sk-other' };
    await inbox.queue('shop/coder#s1', { message: 'm', action: 'cancel', instruction: 'deploy with sk-one', needs });
    const told = async (has: readonly string[]): Promise<unknown> =>
      (await inbox.conversation('shop/coder#s1', { pulls: true, has }).pull({ mark: false })).notifications[0]?.instruction;
    expect([await told(['deploy']), await told([])]).toEqual(['deploy with [redacted]', 'use [redacted]']);
    await expect(inbox.queue('shop/coder', { message: 'm', needs })).rejects.toMatchObject({ code: 'bad_notification' });
    await expect(
      inbox.queue('shop/coder', { message: 'm', instruction: 'x', needs: { tool: 'deploy', otherwise: ' ' } }),
    ).rejects.toThrow('needs.otherwise " ": must be a text that is not blank');
    await inbox.close();
  });
});
