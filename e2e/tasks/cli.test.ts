/** `earpiece tasks`, as a person types it. */
import { describe, expect, it } from 'vitest';
import { Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';

const timeless = (text: string): string =>
  text
    .replaceAll(/\d\d:\d\d:\d\d/gu, '12:00:00')
    .replaceAll(/\d+ s ago/gu, 'now')
    .replaceAll(/ +$/gmu, '');

describe('earpiece tasks', () => {
  proves('cli:commands', 'tasks:routes');

  it('adds, lists, assigns, moves and shows', async () => {
    await using shell = new Shell();
    const says = async (...args: string[]): Promise<string> => timeless(await shell.says(['tasks', ...args]));
    expect(await says('list')).toBe('no tasks in shop; earpiece tasks add --to <agent> "what is to be done"\n');
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
    expect((await says('list')).replaceAll(/ {2,}/gu, '  ')).toBe(`ID  STATUS  PRIORITY  AGENT  SINCE  TITLE
t2  backlog  normal  -  now  Later
t1  blocked  high  coder  now  Fix the login
`);
    expect(await says('list', '--status', 'todo')).toContain('no tasks in shop');
    expect((await shell.json(['tasks', 'list', '--of', 'coder'])).map(({ id }) => id)).toEqual(['t1']);
    expect(await says('show', 't1')).toBe(`t1  Fix the login
  blocked since 12:00:00 by Ann: wait
  high, coder's
  can become in_progress, cancelled
  t1.1  coder since 12:00:00, blocked by Ann at 12:00:00; runs
`);
    await says('status', 't1', 'cancelled');
    expect((await shell.json(['tasks', 'list', '--all'])).map(({ id, status }) => [id, status])).toEqual([
      ['t2', 'backlog'],
      ['t1', 'cancelled'],
    ]);
    expect(await shell.json(['tasks', 'show', 't2'])).toMatchObject([{ id: 't2', description: 'see the plan', executions: [] }]);
  }, 120_000);

  it("in an agent's shell it is the agent who does it, and is not interrupted by itself", async () => {
    await using shell = new Shell();
    const env = { EARPIECE_ADDRESS: 'shop/coder#main' };
    await shell.says(['tasks', 'add', '--to', 'coder', 'x']);
    await shell.says(['tasks', 'status', 't1', 'in_progress'], { env });
    const [moved] = await shell.json(['tasks', 'status', 't1', 'blocked'], { env });
    expect(moved).toMatchObject({ status: 'blocked', statusChangedBy: { kind: 'agent', name: 'coder' } });
    expect(await shell.json(['inbox', '--all', '--peek'])).toEqual([]);
  });

  it('says what is wrong, with the way out, and changes nothing', async () => {
    proves('cli:exit-codes');
    await using shell = new Shell();
    await shell.says(['tasks', 'add', '--to', 'coder', 'x']);
    for (const [args, code, stderr] of [
      [
        ['status', 't1', 'blocked'],
        2,
        'task t1 "x" is todo and cannot become blocked; it can become backlog, in_progress, cancelled',
      ],
      [
        ['status', 't1', 'blokced'],
        2,
        'status "blokced" is none of backlog, todo, in_progress, blocked, done, cancelled; did you mean blocked?',
      ],
      [['show', 't9'], 7, 'there is no task "t9" in project shop; earpiece tasks list shows those that are not over'],
      [['assign', 't1'], 2, 'tasks assign takes either an agent or --nobody'],
    ] as const)
      expect(await shell.run(['tasks', ...args])).toEqual({ code, stdout: '', stderr: `earpiece: ${stderr}\n` });
    expect(await shell.json(['tasks', 'show', 't1'])).toMatchObject([{ version: 1 }]);
  });
});
