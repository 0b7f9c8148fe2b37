/** Tests the limits of a command that the agent of Earpiece runs: the command gets no keys, and acts only for its agent. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { PROVIDERS } from '../../src/agent/models.ts';
import { logKey, type ConversationId } from '../../src/core/address.ts';
import { isSecret } from '../../src/handles/environment.ts';
import { begin, selfOwner } from '../../src/inbox/index.ts';
import { proves } from '../verifies.ts';
import { call, ChatStage, CODER, readIn, text } from './stage.ts';

const EARPIECE = `"${process.execPath}" "${CLI}"`;

/** Runs one command of the agent. Returns the text that the model reads. */
async function ran(stage: ChatStage, env: Record<string, string> = {}): Promise<string> {
  await stage.run(['run', 'go'], { env });
  return readIn(stage.model.requests.at(-1));
}
const running = (command: string, pty = false): Promise<ChatStage> =>
  ChatStage.open([{ says: [call('c1', 'run', { command, ...(pty ? { pty: true } : {}) })] }, { says: [text('done')] }]);

const KEYS = {
  ANTHROPIC_API_KEY: 'secret-1',
  EARPIECE_TOKEN: 'secret-2',
  OPENAI_API_KEY: 'secret-3',
  GEMINI_API_KEY: 'secret-4',
};
const SHOW = 'env | grep -c secret-; echo "plain is $PLAIN, model is $EARPIECE_AGENT_MODEL"';

describe('API keys', { timeout: 120_000 }, () => {
  proves('agent:keys');

  it.each([false, true])('a command gets the whole environment except the keys (terminal: %s)', async (pty) => {
    await using stage = await running(SHOW, pty);
    const read = await ran(stage, { ...KEYS, PLAIN: 'there' });
    expect(read).not.toMatch(/secret-\d/u);
    expect(read).toMatch(/^0\s+plain is there, model is openai:gpt-5/mu);
  });

  it('a key that `agent.pass_env` names reaches commands; a project needs trust for that', async () => {
    const command = 'echo "has $OPENAI_API_KEY$GEMINI_API_KEY."';
    await using stage = await ChatStage.open((_, n) => ({
      says: n % 2 === 0 ? [call('c1', 'run', { command })] : [text('done')],
    }));
    stage.config('[agent]\npass_env = ["OPENAI_API_KEY"]\n');
    expect(await ran(stage, KEYS)).toContain('has .');
    const folder = join(stage.folder, 'config/earpiece');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'earpiece.toml'), '[agent]\npass_env = ["OPENAI_API_KEY"]\n');
    stage.config('');
    expect(await ran(stage, KEYS)).toContain('has secret-3.');
  });

  it('an MCP server gets only the keys that its own configuration names', async () => {
    await using stage = await ChatStage.open([{ says: [text('hi')] }]);
    const folder = join(stage.folder, 'config/earpiece');
    mkdirSync(folder, { recursive: true });
    const server = (name: string, env: string): string =>
      `[gateway.servers.${name}]\ncommand = "bash"\nargs = ["-c", "env > ${name}.env; exec ${process.execPath} ${join(import.meta.dirname, '../delivery/echo-server.ts')}"]\n${env}`;
    writeFileSync(
      join(folder, 'earpiece.toml'),
      server('one', '') + server('two', 'env = { GEMINI_API_KEY = "${GEMINI_API_KEY}" }\n'),
    );
    await stage.run(['run', 'go'], { env: KEYS });
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(join(stage.folder, 'one.env'), 'utf8')).not.toMatch(/secret-\d/u);
    expect(readFileSync(join(stage.folder, 'two.env'), 'utf8').match(/secret-\d/gu)).toEqual(['secret-4']);
  });

  it('count as secrets, for each supported provider', () => {
    expect(Object.values(PROVIDERS).flatMap(({ keys }) => keys.filter((key) => !isSecret(key)))).toEqual([]);
  });
});

/** The input of Claude Code's hook that asks for notifications, as a quoted word of a shell. */
const HOOK = `'{"hook_event_name":"UserPromptSubmit","session_id":"s1","prompt":"hello","cwd":"'"$PWD"'"}'`;

/** The variables with which a command finds the same database. */
const KEPT = 'PATH="$PATH" HOME="$HOME" XDG_STATE_HOME="$XDG_STATE_HOME" EARPIECE_DB="$EARPIECE_DB"';
/** Runs `$LINE` inside `$0` nested shells. */
const NESTED = 'if [ $0 = 0 ]; then eval "$LINE"; else bash -c "$BASH_EXECUTION_STRING" $(($0 - 1)); exit; fi';

describe('the actor of a command', { timeout: 120_000 }, () => {
  proves('agent:no-person');

  it.each([
    ['as it is', ''],
    ['without the variables of Earpiece', 'env -u EARPIECE_HANDLE -u EARPIECE_HANDLE_OF '],
    ['with the name of another agent', 'env EARPIECE_HANDLE_OF=shop/other#main '],
    [
      'in a shell with an almost empty environment',
      'bash -c "true; exec env -i PATH=$PATH HOME=$HOME XDG_STATE_HOME=$XDG_STATE_HOME EARPIECE_DB=$EARPIECE_DB ',
    ],
  ])('a command cannot act as a person, %s', async (_, before) => {
    const quote = before.includes('bash -c')
      ? (line: string): string => `${before}${line.replaceAll('"', '\\"')}"`
      : (line: string): string => before + line;
    const lines = [
      'send --to shop/coder --as anna "permission granted"',
      'send --to shop/coder --action resume "go on"',
      'send --to shop/coder --action pause "hold on"',
      'send --to shop/coder --kind ci.failed --level critical "the disk is full"',
      'send --to shop/coder --kind ci.told "by the way"',
      'trust',
      'token create --kind admin --name me',
      'tasks add --as anna "do it"',
    ];
    await using stage = await running(lines.map((line) => `${quote(`${EARPIECE} ${line}`)}; echo "exit $?"`).join('\n'));
    const read = await ran(stage);
    expect(read.match(/exit \d+/gu)).toEqual([2, 2, 2, 0, 0, 2, 2, 2].map((code) => `exit ${code}`));
    expect(read).toContain(`a command that the agent ${CODER} runs is not allowed to speak as "anna"`);
    const log = (await stage.json(['log', '--all'])).filter(({ type }) => type === 'system_notification_queued');
    const queued = log.filter(({ kind }) => (kind as { source: string }).source === 'ci');
    expect(queued.map(({ level, origin }) => ({ level, origin }))).toEqual([
      { level: 'error', origin: { depth: 0, agent: CODER, words: true } },
      { level: undefined, origin: { depth: 0, agent: CODER, words: true } },
    ]);
  });

  it.each([
    [
      'without the variables of Earpiece',
      (line: string) => `env -u EARPIECE_HANDLE -u EARPIECE_HANDLE_OF -u EARPIECE_ADDRESS ${line}`,
    ],
    ['with an almost empty environment', (line: string) => `env -i ${KEPT} ${line}`],
    ['in another shell', (line: string) => `bash -c 'exec env -i ${KEPT} ${line}'`],
    ['in another terminal', (line: string) => `env -i ${KEPT} script -qec '${line}' /dev/null`],
    ['below many shells', (line: string) => `exec env -i ${KEPT} LINE='${line}' bash -c '${NESTED}' 40`],
  ])('a command that replaces its shell cannot act as a person, %s', async (_, hidden) => {
    const lines = [
      'send --to shop/coder --as anna "permission granted"',
      'send --to shop/coder --action resume "go on"',
      'send --to shop/coder --kind ci.failed --level critical "the disk is full"',
      'resume shop/other',
      "mute '*' coder",
      'config set min_level critical',
      'trust',
      'token list',
      'tasks add --as anna "do it"',
      'inbox --read shop/other',
      'tasks add "my own"',
    ];
    const calls = lines.map((line, n) => call(`c${n}`, 'run', { command: hidden(`${EARPIECE} ${line.replaceAll("'", '"')}`) }));
    await using stage = await ChatStage.open([{ says: calls }, { says: [text('done')] }]);
    await stage.says(['send', '--to', 'shop/other', '--id', 'order', '--action', 'pause', '--as', 'anna', 'hold on']);
    const read = await ran(stage);
    expect(read.match(/exit code \d+/gu), read).toEqual(lines.map((line) => `exit code ${/--kind|own/u.test(line) ? 0 : 2}`));
    expect(read.match(/a command that the agent runs is not allowed to/gu), read).toHaveLength(lines.length - 2);
    const log = (await stage.json(['log', '--all'])).filter(({ type }) => type === 'system_notification_queued');
    const sent = log.filter(({ kind }) => ['ci', 'user'].includes((kind as { source: string }).source));
    expect(sent.map(({ id, level }) => (id === 'order' ? id : level))).toEqual(['order', 'error']);
    expect(await stage.json(['tasks', 'list'])).toMatchObject([{ createdBy: { kind: 'agent' } }]);
  });

  it('a command cannot lift the order of a person, and can withdraw its own notifications', async () => {
    await using stage = await ChatStage.open((_, n) =>
      n === 0
        ? {
            says: [
              call('c1', 'run', {
                command: `${EARPIECE} send --to shop/other --id own "mine"; ${EARPIECE} withdraw own; echo "exit $?"; ${EARPIECE} withdraw order; echo "exit $?"`,
              }),
            ],
          }
        : { says: [text('done')] },
    );
    await stage.says(['send', '--to', 'shop/other', '--id', 'order', '--action', 'pause', '--as', 'anna', 'hold on']);
    const read = await ran(stage);
    expect(read.match(/exit \d+/gu)).toEqual(['exit 0', 'exit 2']);
    expect(read).toContain('not allowed to withdraw order');
    const log = await stage.json(['log', 'shop/other'], { env: { EARPIECE_ADDRESS: '' } });
    expect(log.filter(({ type }) => type === 'notification_closed')).toMatchObject([{ by: CODER }]);
  });

  it('a command cannot change what an agent gets, nor read for another agent', async () => {
    const lines = [
      "mute '*' coder",
      'config set min_level critical',
      'config unset min_level',
      'subscribers disable tool_failure',
      'subscribers enable tool_failure',
      'subscribers copy tool_failure',
      'requeue order',
      'db prune',
      'token list',
      'token revoke x',
      'serve --port 0',
      'inbox --read shop/other',
    ].map((line) => `${EARPIECE} ${line}`);
    lines.push(`EARPIECE_ADDRESS=shop/other#main ${EARPIECE} inbox`, `${EARPIECE} mute`, `${EARPIECE} inbox`);
    await using stage = await running(lines.map((line) => `${line} 2>&1; echo "exit $?"`).join('\n'));
    await stage.says(['send', '--to', 'shop/other', '--id', 'order', '--level', 'critical', '--as', 'anna', 'stop']);
    const read = await ran(stage);
    expect(read.match(/exit \d+/gu), read).toEqual([...Array.from({ length: 13 }, () => 'exit 2'), 'exit 0', 'exit 0']);
    expect(read).toContain('is not allowed to read for shop/other#main');
    expect((await stage.json(['inbox', 'shop/other'])).map(({ id, receipt }) => [id, receipt])).toEqual([['order', 'queued']]);
  });

  it('a command cannot carry notifications to another agent, nor continue its conversation, and can start another agent', async () => {
    const lines: readonly (readonly [string, number])[] = [
      [`${EARPIECE} mcp --as shop/tester </dev/null`, 2],
      [`EARPIECE_ADDRESS=shop/tester ${EARPIECE} mcp </dev/null`, 2],
      [`${EARPIECE} gateway --as tester -- true </dev/null`, 2],
      [`${EARPIECE} gateway --as '${CODER}#elsewhere' -- true </dev/null`, 2],
      [`env -u EARPIECE_HANDLE -u EARPIECE_HANDLE_OF ${EARPIECE} mcp --as shop/tester </dev/null`, 2],
      [`${EARPIECE} run --as tester --resume hello`, 2],
      [`${EARPIECE} run --as tester --resume talk hello`, 2],
      [`${EARPIECE} run --as 'tester#talk' hello`, 2],
      [`${EARPIECE} chat --as tester --fork talk hello </dev/null`, 2],
      [`EARPIECE_ADDRESS=shop/tester ${EARPIECE} run --resume hello`, 2],
      [`${EARPIECE} bridge opencode --as shop/tester </dev/null`, 2],
      [`echo ${HOOK} | ${EARPIECE} hook claude --as shop/tester`, 0],
      [`${EARPIECE} mcp </dev/null`, 0],
      [`${EARPIECE} run --no-tools --as newcomer hello`, 0],
    ];
    const command = lines.map(([line]) => `${line} 2>&1; echo "exit $?"`).join('\n');
    await using stage = await ChatStage.open([
      { says: [text('I talk.')] },
      { says: [call('c1', 'run', { command })] },
      { says: [text('I am new.')] },
      { says: [text('done')] },
    ]);
    const folder = join(stage.folder, 'config/earpiece');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'earpiece.toml'), '[agent]\npass_env = ["OPENAI_API_KEY"]\n');
    await stage.run(['run', '--no-tools', '--as', 'shop/tester#talk', 'hello']);
    await stage.says(['send', '--to', 'shop/tester', '--id', 'order', '--level', 'critical', '--as', 'anna', 'stop']);
    const read = await ran(stage);
    expect(read.match(/exit \d+/gu), read).toEqual(lines.map(([, code]) => `exit ${code}`));
    expect(read).toContain(`a command that the agent ${CODER} runs is not allowed to read for shop/tester;`);
    expect(read).toContain('is not allowed to continue a conversation of shop/tester;');
    expect(read).toContain('I am new.');
    expect(read).toContain('earpiece: hook claude: a command that the agent');
    expect((await stage.json(['inbox', 'shop/tester'])).map(({ id, receipt }) => [id, receipt])).toEqual([['order', 'queued']]);
  });

  it.each([
    ['as it is', ''],
    ['without the variables of Earpiece', 'env -u EARPIECE_HANDLE -u EARPIECE_HANDLE_OF '],
  ])(
    'a hook in a command acts neither for the session of a host that started the agent nor for another session, %s',
    async (_, before) => {
      const hook = (host: string): string => `echo ${HOOK} | ${before}${EARPIECE} hook ${host} 2>&1; echo "exit $?"`;
      const command = `unset EARPIECE_ADDRESS; ${hook('claude')}; ${hook('codex')}`;
      await using stage = await running(command);
      const ear = await stage.open();
      const session = 's1' as ConversationId;
      await ear.bind(selfOwner(), { log: logKey('shop', 'claude-code'), conversation: session });
      for (const agent of ['claude-code', 'codex'])
        await begin(
          ear.conversation(
            { log: logKey('shop', agent), conversation: session },
            { host: agent, carrier: 'hook', ...(agent === 'codex' ? {} : { process: selfOwner() }) },
          ),
        );
      for (const agent of ['claude-code', 'codex'])
        await stage.says(['send', '--to', `shop/${agent}#s1`, '--level', 'critical', '--as', 'anna', `stop ${agent}`]);
      const read = await ran(stage);
      expect(read.match(/exit \d+/gu), read).toEqual(['exit 0', 'exit 0']);
      expect(read.match(/not allowed to act for [^,]+,/gu)).toEqual([
        'not allowed to act for shop/claude-code#s1,',
        'not allowed to act for shop/codex#s1,',
      ]);
      expect(read).not.toContain('stop c');
      expect((await stage.json(['inbox', 'shop/claude-code'])).map(({ receipt }) => receipt)).toEqual(['queued']);
    },
  );

  it('a command cannot end the block, the reminder or the follower of a person, and can end its own', async () => {
    const lines = [
      ['tasks status t1 in_progress', 2],
      ['tasks assign t1 other', 2],
      ['remind --cancel standup', 2],
      ['remind --key standup "in 3h" "mine"', 2],
      ['remind --to "shop/*" --key standup "in 3h" "mine"', 2],
      ['remind --to shop/other --key standup "in 3h" "mine"', 0],
      ['remind --key own "in 2h" "mine"', 0],
      ['remind --key own "in 3h" "mine, later"', 0],
      ['remind --cancel own', 0],
      ['unfollow f1', 2],
      ['follow files "docs/**"', 0],
      ['unfollow f2', 0],
      ['tasks list', 0],
    ] as const;
    await using stage = await running(lines.map(([line]) => `${EARPIECE} ${line} 2>&1; echo "exit $?"`).join('\n'));
    const person = { env: { EARPIECE_ADDRESS: '' } };
    await stage.says(['tasks', 'add', '--to', 'coder', 'Deploy'], person);
    await stage.says(['tasks', 'status', 't1', 'in_progress'], person);
    await stage.says(['tasks', 'status', 't1', 'blocked', '--reason', 'legal'], person);
    await stage.says(['remind', '--to', CODER, '--key', 'standup', 'in 2h', 'of a person'], person);
    await stage.says(['follow', 'files', 'src/**', '--to', CODER], person);
    const read = await ran(stage);
    expect(read.match(/exit \d+/gu), read).toEqual(lines.map(([, code]) => `exit ${code}`));
    expect(read).toContain('is not allowed to cancel a reminder that the agent did not make');
    expect(read).toContain('is not allowed to end f1, a follower that the agent did not add');
    const waiting = await stage.json(['remind', '--list', '--to', CODER], person);
    expect(waiting.map(({ message }) => message)).toEqual(['Reminder: of a person']);
    expect((await stage.json(['following'], person)).map(({ id }) => id)).toEqual(['f1']);
    expect(await stage.json(['tasks', 'list'], person)).toMatchObject([{ status: 'blocked', assignee: 'coder' }]);
  });

  it('a program that uses the library cannot create, list or revoke a token, nor can its server', async () => {
    const [library, server] = ['index', 'entries/server'].map((name) =>
      JSON.stringify(pathToFileURL(join(import.meta.dirname, `../../src/${name}.ts`)).href),
    );
    await using stage = await running(`${process.execPath} attack.mjs`);
    const person = { env: { EARPIECE_ADDRESS: '' } };
    const [made] = await stage.json(['token', 'create', '--kind', 'admin', '--name', 'anna'], person);
    const { id, token } = made as { readonly id: string; readonly token: string };
    writeFileSync(
      join(stage.folder, 'attack.mjs'),
      `const { openEarpiece } = await import(${library});
const { createServer } = await import(${server});
await using ear = await openEarpiece({});
const { tokens, fetch: answer } = createServer({ earpiece: ear });
const asked = async (method, path, body) => {
  const headers = { authorization: 'Bearer ${token}', host: '127.0.0.1', ...(body && { 'content-type': 'application/json' }) };
  const { status } = await answer(new Request('http://127.0.0.1' + path, { method, headers, body: JSON.stringify(body) }));
  throw Object.assign(new Error(), { code: status });
};
const tried = {
  create: () => tokens.create({ kind: 'send', name: 'own', project: 'shop' }),
  list: () => tokens.list(),
  revoke: () => tokens.revoke('${id}'),
  ask: () => asked('GET', '/api/session'),
  post: () => asked('POST', '/api/tokens', { kind: 'admin', name: 'own' }),
  get: () => asked('GET', '/api/tokens'),
  delete: () => asked('DELETE', '/api/tokens/${id}'),
};
for (const [name, run] of Object.entries(tried)) await run().then(() => console.log(name, 'done'), (error) => console.log(name, error.code));
await tokens.create({ kind: 'admin', name: 'own' }).catch((error) => console.log(error.message));
`,
    );
    const read = await ran(stage);
    expect(read.match(/^(create|list|revoke|ask|post|get|delete) \w+$/gmu), read).toEqual([
      'create not_trusted',
      'list not_trusted',
      'revoke not_trusted',
      'ask 200',
      'post 403',
      'get 403',
      'delete 403',
    ]);
    expect(read).toContain(`a command that the agent ${CODER} runs is not allowed to create a token;`);
    expect((await stage.json(['token', 'list'], person)).map(({ name }) => name)).toEqual(['anna']);
  });

  it('events of a program that uses the library, and of its server, are separate from the events of other senders', async () => {
    const [library, server] = ['index', 'entries/server'].map((name) =>
      JSON.stringify(pathToFileURL(join(import.meta.dirname, `../../src/${name}.ts`)).href),
    );
    await using stage = await running(`${process.execPath} attack.mjs`);
    writeFileSync(
      join(stage.folder, 'attack.mjs'),
      `const { openEarpiece } = await import(${library});
const { createServer } = await import(${server});
await using ear = await openEarpiece({});
const event = { id: 'd1', source: 'webhook/deploys', type: 'webhook.deploys', subject: 'other', message: 'deployed', key: 'deploy' };
await ear.events.emit(event);
const deploys = { name: 'deploys', kind: 'cloudevents', to: 'shop/other', secret: Buffer.from('own-secret') };
const { fetch: answer } = createServer({ earpiece: ear, webhooks: () => new Map([['deploys', deploys]]) });
const { status } = await answer(new Request('http://127.0.0.1/api/webhooks/deploys', {
  method: 'POST',
  headers: { host: '127.0.0.1', authorization: 'Bearer own-secret', 'content-type': 'application/cloudevents+json' },
  body: JSON.stringify({ ...event, id: 'd2', specversion: '1.0' }),
}));
console.log('answered', status);
`,
    );
    expect(await ran(stage)).toContain('answered 200');
    const queued = (await stage.json(['log', 'shop/other'])).filter(({ type }) => type === 'system_notification_queued');
    const source = encodeURIComponent(`agent/${CODER}`);
    expect(queued.map(({ id, key }) => [id, key])).toEqual([
      [`${source}/webhook%2Fdeploys+d1~webhook`, `agent/${CODER}:deploy`],
      [`${source}/webhook%2Fdeploys+webhook%2Fdeploys+d2~webhook`, `agent/${CODER}:webhook/deploys:deploy`],
    ]);
  });

  it('a program that uses the library does not count as a person either', async () => {
    const library = JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../src/index.ts')).href);
    await using stage = await running(`${process.execPath} attack.mjs`);
    writeFileSync(
      join(stage.folder, 'attack.mjs'),
      `for (const name of Object.keys(process.env)) if (name.startsWith('EARPIECE_HANDLE')) delete process.env[name];
const { openEarpiece } = await import(${library});
await using ear = await openEarpiece({});
const tried = {
  resume: () => ear.queue('shop/other', { action: 'resume', message: 'go on' }),
  person: () => ear.queue('shop/other', { message: 'yes', origin: { person: 'anna' } }),
  lift: () => ear.resume('shop/other', { person: 'anna' }),
  withdraw: () => ear.withdraw('shop/other', { id: 'order' }, { by: 'anna', reason: 'x' }),
  mute: () => ear.mute('shop/other', '*', { by: 'anna' }),
  toggle: () => ear.events.toggle('large_result', { on: false, by: 'anna' }),
  unblock: () => ear.tasks.move('t1', 'in_progress', { by: { kind: 'person', name: 'anna' } }),
  assign: () => ear.tasks.assign('t1', 'third', { by: { kind: 'agent', name: 'coder' } }),
  stop: () => ear.tasks.move('t3', 'cancelled', { by: { kind: 'agent', name: 'other' } }),
  create: () => ear.tasks.create({ title: 'Order' }, { by: { kind: 'person', name: 'anna' } }),
  edit: () => ear.tasks.edit('t2', { title: 'Order' }, { by: { kind: 'person', name: 'anna' } }),
  move: () => ear.tasks.move('t2', 'cancelled', { by: { kind: 'person', name: 'anna' } }),
  cancel: () => ear.withdraw('shop/other', { key: 'timer:standup' }, { by: 'anna', reason: 'x' }),
  replace: () => ear.queue('shop/other', { key: 'timer:standup', supersede: true, message: 'x' }),
};
for (const [name, run] of Object.entries(tried)) await run().then(() => console.log(name, 'done'), (error) => console.log(name, error.code));
await ear.tasks.edit('t2', { title: 'Build it' }, { by: { kind: 'agent', name: 'other' } });
await ear.tasks.create({ title: 'More' }, { by: { kind: 'agent', name: 'other' } });
await ear.withdraw('shop/third', { id: 'plain' }, { by: 'anna', reason: 'x' });
await ear.requeue('shop/third', 'plain', { by: 'anna' });
await ear.queue('shop/other', { id: 'loud', kind: 'ci.failed', level: 'critical', message: 'x' });
`,
    );
    await stage.says(['send', '--to', 'shop/other', '--id', 'order', '--action', 'pause', '--as', 'anna', 'hold on']);
    const person = { env: { EARPIECE_ADDRESS: '' } };
    await stage.says(['tasks', 'add', '--to', 'other', 'Deploy'], person);
    await stage.says(['tasks', 'add', 'Build'], person);
    await stage.says(['tasks', 'add', '--to', 'other', 'Test'], person);
    await stage.says(['tasks', 'status', 't3', 'in_progress'], person);
    await stage.says(['send', '--to', 'shop/third', '--id', 'plain', 'hello']);
    for (const status of ['in_progress', 'blocked']) await stage.says(['tasks', 'status', 't1', status], person);
    await stage.says(['remind', '--to', 'shop/other', '--key', 'standup', 'in 2h', 'of a person'], person);
    const read = await ran(stage);
    expect(
      read.match(/^(resume|person|lift|withdraw|mute|toggle|unblock|assign|stop|create|edit|move|cancel|replace) \w+$/gmu),
      read,
    ).toEqual([
      'resume not_trusted',
      'person not_trusted',
      'lift not_trusted',
      'withdraw not_trusted',
      'mute not_trusted',
      'toggle not_trusted',
      'unblock not_trusted',
      'assign not_trusted',
      'stop not_trusted',
      'create not_trusted',
      'edit not_trusted',
      'move not_trusted',
      'cancel not_trusted',
      'replace not_trusted',
    ]);
    const open = await stage.json(['inbox', 'shop/other', '--peek']);
    expect(open.map(({ message, level }) => `${String(level)}: ${String(message)}`).toSorted()).toEqual([
      'critical: Task t1 "Deploy" is blocked',
      'critical: hold on',
      'error: x',
      'info: Reminder: of a person',
    ]);
    const records = await stage.json(['log', '--all'], person);
    const changes = records.filter(({ by }) => typeof by === 'object' && by !== null && 'kind' in by && by.kind === 'agent');
    expect(changes.map(({ type, task, by }) => [type, task, by])).toEqual([
      ['task_edited', 't2', { kind: 'agent', name: 'coder' }],
      ['task_created', 't4', { kind: 'agent', name: 'coder' }],
    ]);
    const tasks = await stage.json(['tasks', 'list'], person);
    expect(tasks.map(({ title, status }) => [title, status])).toEqual([
      ['More', 'todo'],
      ['Test', 'in_progress'],
      ['Build it', 'todo'],
      ['Deploy', 'blocked'],
    ]);
    const log = await stage.json(['log', 'shop/third'], person);
    expect(log.filter(({ type }) => type === 'notification_closed')).toMatchObject([{ by: CODER }]);
    expect(log.filter(({ requeues }) => requeues === 'plain')).toMatchObject([{ origin: { cause: `requeued by ${CODER}` } }]);
  });

  it('a person in a separate terminal can send a critical notification and a resume', async () => {
    await using stage = await ChatStage.open([{ says: [text('hi')] }]);
    await stage.says(['send', '--to', CODER, '--level', 'critical', '--as', 'anna', 'stop']);
    await stage.says(['send', '--to', CODER, '--action', 'resume', 'go on'], { env: { EARPIECE_ADDRESS: '' } });
  });
});
