/** Tests `earpiece follow`, `following` and `unfollow`: the process that runs the checks, its restarts, and the printed list. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync, realpathSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { FOLLOW_FAULT_POINTS, UNFOLLOW_FAULT_POINTS } from '../../src/core/faults.ts';
import type { Json } from '../../src/core/json.ts';
import {
  add,
  following,
  keepState,
  listed as stored,
  looker,
  NEW,
  stateOf,
  type State,
  type What,
} from '../../src/sources/follow/index.ts';
import { CLI } from '../built.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

let shell: Shell;
let ear: LoadedInbox;
const lookers = new Set<number>();

beforeEach(async () => {
  shell = new Shell();
  ear = await shell.open();
});
afterEach(async () => {
  const { pid } = await state();
  if (pid !== undefined) lookers.add(pid);
  for (const pid of lookers) end(pid);
  lookers.clear();
  await shell[Symbol.asyncDispose]();
});

type Row = Record<string, unknown>;
const listed = (): Promise<Row[]> => shell.json(['following']);

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended by itself.
  }
}

const isThere = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** Retries until the condition is true. The time limit of the test ends the wait. */
async function until<T>(ask: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (isSo(value)) return value;
    await pause(50);
  }
}

/** Reads the follower from the store, because running a command each time would be slow. */
async function state(): Promise<State & { readonly pid?: number }> {
  const [followed] = await following(ear.store, 'shop');
  const owner = await looker(ear.store, 'shop', ear.isAlive);
  const known = followed === undefined ? NEW : await stateOf(ear.store, followed.uid);
  return { ...known, ...(owner === undefined ? {} : { pid: owner.pid }) };
}
const looked = (): Promise<State & { readonly pid?: number }> => until(state, ({ lookedAt }) => lookedAt !== undefined);
/** Returns the text for the agent's next result, without the frame. */
const waits = async (): Promise<string> => {
  const { view } = await ear.conversation('shop/coder#s1', { points: ['tool_result'] }).preview({ at: 'tool_result' });
  return (view?.text ?? '').split('\n').slice(1, -1).join('\n');
};
const open = async (): Promise<readonly string[]> =>
  (await ear.open('shop/coder')).map(({ notification: { message } }) => message);

const start = (session: string): Promise<string> =>
  shell.says(['hook', 'claude', '--as', 'coder'], {
    input: JSON.stringify({ hook_event_name: 'SessionStart', source: 'startup', session_id: session, cwd: shell.folder }),
  });

describe('earpiece follow', () => {
  proves('cli:commands', 'follow:sessions');

  verifies(
    'follow:sessions',
    'a process checks while a session is active; if it is killed, the next session starts it again and gets the changes in between',
    async () => {
      const log = join(shell.folder, 'app.log');
      writeFileSync(log, 'ERROR from before\n');
      await start('s1');
      expect(await shell.says(['follow', 'log', 'app.log', '--match', 'ERROR', '--to', 'coder'])).toBe(
        `f1  log ${log}, for shop/coder\n`,
      );
      const { pid: first } = await looked();
      expect(await listed()).toMatchObject([
        { id: 'f1', kind: 'log', to: 'shop/coder', state: 'follows', failures: 0, keep: false, process: first },
      ]);
      appendFileSync(log, 'INFO fine\nERROR no connection\n');
      await until(waits, (text) => text !== '');
      expect(await waits()).toBe(`log warning: ${log}: ERROR no connection`);

      end(first as number);
      await until(state, ({ pid }) => pid === undefined);
      expect(await listed()).toMatchObject([
        { state: 'waits', says: expect.stringContaining('no process checks this') as string, process: null },
      ]);
      appendFileSync(log, 'ERROR while nobody looked\nERROR no connection\n');
      await start('s2');
      const both = await until(waits, (text) => text.includes('nobody looked'));
      expect(both).toContain('ERROR no connection');
      // A second session starts no second process.
      const { pid } = await state();
      await start('s3');
      expect((await state()).pid).toBe(pid);
      // The documentation shows this list.
      const page = readFileSync(join(import.meta.dirname, '../../docs/guides/follow.md'), 'utf8');
      const printed = await shell.says(['following'], { env: { COLUMNS: '200' } });
      expect(printed).toMatch(
        /^id +follows +for +looked +state +saw\nf1 +log \S+ +shop\/coder +\d+ (?:s|min) ago +follows +last: ERROR/u,
      );
      expect(page).toMatch(/^id +follows +for +looked +state +saw$/mu);

      expect(await shell.says(['unfollow', 'f1'])).toBe(`log ${log} is no longer followed\n`);
      expect(page).toContain('is no longer followed');
      expect(await open()).toEqual([]);
      await until(
        () => Promise.resolve(isThere(pid as number)),
        (there) => !there,
      );
      expect(await listed()).toEqual([]);
      expect(await shell.says(['following'])).toContain('shop follows nothing');
      // The next session starts no process.
      await start('s4');
      expect(await ear.store.setting("followers' process of shop")).toBeUndefined();
    },
    60_000,
  );

  it('reports a failing URL, withdraws the report when the URL works again, and reports a changed value', async () => {
    let answer: { status: number; body: string } = { status: 200, body: '{"status":"starting"}' };
    const server = createServer((_, response) => response.writeHead(answer.status).end(answer.body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/health`;
    try {
      const again = (): Promise<string> => shell.says(['follow', 'url', url, '--value', 'status', '--to', 'coder', '--keep']);
      await again();
      expect(await looked()).toMatchObject({ summary: '200 OK, status is "starting"' });
      answer = { status: 200, body: '{"status":"ready"}' };
      // Following the URL again checks it at once.
      expect(await again()).toContain('already followed, and due for a new check');
      expect(await until(open, (all) => all.length > 0)).toEqual([`${url}: status is "ready", it was "starting"`]);
      answer = { status: 503, body: '' };
      await again();
      expect(await until(open, (all) => all.length > 1)).toContain(`${url} fails: 503 Service Unavailable`);
      answer = { status: 200, body: '{"status":"ready"}' };
      await again();
      expect(await until(open, (all) => all.length < 2)).toEqual([`${url}: status is "ready", it was "starting"`]);
      const long = (end: string): string => JSON.stringify({ status: `${'x'.repeat(400)}${end}` });
      answer = { status: 200, body: long('a') };
      await again();
      await until(waits, (text) => text.includes('xxx'));
      answer = { status: 200, body: long('b') };
      await again();
      const says = `${url}: status has changed after its first 300 characters`;
      expect(await until(waits, (text) => text.includes('after'))).toContain(says);
    } finally {
      server.close();
    }
  }, 60_000);

  /**
   * Returns followers of three kinds, each with the stored state of a first check and the text of the expected notification. With
   * that state, the next check finds a change.
   */
  const crashing = (url: string): readonly (readonly [What, Json | undefined, string])[] => [
    [{ kind: 'url', url }, undefined, `${url} fails: 503 Service Unavailable`],
    [
      { kind: 'log', file: join(shell.folder, 'app.log'), match: 'ERROR' },
      { ino: statSync(join(shell.folder, 'app.log')).ino, offset: 0 },
      `${join(shell.folder, 'app.log')}: ERROR no connection`,
    ],
    [{ kind: 'files', folder: shell.folder, globs: ['app.log'] }, {}, '`app.log` was created'],
  ];

  verifies(
    'follow:told-once',
    'if a process is killed at any write, the next process reports the remaining changes, and nothing twice',
    async () => {
      const server = createServer((_, response) => response.writeHead(503).end());
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      writeFileSync(join(shell.folder, 'app.log'), 'ERROR no connection\n');
      try {
        for (const [what, source, message] of crashing(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`))
          for (const point of [...FOLLOW_FAULT_POINTS, 'append.committed']) {
            const { followed } = await add(ear.store, 'shop', { uid: ear.ids.make('f'), what, to: 'shop/coder', keep: true });
            if (source !== undefined) await keepState(ear.store, followed.uid, { turn: 1, told: {}, source });
            expect((await shell.run(['follow', '--look', 'shop'], { env: { EARPIECE_FAULT: point } })).code, point).toBeNull();
            const looks = shell.begin(['follow', '--look', 'shop']);
            await until(state, ({ lookedAt }) => lookedAt !== undefined);
            expect(await open(), `${what.kind} ${point}`).toEqual([message]);
            await shell.says(['unfollow', followed.id]);
            expect((await looks.ended).code).toBe(0);
            for (const { id } of await ear.open('shop/coder'))
              await ear.withdraw('shop/coder', { id }, { by: 'test', reason: 'the next one' });
          }
      } finally {
        server.close();
      }
    },
    120_000,
  );

  it('a command whose process is killed at each write reports its errors once, when it runs again', async () => {
    proves('follow:told-once');
    for (const point of ['follow.told', 'follow.kept', 'append.committed']) {
      const script = `console.log('${point}.c:3:5: error: expected ";"'); setTimeout(() => process.exit(1), 1500)`;
      const words = ['follow', '--to', 'coder', '--', process.execPath, '-e', script];
      expect((await shell.run(words, { env: { EARPIECE_FAULT: point } })).code, point).toBeNull();
      await shell.run(words);
      expect(
        (await open()).filter((message) => message === `expected ";" (${point}.c:3:5)`),
        point,
      ).toHaveLength(1);
    }
  }, 60_000);

  it.each([
    { kind: 'command', command: 'npm test', folder: '/work' },
    { kind: 'url', url: 'http://127.0.0.1:1/' },
  ] as const)(
    'the next session completes an unfollow of the only follower, of the kind $kind, that kill -9 interrupted',
    async (what) => {
      for (const point of UNFOLLOW_FAULT_POINTS) {
        const { followed } = await add(ear.store, 'shop', { uid: ear.ids.make('f'), what, to: 'shop/coder' });
        expect((await shell.run(['unfollow', followed.id], { env: { EARPIECE_FAULT: point } })).code, point).toBeNull();
        expect(
          (await stored(ear.store, 'shop')).map(({ ending }) => ending),
          point,
        ).toEqual([true]);
        expect(await shell.json(['following'])).toEqual([]);
        const start = { hook_event_name: 'SessionStart', source: 'startup', session_id: point, cwd: shell.folder };
        await shell.run(['hook', 'claude', '--as', 'coder'], { input: JSON.stringify(start) });
        expect(
          await until(
            () => stored(ear.store, 'shop'),
            (list) => list.length === 0,
          ),
        ).toEqual([]);
        await until(
          () => looker(ear.store, 'shop', ear.isAlive),
          (owner) => owner === undefined,
        );
      }
    },
  );

  it('in the shell of an agent, a link inside of the project is followed to its file, and a link that leads out is refused', async () => {
    const env = { EARPIECE_HANDLE: 'h1', EARPIECE_HANDLE_OF: 'shop/coder#main' };
    const log = join(shell.folder, 'today.log');
    writeFileSync(log, '');
    symlinkSync('today.log', join(shell.folder, 'current.log'));
    symlinkSync('later.log', join(shell.folder, 'next.log'));
    symlinkSync('/etc/hosts', join(shell.folder, 'hosts.log'));
    symlinkSync('/etc/none.log', join(shell.folder, 'none.log'));
    symlinkSync('circle.log', join(shell.folder, 'circle.log'));
    const asked = (name: string): readonly string[] => ['follow', 'log', name, '--match', 'ERROR', '--to', 'coder', '--keep'];
    expect(await shell.says(asked('current.log'), { env })).toBe(`f1  log ${log}, for shop/coder\n`);
    await looked();
    appendFileSync(log, 'ERROR no connection\n');
    expect(await until(open, (all) => all.length > 0)).toEqual([`${log}: ERROR no connection`]);
    for (const [name, why] of [
      ['hosts.log', 'log "hosts.log" is outside of the project; a person can run: earpiece follow log <file>'],
      ['none.log', 'log "none.log" is outside of the project; a person can run: earpiece follow log <file>'],
      ['circle.log', 'log "circle.log" is behind a link that leads back to itself; name the file itself'],
    ] as const)
      expect((await shell.run(asked(name), { env })).stderr).toContain(why);
    expect(await listed()).toHaveLength(1);
    expect(await shell.says(asked('next.log'), { env })).toContain(join(shell.folder, 'later.log'));
    // A person may follow a link that leads out of the project.
    expect(await shell.says(asked('hosts.log'))).toContain(join(shell.folder, 'hosts.log'));
  }, 60_000);

  it('in the shell of another coding agent, a link that leads out is refused, and the agent has its own follower', async () => {
    symlinkSync('/etc/hosts', join(shell.folder, 'hosts.log'));
    const claude = join(shell.folder, 'claude');
    writeFileSync(claude, '#!/bin/sh\n"$@"\nexit $?\n', { mode: 0o755 });
    const asked = (name: string): ReturnType<typeof spawnSync> =>
      spawnSync(claude, [process.execPath, CLI, 'follow', 'log', name, '--match', 'ERROR'], {
        cwd: shell.folder,
        env: shell.env(),
        encoding: 'utf8',
      });
    const { status, stderr } = asked('hosts.log');
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('is outside of the project') as string });
    for (const name of ['app.log', '/bin/none.log']) expect(asked(name).stderr).toBe('');
    expect(await listed()).toMatchObject([
      { to: 'shop/claude-code', by: 'shop/claude-code' },
      { what: { file: `${realpathSync('/bin')}/none.log` }, by: 'shop/claude-code' },
    ]);
  });

  it('the process that checks acts for the project, also if an agent has started it', async () => {
    await shell.says(['follow', 'log', 'app.log', '--match', 'ERROR', '--to', 'coder', '--keep']);
    end((await looked()).pid as number);
    await until(state, ({ pid }) => pid === undefined);
    const script = 'env -u EARPIECE_HANDLE -u EARPIECE_HANDLE_OF "$0" "$1" follow --look shop; true';
    const env = shell.env({ EARPIECE_HANDLE: 'h1', EARPIECE_HANDLE_OF: 'shop/coder#main' });
    const agent = spawn('sh', ['-c', script, process.execPath, CLI], { cwd: shell.folder, env, stdio: 'ignore' });
    appendFileSync(join(shell.folder, 'app.log'), 'ERROR no connection\n');
    await until(open, (all) => all.length > 0);
    const [item] = await ear.open('shop/coder');
    expect(item?.notification.origin?.agent).toBeUndefined();
    end((await state()).pid as number);
    await once(agent, 'exit');
  });

  it.each([
    [['log', 'app.log'], 'needs --match <re>'],
    [['log', 'app.log', '--match', '(?=x)'], 'lookahead and lookbehind are not supported'],
    [['url', 'ftp://x'], 'is not a valid http or https URL; write e.g. http://localhost:3000/health'],
    [['url', 'http://127.0.0.1:99999/'], 'is not a valid http or https URL'],
    [
      ['url', 'http://x:6000/'],
      'follow url "http://x:6000/" has the port 6000, which belongs to another protocol, so Node blocks it; let the server listen on another port',
    ],
    [['url', 'http://x/', '--value', ''], '--value must be a path such as status.state, got ""'],
    [['url', 'http://x/', '--value', 'a..b'], '--value must be a path such as status.state, got "a..b"'],
    [['url', 'http://x/', '--every', '9999d'], '--every must be 10s to 1d, got 9999d'],
    [['log', '', '--match', 'x'], 'follow log needs a file'],
    [['log', '.', '--match', 'x'], 'follow log . is not a regular file; name one log file'],
    [['log', 'n'.repeat(300), '--match', 'x'], 'cannot be opened (ENAMETOOLONG); name a log file that this user can read'],
    [['log', '*.log', '--match', 'x'], 'follow log follows one file, and *.log does not exist'],
    [['files', '{..,a}/*'], 'the glob "{..,a}/*" leads out of the folder; write a path below the folder'],
    [['files', '!a'], 'the globs !a only exclude files; name the files to follow'],
    [['--name', ' ', '--', 'true'], '--name must not be empty'],
    [['url', 'http://a@x/'], 'follow url does not store a user name or password; remove both from the URL'],
    [['url', 'http://x/', '--every', '1s'], '--every must be 10s to 1d, got 1s'],
    [['pr', '--every', 'abc'], '--every "abc" is not a duration; write 250ms, 30s'],
    [['pr', '--every', '1s'], '--every must be 10s to 1d, got 1s'],
    [['log'], 'follow log needs a file: earpiece follow log app.log --match ERROR'],
    [['git', '--level', 'error'], '--level works only with follow log <file> and follow url <url>, not with git'],
    [['url', 'http://x/', '--name', 'x'], '--name works only with follow -- <command>, not with url'],
    [['--every', '1m', '--', 'true'], '--every works only with follow pr, log, url, files, git, agent, lsp, not with a command'],
    [['--match', 'x', '--', 'true'], '--match works only with follow log <file>, not with a command'],
    [['--matcher', '', '--', 'true'], '--matcher must not be empty'],
    [['--', ''], 'the command must not be empty; write e.g. npm run dev'],
    [
      ['pr', 'https://gitlab.com/acme/shop/-/merge_requests/1'],
      'is not the URL of a GitHub pull request; write e.g. https://github.com/acme/shop/pull/12',
    ],
    [['pr', ''], 'follow pr got an empty argument; leave the argument out to follow the pull request of this branch'],
    [[], 'nothing to follow was named'],
  ])('%j is refused', async (words, why) => {
    const { code, stderr } = await shell.run(['follow', ...words]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) as string });
    expect(await listed()).toEqual([]);
  });

  it('files: the name of a folder is the folder with all its files', async () => {
    mkdirSync(join(shell.folder, 'docs'), { recursive: true });
    for (const glob of ['docs', 'docs/']) {
      const [{ id, what } = {}] = await shell.json(['follow', 'files', glob, '--to', 'coder']);
      expect(what).toMatchObject({ globs: ['docs/'] });
      await shell.says(['unfollow', String(id)]);
    }
    const [{ id, what } = {}] = await shell.json(['follow', 'files', 'docs/*', '!docs', 'a.md', '--to', 'coder']);
    expect(what).toMatchObject({ globs: ['docs/*', '!docs/', 'a.md'] });
    await shell.says(['unfollow', String(id)]);
  });

  it.each(['no-such-server', './no-such-server'])('lsp -- %s is refused, because there is no such program', async (program) => {
    expect(await shell.run(['follow', 'lsp', '--', program])).toEqual({
      code: 7,
      stdout: '',
      stderr: `earpiece: follow lsp: the program "${program}" does not exist; install the program, or write its path\n`,
    });
  });

  it('the error for a missing gh or an unknown id says what to do', async () => {
    const { code, stderr } = await shell.run(['follow', 'pr', '12'], { env: { PATH: shell.folder } });
    expect(code).toBe(11);
    expect(stderr).toContain('gh, the command line of GitHub, is not installed; install gh from https://cli.github.com');
    expect((await shell.run(['unfollow', 'f9'])).stderr).toContain(
      'shop has no follower with the id "f9"; this project follows nothing',
    );
  });
});
