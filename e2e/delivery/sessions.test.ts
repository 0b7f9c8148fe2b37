import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect } from 'vitest';
import type { ConversationId, LogKey } from '../../src/core/address.ts';
import { EXIT } from '../../src/cli/exit.ts';
import { proves, verifies } from '../verifies.ts';
import { ECHO, Sessions } from './sessions.ts';
import { PERSON } from './stage.ts';
import { CLI } from '../built.ts';

const SLOW = 60_000;
const LOG = 'shop/claude-code' as LogKey;

const send = async (stage: Sessions, ...args: string[]): Promise<{ code: number | null; stdout: string }> =>
  stage.run(['send', ...args], { env: { EARPIECE_ADDRESS: '', EARPIECE_PROJECT: 'shop' } });
const queued = async (stage: Sessions, ...args: string[]): Promise<string> => {
  const { code, stdout } = await send(stage, '--json', ...args);
  if (code !== 0) throw new Error(`send ended with ${code}: ${stdout}`);
  return (JSON.parse(stdout) as { id: string }).id;
};
const agents = async (stage: Sessions): Promise<string[]> =>
  (await stage.run(['agents', '--json', '--all'])).stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { conversation: string; active: boolean })
    .map(({ conversation, active }) => `${conversation} ${active ? 'active' : 'over'}`)
    .toSorted();

async function listening(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [, url] = /listening on (\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('the gateway ended before it listened');
}

async function httpClient(url: string, conversation: string): Promise<{ call(): Promise<void>; end(): Promise<void> }> {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'earpiece-conversation': `${LOG}#${conversation}`,
  };
  const post = async (frame: object): Promise<Response> => {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...frame }) });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    return response;
  };
  const clientInfo = { name: 'claude-code', version: '2' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const answer = await post({ id: 1, method: 'initialize', params });
  await answer.text();
  headers['mcp-session-id'] = answer.headers.get('mcp-session-id') ?? '';
  await post({ method: 'notifications/initialized' });
  return {
    call: async () => {
      await (await post({ id: 2, method: 'tools/call', params: { name: 'echo', arguments: { text: 'hi' } } })).text();
    },
    end: async () => {
      await fetch(url, { method: 'DELETE', headers });
    },
  };
}

describe('a session that has ended', () => {
  proves('succession:told');

  verifies(
    'presence:active',
    'an ended or killed session gets no more notifications, and the next session gets the notifications for any session',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const yesterday = await stage.session('yesterday');
      expect((await yesterday.call()).text).toBe('hi');
      expect(await agents(stage)).toEqual(['yesterday active']);
      await yesterday.end();
      expect(await agents(stage)).toEqual(['yesterday over']);
      expect((await send(stage, 'news')).code).toBe(EXIT.nobody.code);
      const killed = await stage.session('killed');
      await killed.call();
      await killed.kill();
      expect(await agents(stage)).toEqual(['killed over', 'yesterday over']);
      expect((await send(stage, 'news')).code).toBe(EXIT.nobody.code);
      await queued(stage, '--level', 'critical', 'STOP');
      const today = await stage.session('today');
      expect(await today.call()).toMatchObject({ refused: true, text: expect.stringContaining('STOP') });
    },
    SLOW,
  );

  verifies(
    'presence:active',
    'an HTTP client that deletes its session ends at once, while the gateway and its other clients continue',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const gateway = spawn(process.execPath, [CLI, 'gateway', '--http', '--port', '0', '--', process.execPath, ECHO], {
        cwd: stage.folder,
        env: stage.env(),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const gone = new Promise((resolve) => gateway.once('close', resolve));
      try {
        const url = await listening(gateway.stderr);
        const [one, two] = [await httpClient(url, 'one'), await httpClient(url, 'two')];
        await one.call();
        await two.call();
        expect(await agents(stage)).toEqual(['one active', 'two active']);
        await one.end();
        expect(await agents(stage)).toEqual(['one over', 'two active']);
        await two.call();
        gateway.kill('SIGKILL');
        await gone;
        expect(await agents(stage)).toEqual(['one over', 'two over']);
      } finally {
        gateway.kill('SIGKILL');
        await gone;
      }
    },
    SLOW,
  );

  verifies(
    'presence:health-check',
    'a health check leaves no trace',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const worker = await stage.session('worker');
      await worker.call();
      const check = await stage.session();
      await queued(stage, 'for everyone who is there');
      await check.end();
      expect(await agents(stage)).toEqual(['worker active']);
      await queued(stage, 'later');
      expect((await worker.call()).text).toMatch(/for everyone who is there[^]*later/);
      await worker.end();
      // The worker also got the notification that was queued for the check, so the next session does not inherit it.
      const next = await stage.session('next');
      expect((await next.call()).text).toBe('hi');
      const { stdout } = await stage.run(['inbox', '--all', '--json']);
      expect(stdout).toBe('');
    },
    SLOW,
  );

  verifies(
    'succession:gate',
    'after kill -9 of the host and a resume under a new id, the gate is up, and notifications come once',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const first = await stage.session('first');
      await first.call();
      const news = await queued(stage, '--to', `${LOG}#first`, 'news');
      const stop = await queued(stage, '--to', `${LOG}#first`, '--action', 'pause', 'hold on');
      expect((await first.call()).refused).toBe(true);
      await first.kill();

      const resumed = await stage.session('second');
      expect(await resumed.call()).toMatchObject({ refused: true, text: expect.stringContaining('hold on') });
      expect(await stage.run(['withdraw', stop], PERSON)).toMatchObject({ stdout: expect.any(String) });
      const [once, twice] = [(await resumed.call()).text, (await resumed.call()).text];
      expect([once.match(/news/g)?.length, twice]).toEqual([1, 'hi']);
      const story = `from ${LOG}#first to ${LOG}#second: that session ended`;
      for (const id of [news, stop]) expect((await stage.run(['why', id])).stdout).toContain(story);
      expect((await stage.run(['agents', '--all'])).stdout).toMatch(/#first .* continued by #second/);
      expect(stage.calls().filter(({ text }) => text === 'hi')).toHaveLength(3);
    },
    SLOW,
  );

  verifies(
    'lease:client-died',
    'after kill -9 of the host right after an answer, its notifications come again, flagged, in the next session',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const first = await stage.session('first');
      await first.call();
      await queued(stage, '--to', `${LOG}#first`, 'news');
      expect((await first.call()).text).toContain('news');
      await first.kill();
      const next = await stage.session('second');
      expect((await next.call()).text).toMatch(/repeated[^]*news/);

      // A client that disconnects normally has read the answers that it received.
      await queued(stage, '--to', `${LOG}#second`, 'more');
      expect((await next.call()).text).toContain('more');
      await next.end();
      expect((await (await stage.session('third')).call()).text).toBe('hi');
    },
    SLOW,
  );

  verifies(
    'succession:gate',
    'after kill -9 of the gateway, the same conversation continues with its gate',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const session = await stage.session('one');
      await session.call();
      await queued(stage, '--to', `${LOG}#one`, '--action', 'pause', 'hold on');
      await session.killGateway();
      expect(await session.call()).toMatchObject({ refused: true, text: expect.stringContaining('hold on') });
      expect(await agents(stage)).toEqual(['one active']);
    },
    SLOW,
  );

  verifies(
    'succession:merge',
    'after /clear, the new session of the host process has the waiting notifications and the gate',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const ear = await stage.open();
      const session = await stage.session('start');
      await session.call();
      await queued(stage, '--to', `${LOG}#start`, 'news');
      await queued(stage, '--to', `${LOG}#start`, '--action', 'pause', 'hold on');
      await ear.bind(session.owner, { log: LOG, conversation: 'cleared' as ConversationId });
      expect(await session.call()).toMatchObject({ refused: true, text: expect.stringContaining('hold on') });
      expect((await ear.open(LOG)).map(({ audience }) => audience)).toEqual(expect.arrayContaining(['cleared']));
      expect(await agents(stage)).toEqual(['cleared active', 'start over']);
    },
    SLOW,
  );

  verifies(
    'succession:heir',
    'if one of two windows ends, the active window inherits nothing, and the next window inherits everything',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const [one, two] = [await stage.session('one'), await stage.session('two')];
      await one.call();
      await two.call();
      await queued(stage, '--to', `${LOG}#one`, 'for one');
      await one.kill();
      await two.killGateway();
      expect((await two.call()).text).toBe('hi');
      expect((await (await stage.session('three')).call()).text).toContain('for one');
    },
    SLOW,
  );

  verifies(
    'succession:heir',
    'another worktree and a nested claude -p inherit nothing',
    async () => {
      await using stage = new Sessions();
      const git = (cwd: string, ...args: string[]): void =>
        void execFileSync('git', args, { cwd, env: stage.env(), stdio: 'pipe' });
      const [main, worktree] = [join(stage.folder, 'main'), join(stage.folder, 'worktree')];
      mkdirSync(main);
      git(main, 'init', '-q');
      git(main, '-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-q', '--allow-empty', '-m', 'x');
      git(main, 'worktree', 'add', '-q', worktree);
      const first = await stage.session('first', { cwd: main });
      await first.call();
      await queued(stage, '--to', `${LOG}#first`, 'for main');
      await first.end();
      const elsewhere = await stage.session('elsewhere', { cwd: worktree });
      expect((await elsewhere.call()).text).toBe('hi');
      const nested = await stage.session('nested', { cwd: main, tool: true });
      expect((await nested.call()).text).toBe('hi');
      await nested.end();
      const below = join(main, 'src');
      mkdirSync(below);
      expect((await (await stage.session('next', { cwd: below })).call()).text).toContain('for main');
    },
    SLOW,
  );

  verifies(
    'succession:heir',
    'only one of two simultaneous heirs gets the notification',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      const first = await stage.session('first');
      await first.call();
      await queued(stage, '--to', `${LOG}#first`, 'only once');
      await first.kill();
      const heirs = await Promise.all([stage.session('a'), stage.session('b')]);
      const told = (await Promise.all(heirs.map((heir) => heir.call()))).filter(({ text }) => text.includes('only once'));
      expect(told).toHaveLength(1);
    },
    SLOW,
  );

  verifies(
    'succession:heir',
    'a session that returns after its end gets the notifications that no heir took',
    async () => {
      await using stage = new Sessions();
      stage.config('');
      for (const id of ['back', 'heir']) {
        const first = await stage.session('back');
        await first.call();
        await queued(stage, '--to', `${LOG}#back`, `told ${id}`);
        await first.kill();
        if (id === 'heir') {
          const heir = await stage.session('heir');
          expect((await heir.call()).text).toContain('told heir');
          await heir.end();
        }
        const again = await stage.session('back');
        expect((await again.call()).text).toEqual(id === 'back' ? expect.stringContaining('told back') : 'hi');
        await again.end();
      }
    },
    SLOW,
  );
});
