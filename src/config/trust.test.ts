import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { world } from './fixtures.ts';
import { explain, trustBook } from './index.ts';
import { proves } from '../../e2e/verifies.ts';

const RISKY = `
view = "xml"
db = "here.db"
[gateway.http]
host = "0.0.0.0"
[gateway.servers.run]
command = "sh"
args = ["-c", "echo hello"]
env = { SECRET = "s3cr3t" }
[gateway.servers.net]
url = "https://example.com/mcp"
`;

test('settings that run, connect, listen or store wait for trust; other settings apply', () => {
  proves('config:trust');
  const { read, short, projectFile, options } = world({ project: RISKY, user: '[gateway.servers.run]\ncommand = "mine"' });
  const { config, problems } = read();
  expect(problems).toEqual([]);
  expect(config.untrusted.map((one) => ({ ...one, file: short(one.file) }))).toEqual([
    {
      file: '…/web/earpiece.toml',
      what: [
        'db (stores queued notifications in here.db)',
        'gateway.http.host (listens on 0.0.0.0)',
        'gateway.servers.run (runs sh -c echo hello (env: SECRET))',
        'gateway.servers.net (connects to https://example.com/mcp)',
      ],
    },
  ]);
  expect(config.policy.view).toBe('xml');
  expect(short(config.db)).toBe('…/home/.local/state/earpiece/earpiece.db');
  expect(config.gateway.http.host).toBe('127.0.0.1');
  expect(config.gateway.servers).toEqual({
    run: { prefix: 'run', target: { kind: 'stdio', command: 'mine', args: [], env: {} } },
  });

  trustBook(options()).trust(projectFile);
  const trusted = read().config;
  expect(trusted.untrusted).toEqual([]);
  expect(short(trusted.db)).toBe('…/web/here.db');
  expect(trusted.gateway.http.host).toBe('0.0.0.0');
  expect(Object.keys(trusted.gateway.servers)).toEqual(['run', 'net']);
});

test('trust lasts until the trusted parts change or the trust is withdrawn', () => {
  const { read, write, projectFile, options } = world({ project: RISKY });
  const book = trustBook(options());
  const waiting = (): number => read().config.untrusted.length;
  expect(book.isTrusted(projectFile)).toBe(false);
  expect(book.trust(projectFile).what).toHaveLength(4);
  expect([book.isTrusted(projectFile), waiting()]).toEqual([true, 0]);

  const moved = RISKY.replace('view = "xml"', '# a comment\nview = "json"').replace(
    'command = "sh"\nargs = ["-c", "echo hello"]',
    'args = ["-c", "echo hello"]\ncommand = "sh"',
  );
  write(projectFile, moved);
  expect([book.isTrusted(projectFile), waiting()]).toEqual([true, 0]);

  write(projectFile, RISKY.replace('echo hello', 'rm -rf /'));
  expect([book.isTrusted(projectFile), waiting()]).toEqual([false, 1]);
  write(projectFile, RISKY);
  expect([book.isTrusted(projectFile), waiting()]).toEqual([true, 0]);
  // Removing a part needs no new consent, but adding a part needs a new consent.
  write(projectFile, RISKY.replace(/\[gateway\.servers\.net\][^]*$/, ''));
  expect(book.isTrusted(projectFile)).toBe(true);
  write(projectFile, `${RISKY}\n[gateway.servers.more]\ncommand = "more"`);
  expect(book.asking(projectFile).what).toEqual(['gateway.servers.more (runs more)']);

  write(projectFile, RISKY);
  expect([book.untrust(projectFile), book.untrust(projectFile), waiting()]).toEqual([true, false, 1]);
});

test('trust is for the file itself, also if it was named by a link, and not for a copy', () => {
  const { read, write, projectFile, repository, home, options } = world({ project: RISKY });
  const book = trustBook(options());
  symlinkSync(repository, join(home, 'link'));
  book.trust(join(home, 'link/earpiece.toml'));
  expect(book.list()).toEqual([projectFile]);
  expect(read().config.untrusted).toEqual([]);
  write('copy/.git', '');
  expect(read({ cwd: write('copy/earpiece.toml', RISKY).replace('/earpiece.toml', '') }).config.untrusted).toHaveLength(1);
});

test('harmless settings need no trust', () => {
  const { read, projectFile, options } = world({ project: 'view = "xml"\n[gateway.http]\nhost = "localhost"\nport = 5000' });
  expect(read().config).toMatchObject({ untrusted: [], gateway: { http: { host: 'localhost', port: 5000 } } });
  expect(trustBook(options()).isTrusted(projectFile)).toBe(true);
  for (const host of ['127.0.0.1', '127.8.9.1', '::1', 'LOCALHOST']) {
    const { read } = world({ project: `[gateway.http]\nhost = "${host}"` });
    expect(read().config.untrusted).toEqual([]);
  }
  for (const host of ['127.0.0.1.example.com', '0.0.0.0', '::', 'localhost.example.com', '1127.0.0.1']) {
    const { read } = world({ project: `[gateway.http]\nhost = "${host}"` });
    expect(read().config.untrusted).toHaveLength(1);
  }
});

test("the user's file is trusted, even in a repository", () => {
  const { read, home, userFile } = world({ user: RISKY });
  expect(read().config.untrusted).toEqual([]);
  mkdirSync(join(home, '.config/earpiece/.git'));
  const { config } = read({ cwd: join(userFile, '..') });
  expect(config.untrusted).toEqual([]);
  expect(Object.keys(config.gateway.servers)).toEqual(['run', 'net']);
  expect(config.files).toEqual([{ scope: 'project', file: userFile }]);
});

test('flags and variables are trusted, and explain shows the ignored values', () => {
  const { read, short } = world({ project: RISKY });
  const { config } = read({ env: { EARPIECE_GATEWAY_HTTP_HOST: '0.0.0.0' } });
  expect(config.gateway.http.host).toBe('0.0.0.0');
  const db = explain(config, 'db');
  expect(db.kind === 'setting' && db.overridden.map((other) => short(`${other.text}, ${other.decidedBy}`))).toEqual([
    'here.db, project file …/web/earpiece.toml:3:1 (not trusted)',
  ]);
});

test('only the owner can read the list of trusted files, and a broken list trusts nothing', () => {
  const { read, write, home, projectFile, options } = world({ project: RISKY });
  const file = join(home, '.local/state/earpiece/trusted.json');
  trustBook(options()).trust(projectFile);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700);
  expect(Object.keys((JSON.parse(readFileSync(file, 'utf8')) as { files: object }).files)).toEqual([projectFile]);
  for (const broken of ['', '{', '[]', '{"files": 3}', 'null']) {
    write(file, broken);
    expect(read().config.untrusted).toHaveLength(1);
  }
  trustBook(options()).trust(projectFile);
  expect(read().config.untrusted).toEqual([]);
});

test('a missing file and a folder that is not writable give clear errors', () => {
  const { home, projectFile, options, write, short } = world({ project: RISKY });
  const book = trustBook(options());
  const message = (act: () => unknown): string => {
    try {
      act();
      return 'nothing thrown';
    } catch (error) {
      return short((error as Error).message);
    }
  };
  expect(message(() => book.trust(join(home, 'none.toml')))).toBe(
    '…/home/none.toml cannot be read (ENOENT); name a readable earpiece.toml',
  );
  write(join(home, '.local/state/earpiece'), 'a file');
  expect(message(() => book.trust(projectFile))).toBe(
    '…/home/.local/state/earpiece/trusted.json cannot be written (EEXIST); make …/home/.local/state/earpiece writable or set XDG_STATE_HOME',
  );
  renameSync(join(home, '.local/state/earpiece'), join(home, '.local/state/was'));
  if (process.getuid?.() === 0) return; // File permissions do not apply to root.
  chmodSync(join(home, '.local/state'), 0o500);
  expect(message(() => book.trust(projectFile))).toContain('cannot be written (EACCES)');
  chmodSync(join(home, '.local/state'), 0o700);
});

test('automatic fetching waits for trust; turning it off does not', () => {
  proves('config:trust');
  const what = (every: string): unknown =>
    world({ project: `[sources.git]\nfetch_every = "${every}"` })
      .read()
      .config.untrusted.map((one) => one.what);
  expect([what('never'), what('10m')]).toEqual([[], [["sources.git.fetch_every (fetches from the repository's remote)"]]]);
});

test('the offer to follow pull requests waits for trust; a project may turn it off', () => {
  proves('config:trust');
  const what = (offer: boolean): unknown =>
    world({ project: `[follow]\noffer = ${offer}` })
      .read()
      .config.untrusted.map((one) => one.what);
  expect([what(false), what(true)]).toEqual([[], [['follow.offer (asks GitHub after a push)']]]);
});

test('a cloned project does not weaken the gate: interrupt = "after" waits for trust', () => {
  proves('config:trust');
  const { read, options, projectFile } = world({ project: 'interrupt = "after"\n' });
  expect(read().config.policy.interrupt).toBe('before');
  expect(read().config.untrusted.map(({ what }) => what)).toEqual([
    ['interrupt (lets tool calls run while an interrupt is unread or a pause is active)'],
  ]);
  trustBook(options()).trust(projectFile);
  expect(read().config.policy.interrupt).toBe('after');
  expect(world({ project: 'interrupt = "before"\n' }).read().config.untrusted).toEqual([]);
});

test.each(['signal_en', 'signal_ja'])(
  'a cloned project cannot hide the text of a refusal: view = "%s" waits for trust',
  (view) => {
    proves('config:trust', 'trust:person');
    const { read, options, projectFile } = world({ user: 'view = "xml"\n', project: `view = "${view}"\n` });
    expect(read().config.policy.view).toBe('xml');
    expect(read().config.untrusted.map(({ what }) => what)).toEqual([
      [`view = ${view} (removes the mark from frames, and a person's words from refusals)`],
    ]);
    trustBook(options()).trust(projectFile);
    expect(read().config.policy.view).toBe(view);
  },
);

test('a cloned project cannot choose the folder of the archive', () => {
  proves('config:trust');
  const { read, short, options, projectFile } = world({ project: 'archive = "/mnt/theirs"\n', user: 'archive = "mine"\n' });
  expect(short(read().config.archive ?? '')).toBe('…/home/.config/earpiece/mine');
  expect(read().config.untrusted.map(({ what }) => what)).toEqual([
    ['archive (writes the notifications of all projects to /mnt/theirs)'],
  ]);
  trustBook(options()).trust(projectFile);
  expect(read().config.archive).toBe('/mnt/theirs');
  expect(read({ env: { EARPIECE_ARCHIVE: 'here' } }).config.archive).toMatch(/\/web\/here$/u);
});

test('a file that changes while a person reads it is not trusted', () => {
  proves('config:trust');
  const { read, write, short, projectFile, options } = world({ project: '[gateway.servers.a]\ncommand = "npx"\n' });
  const book = trustBook(options());
  const seen = book.print(projectFile);
  write(projectFile, '[gateway.servers.a]\ncommand = "evil"\n');
  expect(() => book.trust(projectFile, seen)).toThrow(
    'has changed since you read the file, so nothing was trusted; read the file again',
  );
  expect(read().config.gateway.servers).toEqual({});
  expect(short(book.trust(projectFile, book.print(projectFile)).what.join())).toBe('gateway.servers.a (runs evil)');
});

test('a cloned project cannot disable a server of its user with a separator', () => {
  proves('config:trust');
  const { read, options, projectFile } = world({
    user: '[gateway.servers.files]\ncommand = "mine"\n',
    project: '[gateway]\nseparator = "i"\n',
  });
  expect(Object.keys(read().config.gateway.servers)).toEqual(['files']);
  trustBook(options()).trust(projectFile);
  expect(Object.keys(read().config.gateway.servers)).toEqual([]);
});

test('the request for trust names the folder of a command, and the variables that it gets', () => {
  const { read } = world({
    project: `
[gateway.servers.a]
command = "node"
args = ["\${MINE:-x}.js"]
cwd = "tools"
env = { SECRET = "s3cr3t", KEY = "\${OPENAI_API_KEY}" }
[gateway.servers.b]
url = "https://example.com/mcp"
headers = { X = "Bearer \${env:AWS_SECRET}" }
`,
  });
  expect(read().config.untrusted[0]?.what).toEqual([
    'gateway.servers.a (runs node ${MINE:-x}.js (env: SECRET, KEY) in tools, with your MINE, OPENAI_API_KEY)',
    'gateway.servers.b (connects to https://example.com/mcp (headers: X), with your AWS_SECRET)',
  ]);
});

test("a cloned project cannot shorten a time or a text that the user's file allows", () => {
  proves('config:trust', 'trust:person');
  const { read, options, projectFile } = world({
    user: '[ttl]\ninfo = "never"\n[budget]\nmax_item_chars = 9000\n',
    project: '[ttl]\ninfo = "7d"\nerror = "never"\n[budget]\nmax_item_chars = 3000\n',
  });
  const said = (): unknown => [
    read().config.policy.ttlMs.info,
    read().config.policy.ttlMs.error,
    read().config.policy.maxItemChars,
  ];
  expect(said()).toEqual([null, null, 9_000]);
  trustBook(options()).trust(projectFile);
  expect(said()).toEqual([7 * 86_400_000, null, 3_000]);
});
