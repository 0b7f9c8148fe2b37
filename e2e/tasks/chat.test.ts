/**
 * Tests `earpiece chat` and `earpiece run` as agents that work on tasks: the conversations with the tools, and the whole course
 * of a task.
 */
import { describe, expect, it } from 'vitest';
import { call, ChatStage, readIn, text } from '../chat/stage.ts';
import { find } from '../model/find.ts';
import type { Request, Step } from '../model/server.ts';
import { proves } from '../verifies.ts';

const BOTH = ['get_next_action', 'report_completed'];

const toolsOf = ({ body }: Request): string[] => ((body['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
const taskToolsOf = (request: Request | undefined): string[] =>
  request === undefined ? ['no request'] : toolsOf(request).filter((name) => BOTH.includes(name));

describe('earpiece chat and earpiece run', { timeout: 90_000 }, () => {
  proves('tasks:own-agent');

  it('have the task tools if the project had a task when the conversation started; later changes of tasks change no tools', async () => {
    await using stage = await ChatStage.open([{ says: [text('ok')] }]);
    const last = async (...args: readonly string[]): Promise<string[]> => {
      expect((await stage.run(args)).code).toBe(0);
      return taskToolsOf(stage.model.requests.at(-1));
    };
    expect(await last('run', '--as', 'coder#early', 'go')).toEqual([]);
    await stage.says(['tasks', 'add', '--to', 'coder', 'x']);
    // The tools stay the same, so the provider's cache still contains the beginning of each request.
    expect(await last('run', '--as', 'coder#early', 'go on')).toEqual([]);
    expect(await last('run', '--as', 'coder#later', 'go')).toEqual(BOTH);
    await stage.says(['tasks', 'status', 't1', 'cancelled']);
    expect(await last('run', '--as', 'coder#later', 'go on')).toEqual(BOTH);
    expect(await last('run', '--as', 'coder#talk', '--purpose', 'chat', 'go')).toEqual([]);
    // The log keeps the conversation's purpose, so this run and the fork need no `--purpose`.
    expect(await last('run', '--as', 'coder#talk', 'go on')).toEqual([]);
    expect(await last('run', '--fork', 'talk', '--as', 'coder#fork', 'go on')).toEqual([]);
    expect(await last('run', '--as', 'coder#fork', '--purpose', 'task', 'now work')).toEqual(BOTH);
    expect(await last('run', '--as', 'coder#bare', '--no-tools', 'go')).toEqual([]);
    expect(await last('run', '--as', 'coder#bare', 'go on')).toEqual(BOTH);
    const [first, second] = stage.model.requests;
    expect(second && toolsOf(second)).toEqual(first && toolsOf(first));
  });

  it('always have the task tools with agent.tasks = true, and never with agent.tasks = false', async () => {
    await using on = await ChatStage.open([{ says: [text('ok')] }], '[agent]\ntasks = true\n');
    expect((await on.run(['run', 'go'])).code).toBe(0);
    expect(taskToolsOf(on.model.requests[0])).toEqual(BOTH);
    await using off = await ChatStage.open([{ says: [text('ok')] }], '[agent]\ntasks = false\n');
    await off.says(['tasks', 'add', '--to', 'coder', 'x']);
    expect((await off.run(['run', 'go'])).code).toBe(0);
    expect(taskToolsOf(off.model.requests[0])).toEqual([]);
  });

  it('offer no task tools to their sub-agents, because no task can be assigned to them', async () => {
    const steps = (request: Request): Step => {
      if (readIn(request).includes('put the whole result into it')) return { says: [text('looked')] };
      return request.text.includes('function_call_output')
        ? { says: [text('done')] }
        : { says: [call('c1', 'agent', { task: 'look' })] };
    };
    await using stage = await ChatStage.open(steps, '[agent]\ntasks = true\n');
    expect((await stage.run(['run', 'go'])).code).toBe(0);
    expect(stage.model.requests.map((request) => taskToolsOf(request).length)).toEqual([2, 0, 2]);
  });

  it('work on a task until a person on another terminal blocks the task', async () => {
    proves('tasks:blocked');
    let stage: ChatStage | undefined;
    const blocks = async (): Promise<void> =>
      void (await stage?.says(['tasks', 'status', 't1', 'blocked', '--as', 'Ann', '--reason', 'legal has to agree']));
    const steps: Step[] = [
      { says: [call('c1', 'get_next_action', {})] },
      { says: [call('c2', 'run', { command: 'echo on it' })] },
      // A person blocks the task in the middle of this answer.
      {
        says: [text('I write the letter now and send it')],
        at: [{ part: 0, delta: 4, do: async ({ cutOff }) => void (await Promise.all([blocks(), cutOff])) }],
      },
      { says: [call('c3', 'report_completed', { result: 'blocked', summary: 'not sent' })] },
      { says: [text('I have stopped.')] },
    ];
    await using opened = await ChatStage.open(steps);
    stage = opened;
    await opened.says(['tasks', 'add', '--to', 'coder', 'Send the letter']);
    const { code, stdout } = await opened.run(['run', 'Do what there is to do']);
    expect(code).toBe(0);
    expect(stdout).toContain('I have stopped.');
    const interrupt = 'Task t1 "Send the letter" is blocked: legal has to agree';
    expect(find(opened.model.requests, interrupt).counts).toEqual([0, 0, 0, 1, 1]);
    const [task] = await opened.json(['tasks', 'show', 't1']);
    expect(task).toMatchObject({
      status: 'blocked',
      executions: [{ id: 't1.1', result: 'blocked', exitCode: 1, message: 'Ann blocked the task: legal has to agree' }],
    });
  });
});
