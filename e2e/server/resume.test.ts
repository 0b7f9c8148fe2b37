/** Tests that a person lifts pauses over HTTP like `earpiece resume` on the database: the same words, the same records. */
import { expect } from 'vitest';
import { ApiError } from '../../src/wire/client/index.ts';
import { Shell } from '../cli/shell.ts';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

const AGENTS = ['coder#a1', 'coder#a2', 'writer#main'];

async function paused(stage: Stage): Promise<void> {
  for (const each of AGENTS) await stage.inbox.conversation(`shop/${each}`, { host: 'codex' }).seen();
  await stage.inbox.queue('shop/*', { action: 'pause', message: 'hold on', origin: { person: 'Anna' } });
}

/**
 * Returns the notifications that were queued after this position, each with its log, conversation, message, action and origin.
 */
async function told(stage: Stage, after: number): Promise<unknown[]> {
  const records = await stage.inbox.store.read({ after, types: ['system_notification_queued'] });
  return records
    .map(({ log, body }) => {
      const { conversation, message, action, origin } = body as unknown as Record<string, unknown>;
      return { log, conversation, message, action, origin };
    })
    .toSorted((a, b) => `${a.log} ${String(a.conversation)}`.localeCompare(`${b.log} ${String(b.conversation)}`));
}

const withoutTimes = (text: string): string => text.replaceAll(/\d\d:\d\d(?::\d\d)?/gu, 'hh:mm');

verifies('server:lifted', 'earpiece resume has the same output and effect with --server as on the database', async () => {
  const steps: readonly (readonly string[])[] = [
    ['coder#a1', '--as', 'Ben', '--message', 'the migration is over'],
    ['coder', '--as', 'Ben'],
    ['coder', '--as', 'Ben'],
    ['--as', 'Ben'],
    ['nobody'],
  ];
  const did = async (remote: boolean): Promise<unknown> => {
    await using shell = new Shell();
    await using stage = await Stage.open({ db: shell.db });
    const { token } = await stage.as({ kind: 'project', project: 'shop' });
    await paused(stage);
    await (await stage.inbox.conversation('shop/writer#main', { host: 'codex' }).refuse({ on: 'deploy' }))?.offer?.confirm();
    const all: unknown[] = [];
    for (const step of steps) {
      const head = await stage.inbox.store.head();
      const args = ['resume', ...step, ...(remote ? ['--server', stage.at.url] : [])];
      const said = await shell.says(args, { env: { EARPIECE_TOKEN: token } });
      all.push({ step, said: withoutTimes(said).split('\n').toSorted(), told: await told(stage, head) });
    }
    all.push((await stage.client.agents()).items.map(({ log, paused: is }) => [log, is]));
    return all;
  };
  const local = await did(false);
  const standing =
    "the pause of shop/* still holds for conversations that begin later; to lift the pause for all: earpiece resume 'shop/*'";
  expect(local).toMatchObject([
    {
      said: ['', 'shop/coder#a1  continues; the pause by person Anna of hh:mm was lifted │ hold on', standing],
      told: [{ message: 'the migration is over', origin: { person: 'Ben' } }],
    },
    {
      said: [
        '',
        'shop/coder#a2  continues; the pause by person Anna of hh:mm was lifted (no record says that the agent saw this pause) │ hold on',
        standing,
      ],
      told: [],
    },
    { said: ['', 'nothing is paused for shop/coder', standing], told: [] },
    { told: [{ log: 'shop/writer', message: 'Go on.', action: 'resume', origin: { person: 'Ben' } }] },
    { said: ['', 'nothing is paused for shop/nobody'] },
    [
      ['shop/coder', false],
      ['shop/writer', false],
    ],
  ]);
  expect(await did(true)).toEqual(local);
});

verifies('server:lifted', 'the route for interrupts cannot lift a pause; a resume with a wrong address is refused', async () => {
  await using stage = await Stage.open();
  await paused(stage);
  const refused = (path: string, body: unknown): Promise<unknown> =>
    stage.client.call('POST', path, { body }).catch((error: unknown) => (error instanceof ApiError ? error.message : error));
  expect(await refused('/api/projects/shop/agents/coder/interrupt', { action: 'resume' })).toContain('action');
  expect(await refused('/api/resume', { to: 'coder' })).toContain('coder');
  expect((await stage.client.agents()).items.every((agent) => agent.paused)).toBe(true);
  const { lifted, effects } = await stage.client.resume('shop/*', { author: 'Ben' });
  expect(lifted.map(({ log, conversation }) => `${log}#${conversation}`).toSorted()).toEqual([
    'shop/*#null',
    'shop/coder#a1',
    'shop/coder#a2',
    'shop/writer#main',
  ]);
  expect(effects.map(({ address }) => address).toSorted()).toEqual(AGENTS.map((each) => `shop/${each}`));
});
