/** Tests `get_next_action` and `report_completed` as agents use them. */
import { describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import { sessionTokenOf } from '../../src/inbox/index.ts';
import { HttpGateway } from '../delivery/http-gateway.ts';
import { Office } from './stage.ts';

/** Returns the text of all blocks of a result. */
const textIn = ({ content }: { readonly content: unknown }): string =>
  (content as readonly { readonly text?: string }[]).map(({ text }) => text ?? '').join('\n');

const BOTH = ['get_next_action', 'report_completed'];

describe('the tools for tasks', () => {
  proves('tasks:tools');

  it('are offered if the project has tasks when the gateway starts, and otherwise cost no tokens', async () => {
    await using office = await Office.open('');
    const before = await office.agent('s1');
    expect(await before.tools()).toEqual(['echo', 'fail', 'get_notifications']);
    await office.person.createTask({ title: 'x' });
    const after = await office.agent('s2');
    expect(await after.tools()).toEqual(['echo', 'fail', 'get_notifications', ...BOTH]);
    // A list of tools stays unchanged after it was sent.
    expect(await before.tools()).toEqual(['echo', 'fail', 'get_notifications']);
    expect(await (await office.agent('c1', { purpose: 'chat' })).tools()).toEqual(['echo', 'fail', 'get_notifications']);
  });

  it('are not mentioned in an interrupt for an agent without them', async () => {
    proves('tasks:without-tools');
    await using office = await Office.open('');
    const { person } = office;
    const agent = await office.agent('s1');
    await person.createTask({ title: 'Fix the login', assignee: 'coder' });
    await person.moveTask('t1', { status: 'in_progress' });
    expect((await agent.call('echo', { text: 'on it' })).text).toBe('on it');
    await person.moveTask('t1', { status: 'blocked', reason: 'wait', author: 'Ann' });
    const refused = await agent.call('echo');
    expect(refused.isError).toBe(true);
    expect(refused.text).toContain('Task t1 "Fix the login" is blocked: wait');
    expect(refused.text).toContain('instruction from Ann: “Stop the current work and say where you stopped.”');
    const pulled = await agent.does('get_notifications');
    expect(pulled).toMatchObject({
      notifications: [{ type: 'interrupt', task_id: 't1', instruction: 'Stop the current work and say where you stopped.' }],
    });
    for (const told of [refused.text, JSON.stringify(pulled)]) for (const tool of BOTH) expect(told).not.toContain(tool);
    expect((await agent.call('echo', { text: 'free' })).text).toBe('free');
    // The session with the tools reports. Each of the two sessions was notified once.
    const later = await office.agent('s2');
    expect(await later.does('get_next_action')).toMatchObject({
      action: 'stop',
      instruction: 'Stop the current work and call report_completed(result="blocked", task_id="t1").',
    });
    expect(await later.does('report_completed', { result: 'blocked', summary: 'x' })).toMatchObject({
      already_interrupted: true,
    });
    expect(await person.task('t1')).toMatchObject({ status: 'blocked', execution: { result: 'blocked' } });
    // In a shell of the working session, Earpiece knows that the model of this session has the task tools. The other session gets
    // nothing.
    await person.createTask({ title: 'Another', assignee: 'coder' });
    await later.does('get_next_action');
    await person.moveTask('t2', { status: 'cancelled' });
    for (const [session, asked] of [
      ['s1', 'no unread notifications'],
      ['s2', 'call report_completed'],
    ])
      expect((await office.run(['inbox'], { env: { EARPIECE_ADDRESS: `shop/coder#${session}` } })).stdout).toContain(asked);
  });

  it('are always offered with gateway.tasks = true, and never with gateway.tasks = false', async () => {
    await using off = await Office.open('[gateway]\ntasks = false\n');
    await off.person.createTask({ title: 'x' });
    expect(await (await off.agent()).tools()).not.toContain('get_next_action');
    await using on = await Office.open('[gateway]\ntasks = true\n');
    expect(await (await on.agent()).tools()).toEqual(['echo', 'fail', 'get_notifications', ...BOTH]);
  });

  it('are renamed if a server has tools with these names', async () => {
    await using office = await Office.open();
    const file = join(office.folder, 'server.mjs');
    writeFileSync(file, NAMESAKE);
    const { Client } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const client = new Client({ name: 'some-agent', version: '1' });
    const env = office.env({ EARPIECE_ADDRESS: 'shop/coder#s2' });
    const args = [CLI, 'gateway', '--', process.execPath, file];
    await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: office.folder, env }));
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([
        'report_completed',
        'get_notifications',
        'get_next_action',
        'earpiece_report_completed',
      ]);
      const theirs = await client.callTool({ name: 'report_completed', arguments: {} });
      expect(theirs.content).toEqual([{ type: 'text', text: 'theirs' }]);
      const ours = await client.callTool({
        name: 'earpiece_report_completed',
        arguments: { result: 'success', summary: 'x' },
      });
      expect(JSON.stringify(ours.content)).toContain('works on no task');

      // Every text of Earpiece uses the name with the prefix.
      const { person } = office;
      const called = async (name: string, given: Readonly<Record<string, unknown>> = {}): Promise<string> =>
        textIn(await client.callTool({ name, arguments: given }));
      const described = (await client.listTools()).tools.find(({ name }) => name === 'get_next_action')?.description;
      expect(described).toContain('after each earpiece_report_completed.');
      await person.createTask({ title: 'Say report_completed', assignee: 'coder' });
      expect(await called('get_next_action')).toContain('Do this task, then call earpiece_report_completed.');
      await person.moveTask('t1', { status: 'blocked', reason: 'wait', author: 'Ann' });
      const asked = 'Stop the current work and call earpiece_report_completed(result=';
      expect(await called('report_completed')).toContain(asked);
      expect(await called('get_notifications')).toContain(asked);
      expect(await called('get_next_action')).toContain(asked);
      expect(await called('earpiece_report_completed')).toContain('earpiece_report_completed needs result');
      expect(await called('earpiece_report_completed', { result: 'blocked', summary: 'x' })).toContain('Already interrupted');
    } finally {
      await client.close();
    }
  });

  it('report the error of a wrong call, and change nothing', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    const head = await office.ear.store.head();
    for (const [args, refused] of [
      [{ result: 'success' }, 'report_completed needs summary, a sentence on what was done or what blocks the task'],
      [{ summary: 'x' }, 'report_completed needs result (success, failed, blocked)'],
      [{ result: 'sucess', summary: 'x' }, 'result "sucess" must be one of success, failed, blocked; did you mean success?'],
      [{ result: 'success', summary: ' ' }, 'summary has 0 characters; write 1 to 4000 about the finished work or the obstacle'],
      [{ result: 'success', summary: 7 }, 'summary 7 must be a text'],
      [
        { result: 'success', summary: 'x', task: 't1' },
        'report_completed has no argument "task"; valid arguments: result, summary, task_id and session_token',
      ],
      [
        { result: 'success', summary: 'x', task_id: 't9' },
        'there is no task "t9" in project shop; to see the open tasks, run: earpiece tasks list',
      ],
    ] as const)
      expect(await agent.does('report_completed', args)).toEqual({ refused });
    expect(await agent.does('get_next_action', { wait: '5' })).toEqual({
      refused: 'get_next_action has no argument "wait"; valid arguments: session_token',
    });
    expect(await office.ear.store.head()).toBe(head);
  });

  it('count an argument that is null as left out', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    const report = { result: 'success', summary: 'done', task_id: null, session_token: null };
    expect(await agent.does('get_notifications', { mark_as_read: null, session_token: null })).toMatchObject({ success: true });
    expect(await agent.does('report_completed', report)).toMatchObject({ success: true, tasks: [{ id: 't1', status: 'done' }] });
  });

  it('accept one report: a second report changes nothing, and its answer says so', async () => {
    proves('tasks:executions');
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    const report = { result: 'success', summary: 'done' };
    expect(await agent.does('report_completed', report)).toEqual({
      success: true,
      tasks: [{ id: 't1', status: 'done' }],
      message: 'The report is recorded.',
      instruction: 'Call get_next_action for the next task.',
    });
    const before = await office.person.task('t1');
    expect(await agent.does('report_completed', report)).toMatchObject({
      refused: expect.stringContaining('shop/coder#s1 works on no task, so there is nothing to report') as string,
    });
    expect(await agent.does('report_completed', { ...report, result: 'failed', task_id: 't1' })).toEqual({
      refused:
        'coder has nothing to report about task t1 "Fix the login": t1.1 has already ended as success; nothing was changed',
    });
    expect(await office.person.task('t1')).toEqual(before);
  });

  it('act for their own conversation only', async () => {
    proves('tasks:purpose');
    await using office = await Office.open();
    const agent = await office.agent('s1');
    await office.working(agent);
    const other = await office.agent('s2');
    const tester = await office.agent('s1', { agent: 'tester' });
    const report = { result: 'success', summary: 'x' };
    expect(await other.does('report_completed', { ...report, task_id: 't1' })).toEqual({
      refused: 'coder#s1 works on task t1 "Fix the login"; only that conversation can report it, not coder#s2',
    });
    expect(await tester.does('report_completed', { ...report, task_id: 't1' })).toEqual({
      refused:
        'tester has nothing to report about task t1 "Fix the login": the task is in_progress and assigned to coder; nothing was changed',
    });
    for (const [who, own] of [
      [other, 'shop/coder#s2'],
      [tester, 'shop/tester#s1'],
    ] as const)
      for (const [tool, args] of [
        ['report_completed', report],
        ['get_next_action', {}],
      ] as const)
        expect(await who.does(tool, { ...args, session_token: 'shop/coder#s1' })).toEqual({
          refused: `session_token "shop/coder#s1" is not the token of ${own}, the conversation of this connection; leave session_token out`,
        });
    expect(await office.person.task('t1')).toMatchObject({ status: 'in_progress', execution: { endedAt: null } });
    // An agent cannot use its own address as a token.
    expect(await agent.does('report_completed', { ...report, session_token: 'shop/coder#s1' })).toMatchObject({
      refused: expect.stringContaining('is not the token of shop/coder#s1') as string,
    });
    expect(await agent.does('report_completed', report)).toMatchObject({ success: true });
  });

  it('accept a session_token if the connection has no conversation', async () => {
    proves('address:tokens');
    await using office = await Office.open();
    await using front = await HttpGateway.start(office, { EARPIECE_ADDRESS: '' });
    const client = await front.client();
    const does = async (name: string, args: object = {}): Promise<object> => {
      const { content, isError } = await client.call(name, args);
      return isError ? { refused: content[0]?.text } : (JSON.parse(content[0]?.text ?? '') as object);
    };
    await office.person.createTask({ title: 'Fix the login', assignee: 'coder' });
    expect(await does('get_next_action')).toMatchObject({ action: 'none' });
    const worker = office.ear.conversation('shop/coder#s1', { purpose: 'task' });
    const talker = office.ear.conversation('shop/coder#c1', { purpose: 'chat' });
    await worker.seen();
    await talker.seen();
    for (const session_token of ['shop/coder#s1', 'coder', `st_${'A'.repeat(32)}`])
      expect(await does('get_next_action', { session_token })).toMatchObject({
        refused: expect.stringContaining('is not known') as string,
      });
    const token = { session_token: await sessionTokenOf(office.ear.store, worker) };
    expect(await does('get_next_action', token)).toMatchObject({ action: 'work', task: { id: 't1' } });
    const report = { result: 'success', summary: 'x' };
    const talking = { session_token: await sessionTokenOf(office.ear.store, talker) };
    expect(await does('report_completed', { ...report, ...talking })).toEqual({
      refused: 'shop/coder#c1 is for chat; only conversations with the purpose task take and report tasks',
    });
    expect(await does('report_completed', { ...report, ...token })).toMatchObject({ success: true });
  });

  it('a failed task waits for a person, so that no agent repeats it forever', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await agent.does('report_completed', { result: 'failed', summary: 'no compiler here' });
    expect(await office.person.task('t1')).toMatchObject({
      status: 'blocked',
      blockedReason: 'failed: no compiler here',
      execution: { result: 'failed', exitCode: 1 },
    });
    expect(await agent.does('get_next_action')).toEqual({
      action: 'none',
      message: 'There is nothing to do.',
      blocked: ['t1'],
      instruction: 'End work.',
    });
    await office.person.moveTask('t1', { status: 'in_progress' });
    expect(await agent.does('get_next_action')).toMatchObject({ action: 'work', execution: 't1.2' });
  });

  it('name an unread interrupt of any kind before they give a task, and do not mark it as read', async () => {
    await using office = await Office.open();
    const agent = await office.agent();
    await office.working(agent);
    await office.ear.queue('shop/coder#s1', { id: 'stop', action: 'pause', message: 'hold on', instruction: 'wait for me' });
    for (let i = 0; i < 2; i++)
      expect(await agent.does('get_next_action')).toMatchObject({
        action: 'get_notifications',
        interrupts: [{ message: 'hold on', instruction: 'wait for me' }],
      });
    expect((await office.ear.why('stop'))?.items[0]?.receipt).toBe('queued');
    expect((await agent.call('echo')).isError).toBe(true);
    await agent.does('get_notifications');
    // A pause holds even after the agent has read the pause: the agent gets no work before a person lifts the pause.
    expect(await agent.does('get_next_action')).toEqual({
      action: 'paused',
      message:
        'This conversation is paused until a person lifts the pause, with `earpiece resume shop/coder#s1` or in the console.',
      instruction: 'Finish your turn.',
    });
    await office.ear.resume('shop/coder#s1', { person: 'Ann' });
    expect(await agent.does('get_next_action')).toMatchObject({ action: 'work', resumed: true });
  });
});

/** A server with a tool of the same name. */
const NAMESAKE = `import { createInterface } from 'node:readline';
const say = (frame) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...frame }) + '\\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize')
    say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } } });
  else if (method === 'tools/list') say({ id, result: { tools: [{ name: 'report_completed', inputSchema: { type: 'object' } }] } });
  else if (method === 'tools/call') say({ id, result: { content: [{ type: 'text', text: 'theirs' }] } });
  else say({ id, result: {} });
});
`;
