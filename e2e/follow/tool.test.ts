/** Tests the tool `follow` of `earpiece mcp`, with a real MCP client. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { estimateTokens } from '../../src/core/tokens.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { add, following, looker, stateOf } from '../../src/sources/follow/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

let shell: Shell;
let ear: LoadedInbox;
let client: Client;

beforeEach(async () => {
  shell = new Shell();
  ear = await shell.open();
  client = new Client({ name: 'raw', version: '1' });
  const env = shell.env({ EARPIECE_ADDRESS: 'shop/coder#a' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp'], cwd: shell.folder, env }));
});
afterEach(async () => {
  const owner = await looker(ear.store, 'shop', ear.isAlive);
  if (owner !== undefined) process.kill(owner.pid, 'SIGKILL');
  await client.close();
  await shell[Symbol.asyncDispose]();
});

async function follow(args: Record<string, string | boolean | number | null> = {}): Promise<string> {
  const { content } = await client.callTool({ name: 'follow', arguments: args });
  return (content as { text: string }[]).map(({ text }) => text).join('\n');
}

verifies(
  'follow:tool',
  'an agent follows a URL of this machine, is notified of its failure, lists the follower and ends it',
  async () => {
    const server = createServer((_, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      expect(JSON.parse(await follow({ url }))).toEqual({
        success: true,
        id: 'f1',
        follows: url,
        message: 'Changes arrive as notifications.',
      });
      for await (const { body } of ear.watch({ after: 0 })) if (body.type === 'system_notification_queued') break;
      expect(await follow()).toContain(`${url} fails: 503 Service Unavailable`);
      expect(await follow({ stop: 'f1' })).toContain('The follower has ended');
      expect(await follow()).toContain('"following":[]');
    } finally {
      server.close();
    }
  },
  30_000,
);

it("a change that a person and an agent both follow is reported once; the agent cannot end the person's follower", async () => {
  proves('follow:tool', 'follow:told-once');
  let asked = 0;
  let status = 503;
  const server = createServer((_, response) => (asked++, response.writeHead(status).end()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const open = async (): Promise<readonly string[]> =>
    (await ear.open('shop/coder')).map(({ notification: { message } }) => message);
  const until = async (isSo: () => Promise<boolean>): Promise<void> => {
    while (!(await isSo())) await pause(50);
  };
  try {
    await shell.says(['follow', 'url', url, '--to', 'shop/*']);
    await until(async () => (await open()).length > 0);
    const answers = [await follow({ url })];
    expect(answers[0]).toContain('"id":"f2"');
    await until(() => Promise.resolve(asked > 1));
    // The agent reads the failure with the result of a call, and no call repeats it.
    for (let i = 0; i < 3; i++) answers.push(await follow());
    const told = answers.join('').split('fails: 503').length - 1;
    expect(await shell.json(['following'])).toMatchObject([
      { id: 'f1', to: 'shop/*', state: 'follows', says: '503 Service Unavailable' },
      { id: 'f2', to: 'shop/coder', state: 'follows', says: '503 Service Unavailable' },
    ]);
    expect(told).toBe(1);
    expect(await follow({ stop: 'f1' })).toContain('is a follower that you did not add');
    expect(await shell.says(['unfollow', 'f1'])).toContain('is no longer followed');
    expect(await shell.json(['following'])).toMatchObject([{ id: 'f2', to: 'shop/coder' }]);
    status = 200;
    await follow({ url });
    // The agent has read the failure, so the agent also reads that the URL works again.
    await until(async () => (await follow()).includes(`${url} works again: 200 OK; before: 503 Service Unavailable`));
  } finally {
    server.close();
  }
}, 30_000);

it('the name of a folder follows all files of this folder, as in the command', async () => {
  mkdirSync(join(shell.folder, 'docs'));
  expect(await follow({ files: 'docs' })).toContain('"follows":"files docs/"');
  expect(await shell.says(['follow', 'files', 'docs', '--to', 'coder'])).toContain('files docs/');
});

it('the tool is limited to the project, this machine and this repository, and cannot end the followers of others', async () => {
  proves('follow:tool');
  writeFileSync(join(shell.folder, 'app.log'), '');
  mkdirSync(join(shell.folder, 'logs'));
  const outside = mkdtempSync(join(tmpdir(), 'earpiece-outside-'));
  symlinkSync('/etc/hosts', join(shell.folder, 'logs/link.log'));
  symlinkSync('/etc/none.log', join(shell.folder, 'logs/dangling.log'));
  symlinkSync('circle.log', join(shell.folder, 'logs/circle.log'));
  symlinkSync(join(outside, 'there.log'), join(shell.folder, 'here.log'));
  symlinkSync(join(shell.folder, 'here.log'), join(outside, 'there.log'));
  const what = { kind: 'log', file: join(shell.folder, 'app.log'), match: 'x' } as const;
  await add(ear.store, 'shop', { uid: 'f_person', what, to: 'shop/coder' });
  for (const [args, why] of [
    [{ log: 'logs/link.log', match: 'x' }, 'is outside of the project'],
    [{ log: '../../etc/hosts', match: 'x' }, 'is outside of the project'],
    [{ log: 'none.log', match: 'x' }, 'does not exist yet'],
    [{ log: '/etc/none.log', match: 'x' }, 'is outside of the project'],
    [{ log: 'logs/dangling.log', match: 'x' }, 'is outside of the project'],
    [
      { log: 'logs/circle.log', match: 'x' },
      'log "logs/circle.log" is behind a link that leads back to itself; name the file itself',
    ],
    [{ log: 'logs/circle.log/x', match: 'x' }, 'log "logs/circle.log/x" is behind a link that leads back to itself'],
    [{ log: 'here.log', match: 'x' }, 'is outside of the project'],
    [{ log: 'a\0b', match: 'x' }, String.raw`log "a\u0000b" has a control character; remove the character`],
    [{ log: `${'n'.repeat(300)}.log`, match: 'x' }, 'nn" has a longer name than this machine allows; name an existing log file'],
    [{ log: '.', match: 'x' }, 'log "." is a folder; name one log file'],
    [{ log: '..', match: 'x' }, 'is outside of the project'],
    [{ url: 'localhost:3000' }, 'is not a valid http or https URL; write e.g. http://localhost:3000/health'],
    [{ url: 'file:///etc/hosts' }, 'is not a valid http or https URL'],
    [{ url: 7 }, 'url must be a text of 1 to 1000 characters, got 7'],
    [{ url: 'x'.repeat(1_001) }, 'url must be a text of 1 to 1000 characters, got 1001 characters'],
    [{ log: 'app.log' }, 'log needs match'],
    [{ url: 'https://example.com/' }, 'is not a URL of this machine'],
    [{ url: 'http://localhost:25/' }, 'url "http://localhost:25/" has the port 25, which belongs to another protocol'],
    [{ url: 'http://localhost.example.com/' }, 'is not a URL of this machine'],
    [{ url: 'http://127.0.0.1.example.com/' }, 'is not a URL of this machine'],
    [{ url: 'http://127.0.0.1@example.com/' }, 'url must not have a user name or password; leave both out of the url'],
    [{ pull_request: 'https://github.com/acme/other/pull/1' }, 'is neither a number nor a known branch of this repository'],
    [{ pull_request: 'HTTPS://github.com/acme/other/p%75ll/1' }, 'is neither a number nor a known branch of this repository'],
    [{ pull_request: '12' }, 'pull_request "12": '],
    [{ pull_request: 'acme/other#1' }, 'is neither a number nor a known branch of this repository'],
    [{ url: 'http://joe:pw@127.0.0.1/' }, 'url must not have a user name or password; leave both out of the url'],
    [{ log: 'logs', match: 'x' }, 'log "logs" is a folder; name one log file'],
    [{ log: 'app.log', match: '(' }, 'match "(": the pattern is not a regular expression'],
    [{ url: 'http://localhost/', match: 'x' }, 'match works only with log; leave match out'],
    [{ stop: 'f1', git: true }, 'stop ends a follower by its id; leave git out'],
    [{ url: 'http://localhost/', log: 'app.log' }, 'takes one of pull_request, log, url, files, git and agent at a time'],
    [{ files: '../secrets/**' }, 'leads out of the folder'],
    [{ files: '/etc/*' }, 'leads out of the folder'],
    [{ files: '{a,../b}' }, 'files "{a,../b}" leads out of the folder'],
    [{ files: 'a\0' }, String.raw`files "a\u0000" has a control character`],
    [{ files: '!docs/**' }, 'excludes files'],
    [{ git: false }, 'git must be true, got false; stop ends a follower by its id'],
    [{ agent: 'other/coder' }, 'belongs to another project; you can follow only agents of shop'],
    [{ agent: 'coder' }, 'is you'],
    [{ agent: 'a/b/c/d' }, 'agent "a/b/c/d" is not the name of an agent; write the agent\'s name, which list_agents shows'],
    [{ agent: '*' }, 'is a whole project; name one agent'],
    [{ agent: 'nobody' }, 'no agent "nobody" has been seen in shop'],
    [{ stop: 'f1' }, 'is a follower that you did not add'],
    [{ stop: 'f9' }, 'is not the id of a follower; follow without arguments lists the ids'],
    [{ command: 'rm' }, 'has no argument "command"'],
  ] as const)
    expect(await follow(args), JSON.stringify(args)).toContain(why);
  const nothing = { pull_request: null, log: null, match: null, url: null, files: null, git: null, agent: null, stop: null };
  for (const args of [undefined, nothing]) expect(JSON.parse(await follow(args))).toMatchObject({ following: [{ id: 'f1' }] });
  rmSync(outside, { recursive: true });
}, 30_000);

it('the tool follows files of the project, its repository and another agent, and changes of others are reported', async () => {
  proves('follow:tool');
  const git = (...args: string[]): unknown =>
    execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=a@b', ...args], { cwd: shell.folder, stdio: 'pipe' });
  mkdirSync(join(shell.folder, 'docs'));
  git('init', '-qb', 'main');
  git('commit', '-qm', 'one', '--allow-empty');
  await shell.says(['hook', 'claude', '--as', 'reviewer'], {
    input: JSON.stringify({ hook_event_name: 'SessionStart', source: 'startup', session_id: 'r1', cwd: shell.folder }),
  });
  expect(await follow({ files: 'docs/**' })).toContain('"follows":"files docs/**"');
  expect(await follow({ git: true })).toContain(`"follows":"git in ${shell.folder}"`);
  expect(await follow({ agent: 'reviewer' })).toContain('"follows":"agent shop/reviewer until blocked"');
  for (const { uid } of await following(ear.store, 'shop'))
    while ((await stateOf(ear.store, uid)).lookedAt === undefined) await pause(50);
  writeFileSync(join(shell.folder, 'docs/plan.md'), 'the plan');
  git('switch', '-qc', 'other');
  await shell.says(['send', 'Hold on', '--to', 'reviewer', '--action', 'pause']);
  const heard = async (): Promise<readonly string[]> =>
    (await ear.open('shop/coder')).map(({ notification: { message } }) => message).toSorted();
  while ((await heard()).length < 3) await pause(100);
  expect(await heard()).toEqual([
    '`docs/plan.md` was created',
    'reviewer is blocked: Hold on',
    'the branch is now `other` (before: `main`)',
  ]);
}, 60_000);

it('the tool costs a session at most 290 tokens', async () => {
  proves('follow:tool');
  const { tools } = await client.listTools();
  expect(estimateTokens(JSON.stringify(tools.find(({ name }) => name === 'follow')))).toBeLessThanOrEqual(290);
});

it('the description of the tool advises an agent that opens or updates a pull request to follow it', async () => {
  proves('follow:tool');
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'follow')?.description).toContain(
    'After you open a pull request or push to one, follow pull_request "current"',
  );
});

it('if a link replaces a followed log, no file outside of the project is read', async () => {
  proves('follow:tool');
  const file = join(shell.folder, 'in.log');
  // No event reports the check of another process to this client, so this function asks the tool.
  const reads = async (text: string): Promise<void> => {
    while (!(await follow()).includes(text)) await pause(50);
  };
  writeFileSync(file, '');
  await follow({ log: 'in.log', match: 'ERROR|localhost' });
  await reads('no line has matched yet');
  appendFileSync(file, 'ERROR one\n');
  await reads('ERROR one');
  rmSync(file);
  symlinkSync('/etc/hosts', file);
  await reads('in.log is now a link');
  expect(await follow()).not.toContain('127.0.0.1');
}, 30_000);
