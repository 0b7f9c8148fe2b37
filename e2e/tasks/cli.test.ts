/** Tests `earpiece tasks`, as a person types it. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { Office } from './stage.ts';

const timeless = (text: string): string =>
  text
    .replaceAll(/\d\d:\d\d:\d\d/gu, '12:00:00')
    .replaceAll(/\d+ (?:s|min) ago/gu, 'now')
    .replaceAll(/ +$/gmu, '');

describe('earpiece tasks', () => {
  proves('cli:commands', 'tasks:routes');

  it('adds, lists, assigns, moves and shows tasks', async () => {
    await using shell = new Shell();
    const says = async (...args: string[]): Promise<string> => timeless(await shell.says(['tasks', ...args]));
    expect(await says('list')).toBe('no tasks in shop; to add a task: earpiece tasks add --to <agent> "the title of the task"\n');
    expect(await says('add', '--to', 'coder', '--priority', 'high', 'Fix', 'the login', '--as', 'Ann')).toBe(
      't1  todo of coder: Fix the login\n',
    );
    expect(await says('add', '--backlog', '--description', 'see the plan', 'Later')).toBe('t2  backlog: Later\n');
    expect(await says('assign', 't2', 'shop/tester')).toBe('t2  backlog of tester: Later\n');
    expect(await says('assign', 't2', '--nobody')).toBe('t2  backlog: Later\n');
    expect(await says('status', 't1', 'in_progress', '--as', 'Ann')).toBe('t1  in_progress of coder: Fix the login\n');
    expect(await says('status', 't1', 'blocked', '--reason', 'wait', '--expect', 'in_progress', '--as', 'Ann')).toBe(
      't1  blocked of coder: Fix the login\n',
    );
    expect((await says('list')).replaceAll(/ {2,}/gu, '  ')).toBe(`id  status  priority  agent  since  title
t2  backlog  normal  -  now  Later
t1  blocked  high  coder  now  Fix the login
`);
    expect(await says('list', '--status', 'todo')).toBe('no todo tasks in shop\n');
    expect(await says('list', '--of', 'nobody')).toBe('no open tasks of nobody in shop; --all also lists finished tasks\n');
    expect(await says('list', '--of', 'nobody', '--all')).toBe('no tasks of nobody in shop\n');
    expect((await shell.json(['tasks', 'list', '--of', 'coder'])).map(({ id }) => id)).toEqual(['t1']);
    expect(await says('show', 't1')).toBe(`t1  Fix the login
  blocked since 12:00:00 by person Ann │ wait
  priority high, assigned to coder
  next statuses: in_progress, cancelled
  t1.1  coder since 12:00:00, blocked by person Ann at 12:00:00; has not reported yet
`);
    await says('status', 't1', 'in_progress');
    expect(await says('show', 't1')).toContain('  t1.1  coder since 12:00:00; not started yet\n');
    await says('status', 't1', 'cancelled');
    expect((await shell.json(['tasks', 'list', '--all'])).map(({ id, status }) => [id, status])).toEqual([
      ['t2', 'backlog'],
      ['t1', 'cancelled'],
    ]);
    expect(await shell.json(['tasks', 'show', 't2'])).toMatchObject([{ id: 't2', description: 'see the plan', executions: [] }]);
  }, 120_000);

  it("in an agent's shell the agent makes the change, and its own change does not interrupt it", async () => {
    await using shell = new Shell();
    const env = { EARPIECE_ADDRESS: 'shop/coder#main' };
    await shell.says(['tasks', 'add', '--to', 'coder', 'x']);
    await shell.says(['tasks', 'status', 't1', 'in_progress'], { env });
    const [moved] = await shell.json(['tasks', 'status', 't1', 'blocked'], { env });
    expect(moved).toMatchObject({ status: 'blocked', statusChangedBy: { kind: 'agent', name: 'coder' } });
    expect(await shell.json(['inbox', '--all', '--peek'])).toEqual([]);
  });

  it('an agent cannot stop the work of another agent, in its shell or in a command', async () => {
    proves('tasks:interrupts', 'agent:no-person');
    await using shell = new Shell();
    const worker = { EARPIECE_ADDRESS: 'shop/worker#main' };
    const command = (of: string) => ({ EARPIECE_HANDLE: 'h1', EARPIECE_HANDLE_OF: of });
    await shell.says(['tasks', 'add', '--to', 'worker', 'Deploy']);
    await shell.says(['tasks', 'status', 't1', 'in_progress'], { env: worker });
    const stops = [...['cancelled', 'blocked', 'todo', 'done'].map((to) => ['status', 't1', to]), ['assign', 't1', 'evil']];
    const others: readonly (readonly [Record<string, string>, string])[] = [
      [{ EARPIECE_ADDRESS: 'shop/evil#main' }, 'evil'],
      [command('shop/evil#main'), 'shop/evil'],
      [command('docs/worker#main'), 'docs/worker'],
      [{ ...command(''), ...worker }, 'its name is not known'],
    ];
    for (const [env, name] of others)
      for (const args of stops)
        expect(await shell.run(['tasks', ...args], { env }), `${name} ${args.join(' ')}`).toEqual({
          code: 2,
          stdout: '',
          stderr: `earpiece: worker works on task t1 "Deploy", and another agent (${name}) cannot stop this work; send worker a message, or ask a person to change the task\n`,
        });
    expect(await shell.json(['inbox', '--all', '--peek'])).toEqual([]);
    expect(await shell.json(['tasks', 'list'])).toMatchObject([{ status: 'in_progress', assignee: 'worker' }]);
    await shell.says(['tasks', 'status', 't1', 'blocked'], { env: command('shop/worker#main') });
    await shell.says(['tasks', 'status', 't1', 'cancelled'], { env: { EARPIECE_ADDRESS: 'shop/evil#main' } });
  }, 120_000);

  it('says with each error what to do, and changes nothing', async () => {
    proves('cli:exit-codes');
    await using shell = new Shell();
    await shell.says(['tasks', 'add', '--to', 'coder', 'x']);
    const mistakes = [
      [
        ['status', 't1', 'blocked'],
        12,
        'task t1 "x" is todo and cannot become blocked; the task can become backlog, in_progress, cancelled',
      ],
      [
        ['status', 't1', 'blokced'],
        2,
        'status "blokced" must be one of backlog, todo, in_progress, blocked, done, cancelled; did you mean blocked?',
      ],
      [['show', '1'], 7, 'there is no task "1" in project shop; did you mean t1?'],
      [['show', 'T1'], 7, 'there is no task "T1" in project shop; did you mean t1?'],
      [['show', '9'], 7, 'there is no task "9" in project shop; to see the open tasks, run: earpiece tasks list'],
      [
        ['show', 'login'],
        7,
        'there is no task "login" in project shop; task ids look like t7; to see the open tasks, run: earpiece tasks list',
      ],
      [
        ['list', '--project', 'a/b'],
        2,
        '--project "a/b" is not a valid name of a project; use the part of an agent\'s address before the "/"',
      ],
      [['show', 't9'], 7, 'there is no task "t9" in project shop; to see the open tasks, run: earpiece tasks list'],
      [['assign', 't1'], 2, 'tasks assign needs either an agent or --nobody, got neither'],
    ] as const;
    const answers = await Promise.all(mistakes.map(([args]) => shell.run(['tasks', ...args])));
    expect(answers).toEqual(mistakes.map(([, code, stderr]) => ({ code, stdout: '', stderr: `earpiece: ${stderr}\n` })));
    expect(await shell.json(['tasks', 'show', 't1'])).toMatchObject([{ version: 1 }]);
  }, 120_000);
});

describe('the page on tasks', () => {
  it('has commands that work one after the other, as shown', async () => {
    proves('tasks:routes');
    await using shell = new Shell();
    const page = readFileSync(new URL('../../docs/tasks.md', import.meta.url), 'utf8');
    const [, block = ''] = /^```sh\n([^]*?)^```/mu.exec(page) ?? [];
    const commands = block.split('\n').filter(Boolean);
    expect(commands.length).toBeGreaterThan(3);
    for (const command of commands) {
      const words = [...command.replace(/ #.*$/u, '').matchAll(/"([^"]*)"|(\S+)/gu)].map(
        ([, quoted, word]) => quoted ?? word ?? '',
      );
      expect(words[0]).toBe('earpiece');
      expect([command, await shell.run(words.slice(1))]).toMatchObject([command, { code: 0, stderr: '' }]);
    }
  }, 60_000);

  it('an agent that runs without the task tools is named when it gets a task', async () => {
    proves('tasks:without-tools');
    await using office = await Office.open('');
    await office.agent('s1');
    await office.seen('s1');
    const { stdout } = await office.run(['tasks', 'add', '--to', 'coder', 'x']);
    expect(stdout).toBe(
      't1  todo of coder: x\n' +
        'the active conversations of coder began without the task tools; new conversations get these tools, unless agent.tasks or gateway.tasks is false\n',
    );
    await office.agent('s2');
    await office.seen('s2');
    expect((await office.run(['tasks', 'assign', 't1', '--nobody'])).code).toBe(0);
    expect((await office.run(['tasks', 'assign', 't1', 'coder'])).stdout).toBe('t1  todo of coder: x\n');
  }, 60_000);
});
