/** The command line with `--server`: it says of a server what it says of the database. */
import { expect, it } from 'vitest';
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

    const coder = stage.inbox.conversation('shop/coder#a1', { host: 'codex', carrier: 'gateway:stdio files' });
    await coder.seen();
    expect(await say(['send', '--to', 'coder', '--id', 'n1', '--level', 'error', '--kind', 'ci.failed', 'CI failed'])).toBe(
      'n1  queued for shop/coder\n',
    );
    expect(await say(['send', '--to', 'coder', '--id', 'n1', 'again'])).toBe(
      'n1  was queued before for shop/coder; nothing changed\n',
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

    const offer = await coder.offer({ at: 'tool_result', on: 'read' });
    await offer?.confirm();
    expect(await say(['send', '--to', 'coder', '--id', 'n1', '--wait', 'delivered', 'again'])).toMatch(/; delivered\n$/u);
    const late = await shell.run(['send', '--to', 'coder', '--wait', 'read', '--timeout', '100ms', 'never read', ...there], as);
    expect(late).toMatchObject({ code: 3, stderr: '' });
    expect(late.stdout).toMatch(/; not read within 100ms, it is still waiting\n$/u);
  },
  120_000,
);

it('follows the log of a server', async () => {
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

it('watches a server', async () => {
  proves('server:cli');
  await using shell = new WithToken();
  await using stage = await Stage.open({ db: shell.db });
  shell.token = stage.token;
  await stage.inbox.queue('shop/coder', { message: 'before' });
  const watching = shell.begin(['watch', 'coder', '--server', stage.at.url]);
  // It says nothing of its own when it watches: each of these is one that it may still have missed.
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

it('says what is wrong, with the exit code of its kind', async () => {
  proves('server:cli', 'cli:exit-codes');
  await using shell = new Shell();
  await using stage = await Stage.open({ db: shell.db });
  const { token } = await stage.as({ kind: 'project', project: 'docs' });
  const run = (args: readonly string[], env: Record<string, string> = { EARPIECE_TOKEN: stage.token }) =>
    shell.run(args, { env });
  expect(await run(['why', 'nope', '--server', stage.at.url])).toEqual({
    code: 7,
    stdout: '',
    stderr: 'earpiece: no notification "nope"; GET /api/notifications lists what there is\n',
  });
  expect(await run(['agents', '--server', stage.at.url], { EARPIECE_TOKEN: 'ep_x' })).toEqual({
    code: 2,
    stdout: '',
    stderr: 'earpiece: EARPIECE_TOKEN: the token is not valid, or not any more\n',
  });
  expect((await run(['agents', '--server', stage.at.url], { EARPIECE_TOKEN: token })).stderr).toBe(
    'earpiece: reading project shop is not what the project token "a project" is for: it is for project docs; use another token\n',
  );
});

/** Ages and the moment of a command differ between two runs. */
const withoutAges = (text: string): string => text.replaceAll(/\d+ s ago/gu, '… ago').replaceAll(/ends in \S+/gu, 'ends in …');
