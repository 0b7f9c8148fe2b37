/** Tests subscriber files that are added, changed and broken while an agent works, and the texts that its model reads. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { createAgent } from '../../src/agent/index.ts';
import { openLoadedInbox } from '../../src/loaded-inbox.ts';
import { modelOf } from '../agent/apis.ts';
import { doing } from '../agent/talk.ts';
import { find } from '../model/find.ts';
import { inOrder, startModel } from '../model/server.ts';
import { verifies } from '../verifies.ts';
import { subscriberTrust } from '../../src/bus/index.ts';

const file = (id: string, types: string) => `[subscriber]
id = "${id}"
name = "Builds"
[events]
types = ${types}
[output]
priority = "high"
inject_at = "after_tool"
template = "build.toon.j2"
`;

verifies(
  'bus:discovery',
  'US6: a file that is added while the agent runs applies to the next event; a broken file is reported and affects no other file',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'earpiece-live-'));
    const subscribers = join(folder, '.earpiece/subscribers');
    mkdirSync(subscribers, { recursive: true });
    subscriberTrust({ env: { HOME: join(folder, 'home') } }).trust(subscribers);
    const problems: string[] = [];
    const call = (id: string, name: string) => ({ kind: 'call' as const, id, name, args: { word: 'go' } });
    await using model = await startModel(
      inOrder([
        { says: [call('call_1', 'before')] },
        { says: [call('call_2', 'after')] },
        { says: [call('call_3', 'gone')] },
        { says: [{ kind: 'text', text: 'done' }] },
      ]),
    );
    await using ear = await openLoadedInbox({
      db: join(folder, 'earpiece.db'),
      cwd: folder,
      env: { HOME: join(folder, 'home') },
      flags: { project: 'shop' },
      onProblem: (line) => problems.push(line),
    });
    const build = (marker: string) =>
      ear.bus.emit({ type: 'build.failed', source: 'ci', subject: 'shop/coder', severity: 'error', data: { marker } });
    /** Waits until the folders were checked, which happens at most every 10 ms. */
    const heard = (is: boolean) =>
      vi.waitFor(() => expect(ear.bus.subscribers('shop').subscribers.some(({ id }) => id === 'build')).toBe(is), 20_000);
    const tools = [
      doing('before', async () => {
        expect((await build('TOO-EARLY')).heard).toEqual([]);
        writeFileSync(join(subscribers, 'build.toon.j2'), 'build {{ event.payload.marker }} is red');
        writeFileSync(join(subscribers, 'build.toml'), file('build', '["build.failed"]'));
        writeFileSync(join(subscribers, 'broken.toml'), file('broken', '["build.failed"').replace('name =', 'nmae ='));
        await heard(true);
        return { content: 'ok' };
      }),
      doing('after', async () => {
        expect((await build('IN-TIME')).heard).toEqual([expect.objectContaining({ subscriber: 'build', kind: 'queued' })]);
        return { content: 'ok' };
      }),
      doing('gone', async () => {
        rmSync(join(subscribers, 'build.toml'));
        await heard(false);
        expect((await build('TOO-LATE')).heard).toEqual([]);
        return { content: 'ok' };
      }),
    ];
    await using agent = await createAgent({
      model: await modelOf('openai-chat', model.url),
      earpiece: ear,
      address: 'shop/coder',
      tools,
      maxRetries: 0,
    });
    expect(await agent.send('go')).toMatchObject({ how: 'complete' });
    expect(find(model.requests, 'build IN-TIME is red')).toMatchObject({ inLast: 1 });
    expect(find(model.requests, 'TOO-')).toMatchObject({ inLast: 0 });
    expect(problems).toEqual([expect.stringMatching(/broken\.toml:\d+:\d+: /)]);
    rmSync(folder, { recursive: true, force: true });
  },
);
