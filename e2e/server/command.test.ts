/** Tests `earpiece serve` and `earpiece token`, as a person uses them. */
import { spawnSync } from 'node:child_process';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { createClient } from '../../src/wire/client/index.ts';
import { CLI } from '../built.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';
import { ServerProcess } from './process.ts';
import { onSocket, statusOf } from './raw.ts';

verifies(
  'server:command',
  'earpiece serve prints a URL that logs one browser in; the session survives a restart',
  async () => {
    await using shell = new Shell();
    const at = { cwd: shell.folder, env: shell.env() };
    const first = new ServerProcess(['--port', '0'], at);
    const { url, login } = await first.ready;
    expect(login).toMatch(new RegExp(`^${url}/#code=[\\w-]{22}$`, 'u'));
    const logIn = (address: string): Promise<Response> =>
      fetch(`${new URL(address).origin}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: url },
        body: JSON.stringify({ code: new URL(address).hash.slice('#code='.length) }),
      });
    const answer = await logIn(login);
    expect(await answer.json()).toMatchObject({ who: { kind: 'admin', session: true }, project: 'shop' });
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    expect((await logIn(login)).status).toBe(401);
    const [{ login: another }] = (await shell.json(['token', 'login', '--url', url])) as [{ login: string }];
    expect((await logIn(another)).status).toBe(200);
    // A browser gets the console, or a text if the console was not built.
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('x-frame-options')]).toEqual([200, 'DENY']);

    first.kill('SIGINT');
    expect(await first.ended).toEqual({ code: 0, signal: null });
    await using second = new ServerProcess(['--port', new URL(url).port], at);
    await second.ready;
    expect((await fetch(`${url}/api/session`, { headers: { cookie } })).status).toBe(200);
  },
  60_000,
);

verifies(
  'server:command',
  'earpiece serve prints its URL, its database and the next step for people',
  async () => {
    await using shell = new Shell();
    const running = shell.begin(['serve', '--port', '0', '--verbose']);
    await running.shows('Ctrl+C stops the server');
    running.process.kill('SIGTERM');
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(
      stdout.split('\n').map((line) =>
        line
          .replace(/:\d+\/#code=.*$/u, ':…/#code=…')
          .replace(/(?<=browser: ).*(?= --db)/u, 'earpiece')
          .replace(/:\d+$/u, ':…')
          .replace(shell.db, '{db}'),
      ),
    ).toEqual([
      'http://127.0.0.1:…/#code=…',
      'This URL logs in one browser, once, within ten minutes. For another browser: earpiece --db {db} token login --url http://127.0.0.1:…',
      'sqlite {db} · programs need a token: earpiece token create · Ctrl+C stops the server',
      '',
    ]);
  },
  60_000,
);

verifies(
  'server:command',
  'if a token exists, the server may listen on all IP addresses, and accepts every IP address and the given names as Host',
  async () => {
    await using shell = new Shell();
    await shell.says(['token', 'create', '--kind', 'project', '--name', 'ci', '--json']);
    await using server = new ServerProcess(
      ['--host', '0.0.0.0', '--port', '0', '--no-console', '--allow-host', 'agents.example'],
      {
        cwd: shell.folder,
        env: shell.env(),
      },
    );
    const { url } = await server.ready;
    const at = `http://127.0.0.1:${new URL(url).port}`;
    const under = async (host: string): Promise<number> =>
      statusOf((await onSocket(at, [`GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`])).text);
    expect(
      await Promise.all(['127.0.0.1', '10.1.2.3:80', '[::1]:80', hostname(), 'agents.example', 'localhost'].map(under)),
    ).toEqual(Array.from({ length: 6 }, () => 200));
    expect(await Promise.all(['evil.example', 'agents.example.evil.example', '10.1.2.3.evil.example'].map(under))).toEqual([
      421, 421, 421,
    ]);
  },
  60_000,
);

it('the server ignores untrusted webhooks of the project, and names them on stderr', async () => {
  proves('server:command');
  await using shell = new Shell('[webhooks.gh]\nkind = "github"\nto = "shop/coder"\nsecret_env = "GH"\n');
  const at = { cwd: shell.folder, env: shell.env({ GH: 'a secret of github' }) };
  await using server = new ServerProcess(['--port', '0', '--no-console'], at);
  await server.ready;
  expect(server.stderr.replace(shell.folder, '{folder}')).toBe(
    'earpiece: webhooks.gh (accepts webhooks for shop/coder) of {folder}/earpiece.toml is not trusted and is ignored; read the file, then run: earpiece trust\n',
  );
}, 60_000);

// The server waits 5 s for the lock, so this test runs in parallel with the next test.
it.concurrent('the server stops listening and ends if it cannot write the log at its start', async () => {
  proves('server:command');
  await using shell = new Shell();
  await shell.open();
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const holder = new DatabaseSync(shell.db);
  holder.exec('BEGIN IMMEDIATE');
  await using server = new ServerProcess(['--port', '0', '--no-console'], { cwd: shell.folder, env: shell.env() });
  expect(await server.ended).toEqual({ code: 6, signal: null });
  holder.close();
  expect(server.stderr).toMatch(/^earpiece: the database .* stayed locked by another process for \d+ ms: [^\n]+\n$/u);
}, 60_000);

it.concurrent('tokens are created for scripts, listed for people, and revoked', async () => {
  proves('server:command', 'cli:commands');
  await using shell = new Shell();
  expect(await shell.says(['token', 'list'])).toBe(
    'there is no token; to create a token: earpiece token create --kind admin --name <name>\n',
  );
  const { stdout, stderr } = await shell.run([
    'token',
    'create',
    '--kind',
    'agent',
    '--name',
    'worker',
    '--agent',
    'coder#a1',
    '--expires',
    '90d',
  ]);
  expect(stdout).toMatch(/^ep_[0-9a-z]{12}_[0-9a-z]{40}\n$/u);
  const id = stdout.slice(3, 15);
  expect(stderr).toBe(`${id}, for shop/coder#a1; the token is not shown again\n`);
  const [made] = await shell.json(['token', 'create', '--kind', 'send', '--name', 'ci']);
  expect(made).toMatchObject({ kind: 'send', name: 'ci', project: 'shop', agent: null, session: false });
  const list = await shell.says(['token', 'list']);
  expect(list).toMatch(new RegExp(`^${id} +agent +worker +shop/coder#a1 +never +\\d{4}-\\d{2}-\\d{2}$`, 'mu'));
  expect(list).toMatch(/ send +ci +shop +never +when revoked$/mu);
  expect(list).not.toContain(stdout.trim().slice(-40));
  expect(await shell.says(['token', 'revoke', id])).toBe(`${id} is revoked\n`);
  expect(await shell.json(['token', 'list'])).toMatchObject([{ name: 'ci' }]);
}, 60_000);

it('an agent token works like a session_token: it reads and marks its own notifications, and sends messages to other agents', async () => {
  proves('server:tokens');
  await using shell = new Shell();
  const ear = await shell.open();
  const token = (
    await shell.run(['token', 'create', '--kind', 'agent', '--name', 'worker', '--agent', 'coder#a1'])
  ).stdout.trim();
  await using server = new ServerProcess(['--port', '0', '--no-console'], { cwd: shell.folder, env: shell.env() });
  const client = createClient({ url: (await server.ready).url, token });
  await ear.queue('shop/coder#a1', { id: 'mine', level: 'critical', message: 'x' });
  await ear.queue('shop/coder#b2', { id: 'other', message: 'y' });
  expect((await client.notifications({ state: 'open' })).items.map(({ id }) => id)).toEqual(['mine']);
  expect(await client.read('mine')).toMatchObject({ reached: false });
  expect(await ear.conversation('shop/coder#a1').gate()).toEqual([]);
  expect((await client.queue({ to: 'shop/writer', level: 'critical', message: 'help' })).kind).toBe('queued');
  expect((await ear.open('shop/writer'))[0]?.notification).toMatchObject({
    level: 'error',
    origin: { agent: 'shop/coder', depth: 1 },
  });
}, 60_000);

it('an agent token is for the agent of --project, and a contradiction of --project and --agent is refused', async () => {
  proves('server:tokens');
  await using shell = new Shell();
  const create = ['token', 'create', '--kind', 'agent', '--name', 'w'];
  const placed = async (...args: string[]) => {
    const [{ project, agent, conversation } = {}] = await shell.json([...create, ...args]);
    return { project, agent, conversation };
  };
  expect(await placed('--project', 'pa', '--agent', 'a1#c1')).toEqual({ project: 'pa', agent: 'a1', conversation: 'c1' });
  expect(await placed('--project', 'pa', '--agent', 'pa/a1')).toEqual({ project: 'pa', agent: 'a1', conversation: null });
  expect(await placed('--agent', 'pb/a1')).toEqual({ project: 'pb', agent: 'a1', conversation: null });
  expect(await placed('--agent', 'a1')).toEqual({ project: 'shop', agent: 'a1', conversation: null });
  expect(await shell.run([...create, '--project', 'pa', '--agent', 'pb/a1'])).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'earpiece: --agent "pb/a1" is not in the project of --project "pa"; leave --project out, or name an agent of that project\n',
  });
}, 60_000);

it("earpiece help token loads none of the server's modules", () => {
  proves('server:command');
  const hook = `import { registerHooks } from 'node:module';
    registerHooks({ resolve: (name, context, next) => {
      const found = next(name, context);
      if (/node_modules\\/(hono|@hono|zod|@asteasolutions)\\//.test(found.url)) process.stderr.write(found.url + '\\n');
      return found;
    } });`;
  const { stderr, stdout, status } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, CLI, 'help', 'token'],
    { encoding: 'utf8' },
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('login');
});
