/** Tests that the command line with `--server` prints the same as with the server's database. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/cli/version.ts';
import { makeEvent } from '../../src/core/event.ts';
import type { Conversation } from '../../src/inbox/index.ts';
import { createClient } from '../../src/wire/client/index.ts';
import { proves, verifies } from '../verifies.ts';
import { Shell } from '../cli/shell.ts';
import { Stage } from './stage.ts';

class WithToken extends Shell {
  token = '';

  override env(more: Record<string, string> = {}): Record<string, string> {
    return super.env({ EARPIECE_TOKEN: this.token, ...more });
  }
}

verifies(
  'server:cli',
  async () => {
    await using shell = new Shell();
    await using stage = await Stage.open({ db: shell.db });
    const { token } = await stage.as({ kind: 'project', project: 'shop' });
    const there = ['--server', stage.at.url];
    const as = { env: { EARPIECE_TOKEN: token } };
    const say = (args: readonly string[]): Promise<string> => shell.says([...args, ...there], as);

    const [other, coder] = ['a2', 'a1'].map((name) =>
      stage.inbox.conversation(`shop/coder#${name}`, { host: 'codex', carrier: 'gateway:stdio files' }),
    ) as [Conversation, Conversation];
    await other.seen();
    await coder.seen();
    expect(await say(['send', '--to', 'coder', '--id', 'n1', '--level', 'error', '--kind', 'ci.failed', 'CI failed'])).toBe(
      'n1  queued for shop/coder\n',
    );
    expect(await say(['send', '--to', 'coder', '--id', 'n1', 'again'])).toBe(
      'n1  was already queued for shop/coder; nothing changed\n',
    );
    expect(await say(['send', '--to', 'coder', '--key', 'k', '--id', 'n2', 'x'])).toBe('n2  queued for shop/coder\n');
    expect(await say(['send', '--to', 'coder', '--key', 'k', '--id', 'n3', 'y'])).toBe(
      'n3  counted into n2, which waits for shop/coder\n',
    );
    await say(['send', '--to', 'coder#a1', '--action', 'pause', '--as', 'anna', '--instruction', 'wait', 'hold on']);

    for (const command of [['inbox', '--peek'], ['agents'], ['log', 'coder'], ['log'], ['why', 'n1'], ['why', 'n2', 'coder']]) {
      const [local, remote] = await Promise.all([shell.says(command), say(command)]);
      expect({ command, said: withoutAges(remote) }).toEqual({ command, said: withoutAges(local) });
    }
    const [local, remote] = await Promise.all([shell.says(['log', '--json']), say(['log', '--json'])]);
    expect(remote).toBe(local);

    expect(await shell.says(['agents'])).toMatch(/#a1 .*, paused/);
    // A pause of one conversation does not pause the agent's other conversation.
    for (const listed of [await shell.json(['agents']), await shell.json(['agents', ...there], as)])
      expect(Object.fromEntries(listed.map(({ conversation, paused }) => [conversation, paused]))).toEqual({
        a1: true,
        a2: false,
      });
    await say(['send', '--to', 'coder', '--id', 'n4', '--data', '{"v":3}', 'with data']);
    const [here, away] = await Promise.all([shell.json(['inbox', '--peek']), shell.json(['inbox', '--peek', ...there], as)]);
    expect(here).toContainEqual(expect.objectContaining({ id: 'n4', data: { v: 3 } }));
    expect(away).toEqual(here);

    const offer = await coder.offer({ at: 'tool_result', on: 'read' });
    await offer?.confirm();
    expect(await say(['send', '--to', 'coder', '--id', 'n1', '--wait', 'delivered', 'again'])).toMatch(/; delivered\n$/u);
    const late = await shell.run(['send', '--to', 'coder', '--wait', 'read', '--timeout', '100ms', 'never read', ...there], as);
    expect(late).toMatchObject({ code: 3, stderr: '' });
    expect(late.stdout).toMatch(/; not read within 100ms: the notification is still waiting\n$/u);
  },
  120_000,
);

verifies('server:cli', 'send warns about an agent that the server has never seen, if the token may list agents', async () => {
  await using shell = new Shell();
  await using stage = await Stage.open({ db: shell.db });
  await stage.inbox.conversation('shop/coder#a1', { host: 'codex' }).seen();
  const sentWith = async (kind: 'project' | 'send') => {
    const { token } = await stage.as({ kind, project: 'shop' });
    const args = ['send', '--to', 'codr', '--id', `of-${kind}`, 'x', '--server', stage.at.url];
    return shell.run(args, { env: { EARPIECE_TOKEN: token } });
  };
  expect(await sentWith('project')).toMatchObject({
    stdout: 'of-project  queued for shop/codr\n',
    stderr:
      'earpiece: no agent shop/codr has been seen yet; did you mean shop/coder? To withdraw the notification: earpiece withdraw of-project\n',
  });
  expect(await sentWith('send')).toMatchObject({ stdout: 'of-send  queued for shop/codr\n', stderr: '' });
});

it('log --follow prints the new records of a server', async () => {
  proves('server:cli');
  await using shell = new WithToken();
  await using stage = await Stage.open({ db: shell.db });
  shell.token = stage.token;
  await stage.inbox.queue('shop/coder', { message: 'before' });
  const following = shell.begin(['log', '--follow', '--server', stage.at.url]);
  await following.shows('before');
  await stage.inbox.queue('shop/coder', { message: 'afterwards' });
  await following.shows('afterwards');
  following.process.kill('SIGINT');
  expect(await following.ended).toMatchObject({ code: 0, stderr: '' });
});

it('watch prints the new notifications of a server', async () => {
  proves('server:cli');
  await using shell = new WithToken();
  await using stage = await Stage.open({ db: shell.db });
  shell.token = stage.token;
  await stage.inbox.queue('shop/coder', { message: 'before' });
  const watching = shell.begin(['watch', 'coder', '--server', stage.at.url]);
  // `watch` prints nothing when it starts, so it may miss the first of these notifications.
  const shown = watching.shows('afterwards');
  let seen = false;
  void shown.then(() => (seen = true));
  while (!seen) {
    await stage.inbox.queue('shop/coder', { message: 'afterwards' });
    await Promise.race([shown, stage.inbox.store.changed(await stage.inbox.store.head(), { withinMs: 100 })]);
  }
  watching.process.kill('SIGINT');
  const { stdout, ...ended } = await watching.ended;
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(stdout).not.toContain('before');
});

it('an error of a server gives the exit code of its kind', async () => {
  proves('server:cli', 'cli:exit-codes');
  await using shell = new Shell();
  await using stage = await Stage.open({ db: shell.db });
  const { token } = await stage.as({ kind: 'project', project: 'docs' });
  const run = (args: readonly string[], env: Record<string, string> = { EARPIECE_TOKEN: stage.token }) =>
    shell.run(args, { env });
  expect(await run(['why', 'nope', '--server', stage.at.url])).toEqual({
    code: 7,
    stdout: '',
    stderr: `earpiece: there is no notification "nope"; earpiece log --all --server ${stage.at.url} lists the existing notifications\n`,
  });
  expect(await run(['agents', '--server', stage.at.url], { EARPIECE_TOKEN: 'ep_x' })).toEqual({
    code: 11,
    stdout: '',
    stderr: 'earpiece: EARPIECE_TOKEN: the token is unknown, revoked or expired; create a token with: earpiece token create\n',
  });
  expect((await run(['agents', 'shop', '--server', stage.at.url], { EARPIECE_TOKEN: token })).code).toBe(2);
});

it("an agent name without a project belongs to the token's project, and not to the folder's", async () => {
  proves('server:cli');
  await using shell = new Shell();
  await using stage = await Stage.open({ db: shell.db });
  const { token } = await stage.as({ kind: 'send', project: 'team' });
  const sent = await shell.says(['send', '--to', 'coder', '--id', 'n1', 'hello', '--server', stage.at.url], {
    env: { EARPIECE_TOKEN: token },
  });
  expect(sent).toBe('n1  queued for team/coder\n');
});

it('run-and-tell reports to a server, and keeps the exit code and the output of the command', async () => {
  proves('server:cli', 'sources:processes');
  await using shell = new Shell();
  await using stage = await Stage.open({ db: shell.db, emits: true });
  const { token } = await stage.as({ kind: 'send', project: 'team' });
  const command = ['run-and-tell', '--to', 'coder', '--server', stage.at.url, '--', 'sh', '-c', 'echo out; exit 3'];
  expect(await shell.run(command, { env: { EARPIECE_TOKEN: token } })).toEqual({ code: 3, stdout: 'out\n', stderr: '' });
  const [told] = await stage.inbox.open('team/coder');
  expect(told?.notification).toMatchObject({
    kind: { source: 'process', name: 'failed' },
    data: { exit_code: 3, last_lines: ['out'] },
  });
});

it('run-and-tell names what it could not report, and how to report it later', async () => {
  proves('server:cli', 'sources:processes');
  await using shell = new Shell();
  const ran = await shell.run(['run-and-tell', '--to', 'coder', '--server', 'http://127.0.0.1:9', '--', 'true'], {
    env: { EARPIECE_TOKEN: 'ep_x' },
  });
  expect(ran.code).toBe(0);
  expect(ran.stderr).toMatch(
    /http:\/\/127\.0\.0\.1:9 cannot be reached.*; to send the notification later: earpiece emit .*event\.json\n$/u,
  );
});

it('emit to a server prints the same about each event as without a server', async () => {
  proves('server:cli');
  await using shell = new Shell();
  await using stage = await Stage.open({ db: shell.db, emits: true });
  const { token } = await stage.as({ kind: 'project', project: 'team' });
  const there = { env: { EARPIECE_TOKEN: token } };
  const emit = ['emit', '--to', 'coder', '--server', stage.at.url];
  const input = '{"type":"cli.event","id":"1","message":"up"}\n{"type":"cli.event","id":"2","message":"down"}';
  const two = await shell.run([...emit, '-'], { ...there, input });
  expect(two.stdout).toMatch(
    /^cli\.event {2}every: queued (\S+) for team\/coder\ncli\.event {2}every: queued (?!\1)\S+ for team\/coder\n$/u,
  );
  expect(two).toMatchObject({ code: 0, stderr: '' });
  expect((await stage.inbox.open('team/coder')).map(({ notification }) => notification.message)).toEqual(['up', 'down']);
  const many = Array.from({ length: 101 }, (_, n) => ({ type: 'cli.event', id: `m${n}`, message: `${n}` }));
  const said = await shell.run([...emit, '--json', '-'], { ...there, input: JSON.stringify(many) });
  expect(
    said.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: { id: string } }).event.id),
  ).toEqual(many.map(({ id }) => id));
  await using deaf = await Stage.open({
    db: shell.db,
    emitter: { emit: async (event) => ({ event: makeEvent(event, { id: 'e1', now: 0 }), heard: [] }) },
  });
  const odd = await shell.run(['emit', '--to', 'coder', '--server', deaf.at.url, '-'], { ...there, input: '{"type":"odd.one"}' });
  expect(odd).toMatchObject({ code: 5, stdout: 'no subscriber listens to odd.one; nothing was queued\n' });
  const slip = await shell.run([...emit, '-'], { ...there, input: '{"type":"cli.event","severty":"error"}' });
  expect(slip).toMatchObject({ code: 2, stderr: expect.stringContaining('severity') as string });
});

it('a level that the token does not allow is lowered, and the output says so', async () => {
  proves('server:cli');
  await using shell = new Shell();
  await using stage = await Stage.open({ db: shell.db, emits: true });
  const { token } = await stage.as({ kind: 'send', project: 'team' });
  const there = { env: { EARPIECE_TOKEN: token } };
  const lowered = 'earpiece: the token in EARPIECE_TOKEN allows at most level error, so critical is lowered to error\n';
  const send = ['send', '--to', 'coder', '--server', stage.at.url, '--id'];
  expect(await shell.run([...send, 'n1', '--level', 'critical', 'stop'], there)).toEqual({
    code: 0,
    stdout: 'n1  queued for team/coder\n',
    stderr: lowered,
  });
  expect(await shell.run([...send, 'n2', '--level', 'error', 'x'], there)).toMatchObject({ stderr: '' });
  expect((await stage.inbox.open('team/coder')).map(({ notification }) => notification.level)).toEqual(['error', 'error']);
  const emit = ['emit', '--to', 'coder', '--server', stage.at.url, '-'];
  const input = '{"type":"cli.event","id":"1","message":"down","severity":"critical"}';
  expect((await shell.run(emit, { ...there, input })).stderr).toBe(lowered);
});

/** Removes ages, times and the widths of columns, which differ between two runs. */
const withoutAges = (text: string): string =>
  text
    .replaceAll(/[\d.]+ (?:ms|s|min) ago/gu, '… ago')
    .replaceAll(/expires in \S+/gu, 'expires in …')
    .replaceAll(/ {2,}/gu, '  ');

describe('a proxy, or another server at the URL,', () => {
  proves('server:cli');
  const others: Server[] = [];
  afterEach(() => {
    for (const other of others.splice(0)) {
      other.closeAllConnections();
      other.close();
    }
  });
  const other = async (answer: RequestListener): Promise<string> => {
    const made = createServer(answer);
    others.push(made);
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
  };
  const json =
    (text: string): RequestListener =>
    (_request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(text);
    };

  it.each<[string, RequestListener, string]>([
    [
      'a page',
      (_q, r) => r.end('<h1>hello</h1>'),
      '{url}/api/session gave an unexpected answer; check that this is the URL of an earpiece server',
    ],
    [
      'an error page',
      (_q, r) => r.writeHead(502).end('x'),
      '{url}/api/session answered 502 without an explanation; check that this is the URL of an earpiece server',
    ],
    ['JSON of another program', json('{"hello":1}'), '{url} answers, but is not an earpiece server; check the URL'],
    [
      'half of an answer',
      json('{"hel'),
      '{url}/api/session did not answer with JSON; check that this is the URL of an earpiece server',
    ],
    [
      'a redirect',
      (_q, r) => r.writeHead(301, { location: 'https://example.com/' }).end(),
      '{url} redirects to another URL, and the token is not sent to other URLs; write the other URL instead',
    ],
    [
      'a connection that breaks',
      (_q, r) => r.destroy(),
      '{url} cannot be reached (UND_ERR_SOCKET); is earpiece serve running there?',
    ],
  ])('gives one line and exit code 11 for %s', async (_what, answer, said) => {
    await using shell = new WithToken();
    shell.token = 'ep_x';
    const url = await other(answer);
    const ran = await shell.run(['agents', '--server', url]);
    expect(ran).toEqual({ code: 11, stdout: '', stderr: `earpiece: ${said.replaceAll('{url}', url)}\n` });
  });

  it('a server without TLS or an unknown host name gives an error that says so', async () => {
    await using shell = new WithToken();
    shell.token = 'ep_x';
    const url = (await other(json('{}'))).replace('http:', 'https:');
    expect((await shell.run(['agents', '--server', url])).stderr).toMatch(
      /^earpiece: https:.* does not speak TLS \(ERR_SSL_WRONG_VERSION_NUMBER\); write http:\/\/ instead\n$/u,
    );
    expect((await shell.run(['agents', '--server', 'http://server.invalid'])).stderr).toMatch(
      /^earpiece: http:\/\/server\.invalid cannot be reached: the host name is unknown \((ENOTFOUND|EAI_AGAIN)\); correct the URL\n$/u,
    );
  });

  it('a server of another version that lacks the route gives an error with both versions', async () => {
    await using shell = new WithToken();
    shell.token = 'ep_x';
    const url = await other((request, response) => {
      if (request.url === '/api/session') {
        json(JSON.stringify({ who: { id: 'x' }, version: '9.9.9' }))(request, response);
        return;
      }
      response.writeHead(404, { 'content-type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'no_such_route', status: 404, detail: 'there is nothing here' }));
    });
    const { code, stderr } = await shell.run(['agents', '--server', url]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `earpiece: there is nothing here (the server is earpiece 9.9.9, and this command is earpiece ${VERSION})\n`,
    });
  });

  it('a server that does not answer is awaited only until the time limit', async () => {
    const url = await other(() => {});
    const client = createClient({ url, token: 'ep_x', timeoutMs: 50 });
    await expect(client.agents()).rejects.toThrow(
      `${url} did not answer in time; the server may be busy, or may not be an earpiece server`,
    );
    await expect(client.receipt('n1', { withinMs: 50 })).rejects.toThrow('did not answer in time');
  });

  // Each of these commands waits, so they run at the same time.
  it.concurrent('a server that is down for a while does not end the wait for a receipt', async () => {
    await using shell = new WithToken();
    await using stage = await Stage.open({ db: shell.db });
    shell.token = stage.token;
    const waiting = shell.run(['send', '--to', 'coder', '--id', 'n1', '--wait', 'delivered', '--server', stage.at.url, 'x']);
    await stage.inbox.store.changed(0, { withinMs: 30_000 });
    await stage.server.stop();
    await (await stage.inbox.conversation('shop/coder#main').offer({ at: 'tool_result' }))?.confirm();
    const again = await Stage.open({ db: shell.db, port: Number(new URL(stage.at.url).port) });
    expect(await waiting).toEqual({ code: 0, stdout: 'n1  queued for shop/coder; delivered\n', stderr: '' });
    await again[Symbol.asyncDispose]();
  }, 60_000);

  it.concurrent('if a server does not return, the wait ends, and the output says that the notification is queued', async () => {
    await using shell = new WithToken();
    await using stage = await Stage.open({ db: shell.db });
    shell.token = stage.token;
    const waiting = shell.run([
      'send',
      '--to',
      'coder',
      '--id',
      'n1',
      '--wait',
      'delivered',
      '--timeout',
      '3s',
      '--server',
      stage.at.url,
      'x',
    ]);
    await stage.inbox.store.changed(0, { withinMs: 30_000 });
    await stage.server.stop();
    const { code, stdout, stderr } = await waiting;
    expect({ code, stdout: stdout.replace(stage.at.url, '{url}'), stderr }).toEqual({
      code: 3,
      stdout:
        'n1  queued for shop/coder; the server could not say whether the notification is delivered: {url} cannot be reached; is earpiece serve running there?\n',
      stderr: '',
    });
  }, 60_000);
});
