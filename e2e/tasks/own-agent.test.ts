/** Tests Earpiece's agent with tasks: a person changes the tasks over HTTP, and a scripted model of each API answers. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { taskTools } from '../../src/agent/task-tools.ts';
import { createClient, type Client } from '../../src/wire/client/index.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { createServer } from '../../src/server/index.ts';
import { APIS, type Api } from '../agent/apis.ts';
import { doing, Talk, type TalkOptions } from '../agent/talk.ts';
import { least } from '../least.ts';
import type { Part } from '../model/answer.ts';
import { find } from '../model/find.ts';
import type { Step } from '../model/server.ts';
import { proves } from '../verifies.ts';

const text = (text: string): Part => ({ kind: 'text', text });
const call = (id: string, name: string, args = {}): Part => ({ kind: 'call', id, name, args });
/** Makes an answer that begins with signed thinking, because Anthropic refuses an answer with calls and without thinking. */
const says = (...parts: readonly Part[]): Step => ({ says: [{ kind: 'reasoning', text: 'let me think' }, ...parts] });
const next = (id: string): Part => call(id, 'get_next_action');
const reports = (id: string, result: string, summary: string): Part => call(id, 'report_completed', { result, summary });

const folder = mkdtempSync(join(tmpdir(), 'earpiece-tasks-agent-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const BAR_MS = 2_000;

type DeskOptions = Omit<TalkOptions, 'inbox'> & { readonly api?: Api };

/** A person at a server, and Earpiece's agents on the same log. */
class Desk implements AsyncDisposable {
  readonly ear: LoadedInbox;
  readonly person: Client;
  readonly #stop: () => Promise<void>;
  readonly #talks: Talk[] = [];

  private constructor(ear: LoadedInbox, person: Client, stop: () => Promise<void>) {
    this.ear = ear;
    this.person = person;
    this.#stop = stop;
  }

  static async open(): Promise<Desk> {
    const ear = await openLoadedInbox({ db: 'memory:', cwd: folder, env: { HOME: folder, TZ: 'UTC' } });
    const server = createServer({ inbox: ear, project: 'shop', version: '0.0.0' });
    const { url } = await server.listen({ port: 0 });
    const { token } = await server.tokens.create({ kind: 'project', project: 'shop', name: 'Ann' });
    return new Desk(ear, createClient({ url, token }), () => server.stop());
  }

  /** Opens an agent, by default in the conversation `shop/coder#main`, with the tools for tasks and the given tools. */
  async agent(steps: readonly Step[], { api = 'openai-chat', tools = [], ...more }: DeskOptions = {}): Promise<Talk> {
    const made: { talk?: Talk } = {};
    const agent = (): Talk['agent'] => {
      if (made.talk === undefined) throw new Error('not open yet');
      return made.talk.agent;
    };
    made.talk = await Talk.start(api, steps, {
      inbox: this.ear,
      purpose: 'task',
      ...more,
      tools: [...taskTools(agent), ...tools],
    });
    this.#talks.push(made.talk);
    return made.talk;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const talk of this.#talks) await talk.agent.close();
    await this.#stop();
    for (const talk of this.#talks) await talk[Symbol.asyncDispose]();
  }
}

/** Returns a call's answer in the log. */
const answered = (talk: Talk, id: string): Record<string, unknown> => {
  const record = talk.agent.records.find((one) => one.type === 'tool_call_response' && one['id'] === id) as
    | { content: string }
    | undefined;
  return JSON.parse(record?.content ?? '{}') as Record<string, unknown>;
};

describe.each(APIS)("%s: Earpiece's agent", (api) => {
  proves('tasks:own-agent', 'tasks:blocked', 'tasks:executions');

  it('fetches its task, is blocked during a call, reads the interrupt once, and reports in under 2 s', async () => {
    expect(await least(BAR_MS, blockedInACall)).toBeLessThan(BAR_MS);
  });

  /** Measures the time from the click to the end of the turn, and to the report in the log. */
  async function blockedInACall(): Promise<number> {
    await using desk = await Desk.open();
    const { person } = desk;
    let clickedAt = 0;
    let steps = 0;
    const works = doing('works', async (_args, { signal }) => {
      if (++steps < 2) return { content: 'a step' };
      clickedAt = performance.now();
      await person.moveTask('t1', { status: 'blocked', expected: 'in_progress', reason: 'legal has to agree', author: 'Ann' });
      if (!signal.aborted) await once(signal, 'abort');
      return { content: 'given up', isError: true };
    });
    const talk = await desk.agent(
      [
        says(next('c1')),
        says(call('c2', 'works')),
        says(call('c3', 'works')),
        says(reports('c4', 'blocked', 'stopped as I was told')),
        says(text('I have stopped.')),
      ],
      { api, tools: [works] },
    );
    await person.createTask({ title: 'Count down', assignee: 'coder' });
    expect(await talk.agent.send('Do what there is to do')).toMatchObject({ how: 'complete', text: 'I have stopped.' });
    const tookMs = performance.now() - clickedAt;

    expect(answered(talk, 'c1')).toMatchObject({
      action: 'work',
      task: { id: 't1', title: 'Count down' },
      execution: 't1.1',
      instruction: 'Do this task, then call report_completed.',
    });
    expect(answered(talk, 'c4')).toEqual({
      success: true,
      tasks: [{ id: 't1', status: 'blocked' }],
      already_interrupted: true,
      message: 'Already interrupted: t1 was blocked by Ann (legal has to agree).',
      instruction: 'End work.',
    });
    // The interrupt is in the request after the batch that it stopped, and only once.
    const interrupt = 'Task t1 "Count down" is blocked: legal has to agree';
    expect(talk.requests).toHaveLength(5);
    expect(find(talk.requests, interrupt).counts).toEqual([0, 0, 0, 1, 1]);
    talk.check([
      interrupt,
      'Ann asks to cancel',
      'Stop the current work and call report_completed(result="blocked", task_id="t1").',
    ]);
    await talk.golden('task-blocked');

    const { statusChangedAt, execution, ...task } = await person.task('t1');
    expect(task).toMatchObject({ status: 'blocked', blockedReason: 'legal has to agree', statusChangedBy: { name: 'Ann' } });
    expect(execution).toMatchObject({
      conversation: 'main',
      result: 'blocked',
      exitCode: 1,
      message: 'Ann blocked the task: legal has to agree',
    });
    expect((await person.notifications({ log: 'shop/coder' })).items).toMatchObject([
      { kind: 'task.blocked', receipt: 'read', gate: false },
    ]);
    return Math.max(tookMs, (execution?.endedAt ?? Infinity) - statusChangedAt);
  }
});

describe("Earpiece's agent", () => {
  proves('tasks:own-agent');

  it('is stopped in the middle of a sentence, and the sentence is kept', async () => {
    proves('tasks:blocked');
    await using desk = await Desk.open();
    const talk: Talk = await desk.agent([
      says(next('c1')),
      {
        says: [text('I will delete all of it')],
        at: [
          {
            part: 0,
            delta: 3,
            do: async ({ cutOff }) => {
              await talk.heard('text', 'delete ');
              await desk.person.moveTask('t1', { status: 'cancelled', author: 'Ann' });
              await cutOff;
            },
          },
        ],
      },
      says(reports('c2', 'blocked', 'nothing was deleted')),
      says(text('stopped')),
    ]);
    await desk.person.createTask({ title: 'Clean up', assignee: 'coder' });
    expect(await talk.agent.send('go')).toMatchObject({ how: 'complete', text: 'stopped' });
    talk.check(['I will delete', 'Task t1 "Clean up" is cancelled']);
    expect(await desk.person.task('t1')).toMatchObject({ status: 'cancelled', execution: { result: 'blocked', exitCode: 1 } });
  });

  it('is woken by an interrupt between two turns, reports, and reads that no task is left', async () => {
    await using desk = await Desk.open();
    const talk = await desk.agent([
      says(next('c1')),
      says(text('I wait for the build.')),
      says(reports('c2', 'blocked', 'was waiting')),
      says(next('c3')),
      says(text('stopped')),
    ]);
    await desk.person.createTask({ title: 'Build it', assignee: 'coder' });
    await talk.agent.send('go');
    await desk.person.moveTask('t1', { status: 'blocked', author: 'Ann' });
    await talk.turns(2);
    expect(answered(talk, 'c2')).toMatchObject({ already_interrupted: true });
    expect(answered(talk, 'c3')).toEqual({
      action: 'none',
      message: 'There is nothing to do.',
      blocked: ['t1'],
      instruction: 'End work.',
    });
    talk.check(['Task t1 "Build it" is blocked']);
  });

  it('if the task is unblocked before the agent read the interrupt, nothing arrives, and the agent continues', async () => {
    proves('tasks:unblocked');
    await using desk = await Desk.open();
    const talk = await desk.agent([
      says(next('c1')),
      says(text('I go on tomorrow.')),
      says(next('c2')),
      says(reports('c3', 'success', 'built')),
      says(next('c4')),
      says(text('done')),
    ]);
    await desk.person.createTask({ title: 'Build it', assignee: 'coder' });
    await talk.agent.send('go');
    await talk.agent.close();
    await desk.person.moveTask('t1', { status: 'blocked', reason: 'wait' });
    expect(await desk.ear.open('shop/coder')).toHaveLength(1);
    await desk.person.moveTask('t1', { status: 'in_progress' });
    await talk.restart();
    await talk.agent.send('go on');
    expect(answered(talk, 'c2')).toMatchObject({ action: 'work', resumed: true, execution: 't1.1' });
    expect(answered(talk, 'c3')).toEqual({
      success: true,
      tasks: [{ id: 't1', status: 'done' }],
      message: 'The report is recorded.',
      instruction: 'Call get_next_action for the next task.',
    });
    expect(answered(talk, 'c4')).toMatchObject({ action: 'none' });
    expect(find(talk.requests, 'blocked: wait').first).toBe(-1);
    talk.check([]);
    expect(await desk.person.task('t1')).toMatchObject({ status: 'done', execution: { result: 'success', exitCode: 0 } });
  });

  it('if the task is unblocked after the agent read the interrupt, the agent is notified, and its report ends nothing', async () => {
    proves('tasks:unblocked');
    await using desk = await Desk.open();
    const { person } = desk;
    const works = doing('works', async (_args, { signal }) => {
      await person.moveTask('t1', { status: 'blocked', author: 'Ann' });
      if (!signal.aborted) await once(signal, 'abort');
      return { content: 'given up', isError: true };
    });
    const talk = await desk.agent(
      [
        says(next('c1'), call('c2', 'works')),
        {
          ...says(reports('c3', 'blocked', 'as I was told')),
          // The agent has read the interrupt and is about to report.
          before: () => person.moveTask('t1', { status: 'in_progress', author: 'Ann' }),
        },
        says(reports('c4', 'success', 'finished all the same')),
        says(text('done')),
      ],
      { tools: [works] },
    );
    await person.createTask({ title: 'Build it', assignee: 'coder' });
    await person.moveTask('t1', { status: 'in_progress' });
    await talk.agent.send('go');
    expect(answered(talk, 'c3')).toMatchObject({
      message: 'Nothing was ended: the reason to stop is resolved, and the task is in progress again.',
    });
    talk.check(['Task t1 "Build it" is blocked']);
    expect(await person.task('t1')).toMatchObject({ status: 'done', execution: { id: 't1.1', result: 'success' } });
  });

  it('reports a failed task, which then waits for a person', async () => {
    proves('tasks:executions');
    await using desk = await Desk.open();
    const talk = await desk.agent([
      says(next('c1')),
      says(reports('c2', 'failed', 'no compiler here')),
      says(reports('c3', 'success', 'once more')),
      says(next('c4')),
      says(text('done')),
    ]);
    await desk.person.createTask({ title: 'Build it', assignee: 'coder' });
    await talk.agent.send('go');
    expect(answered(talk, 'c4')).toMatchObject({ action: 'none', blocked: ['t1'] });
    // The wrong call gets an answer, and a notification like any failing call.
    expect(find(talk.requests, 'works on no task, so there is nothing to report').inLast).toBeGreaterThan(0);
    talk.check([]);
    expect(await desk.person.task('t1')).toMatchObject({
      status: 'blocked',
      blockedReason: 'failed: no compiler here',
      execution: { result: 'failed', exitCode: 1 },
    });
  });

  it('if it asks for its next action during an interrupt, the answer names the interrupt, which it reads once', async () => {
    await using desk = await Desk.open();
    const talk = await desk.agent([says(call('c1', 'stops'), next('c2')), says(next('c3')), says(text('done'))], {
      tools: [
        doing('stops', async () => {
          await desk.ear.queue('shop/coder#main', { message: 'HOLD-ON', action: 'pause', origin: { person: 'Ann' } });
          return { content: 'stopped' };
        }),
      ],
    });
    await desk.person.createTask({ title: 'Build it', assignee: 'coder' });
    // The agent asks after the interrupt was queued and before it was shown.
    const conversation = talk.agent.conversation;
    const gate = conversation.gate.bind(conversation);
    conversation.gate = async () => {
      await talk.until((events) => events.some((event) => event.type === 'waiting'));
      return gate();
    };
    await talk.agent.send('go');
    expect(answered(talk, 'c2')).toEqual({
      action: 'read_interrupt',
      message: 'An interrupt is unread.',
      instruction: 'Follow the interrupt in this result. Do nothing else first.',
    });
    talk.check(['HOLD-ON']);
    // The pause holds until a person lifts the pause, and the answer reports this rule.
    expect(answered(talk, 'c3')).toMatchObject({ action: 'paused' });
  });

  it('without the task tools gets an interrupt that does not mention them', async () => {
    proves('tasks:without-tools');
    await using desk = await Desk.open();
    const talk = await Talk.start('anthropic', [says(text('hello')), says(text('I stop.'))], { inbox: desk.ear });
    await desk.person.createTask({ title: 'Build it', assignee: 'coder' });
    await desk.person.moveTask('t1', { status: 'in_progress' });
    await talk.agent.send('hi');
    await desk.person.moveTask('t1', { status: 'blocked', author: 'Ann' });
    await talk.turns(2);
    talk.check(['Task t1 "Build it" is blocked', 'Stop the current work and say where you stopped.']);
    expect(find(talk.requests, 'report_completed').first).toBe(-1);
    await talk.agent.close();
    await talk.model[Symbol.asyncDispose]();
  });

  it('in a conversation with the purpose chat gets no interrupt, and cannot take or report a task', async () => {
    proves('tasks:purpose');
    await using desk = await Desk.open();
    const { person } = desk;
    const chat = await desk.agent(
      [says(next('k1'), reports('k2', 'blocked', 'x')), says(text('I only talk.')), says(text('Still here.'))],
      { address: 'shop/coder#talk', purpose: 'chat' },
    );
    const works = doing('works', async (_args, { signal }) => {
      await person.moveTask('t1', { status: 'blocked', reason: 'wait', author: 'Ann' });
      // The chat has two turns while the interrupt is open and the working conversation has not read it.
      await chat.agent.send('how are you?');
      await chat.agent.send('and now?');
      if (!signal.aborted) await once(signal, 'abort');
      return { content: 'given up', isError: true };
    });
    const talk = await desk.agent(
      [says(next('c1')), says(call('c2', 'works')), says(reports('c3', 'blocked', 'stopped')), says(text('stopped'))],
      { tools: [works] },
    );
    await person.createTask({ title: 'Build it', assignee: 'coder' });
    await talk.agent.send('go');
    expect(find(chat.requests, 'is blocked').first).toBe(-1);
    expect(find(chat.requests, 'shop/coder#talk is for chat; only conversations with the purpose task').inLast).toBeGreaterThan(
      0,
    );
    chat.check([]);
    talk.check(['Task t1 "Build it" is blocked: wait']);
    expect(await person.task('t1')).toMatchObject({ status: 'blocked', execution: { result: 'blocked', conversation: 'main' } });
  });
});
