/** Tests agents that an agent starts in its shell. Each agent has its own conversation. */
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startMock } from '../model/mock.ts';
import { startTap } from '../model/tap.ts';
import { proves } from '../verifies.ts';
import { clients } from './clients/index.ts';
import { earpiece } from './earpiece.ts';
import { temporaryDatabase, withHooks } from './hooked.ts';
import { binaryOf, requireInstalled, type ClientName } from './pins.ts';
import { native, run } from './run.ts';
import { told } from './told.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

test.each<ClientName>(['claude', 'codex'])(
  'Claude Code starts %s in its shell: each of both sessions reads only the notifications for its own conversation',
  async (inner) => {
    proves('hosts:distinct-sessions');
    requireInstalled(inner);
    using database = temporaryDatabase();
    let home = '';
    let addresses: readonly string[] = [];
    await using mock = await startMock({
      script: [
        { calls: [native({ shell: 'touch inner-1' }, inner)] },
        { calls: [native({ shell: 'touch inner-2' }, inner)] },
        { text: 'INNER-END' },
      ],
      async onToolStep(step) {
        if (step !== 1) return;
        const printed = await earpiece(home, database.path, 'agents', '--json');
        const agents = printed
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { log: string; conversation: string });
        addresses = agents.map(({ log, conversation }) => `${log}#${conversation}`);
        for (const to of addresses) await earpiece(home, database.path, 'send', '--to', to, `WORD for ${to}`);
      },
    });
    await using tap = await startTap({ upstream: mock.url, log: path.join(database.folder, 'inner.jsonl') });
    const program = path.join(database.folder, 'inner.sh');
    using outer = await run('claude', {
      ...(({ hooks = {} }) => ({ hooks }))(withHooks('claude', database.path)),
      onPrepared(at) {
        home = at;
        const own = path.join(at, 'inner-home');
        fs.mkdirSync(own);
        const { hooks = {} } = withHooks(inner, database.path);
        const prepared = { home: own, url: tap.url, prompt: 'go', resume: false, mcpServers: {}, hooks, settings: {} };
        const { args, env } = clients[inner].prepare(prepared);
        const variables = { ...env, HOME: own, CLAUDE_CONFIG_DIR: path.join(own, '.claude') };
        const set = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}`);
        const line = `${[binaryOf(inner), ...args].map(quoted).join(' ')} </dev/null >/dev/null 2>&1`;
        fs.writeFileSync(program, [...set, line, ''].join('\n'));
      },
      script: [{ calls: [{ shell: `sh ${program}` }] }, { calls: [{ shell: 'touch outer' }] }, { text: 'END' }],
    });
    const innerOnes = tap.requests.filter(({ method, body }) => method === 'POST' && Array.isArray(body?.['tools']));
    expect({ exitCode: outer.exitCode, sessions: addresses.length }).toEqual({ exitCode: 0, sessions: 2 });
    const heard = addresses.map((to) => [
      told(outer, `WORD for ${to}`),
      told({ client: inner, main: innerOnes }, `WORD for ${to}`),
    ]);
    expect(heard).toHaveLength(2);
    expect(heard).toEqual(
      expect.arrayContaining([
        [0, 1],
        [1, 0],
      ]),
    );
  },
);
