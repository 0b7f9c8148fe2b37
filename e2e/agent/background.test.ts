/** Tests that an agent whose model works with background tools gets a notification of their end once, without asking. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../src/agent/index.ts';
import { createAgent, type Tool } from '../../src/agent/index.ts';
import { scriptedModel, type ScriptedModel, type Step } from '../../src/agent/scripted-model.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { handleRegistry, runTool } from '../../src/handles/index.ts';
import { memoryStore } from '../../src/stores/index.ts';
import { verifies } from '../verifies.ts';

const ADDRESS = 'shop/coder#main';

describe('an agent and its background tools', () => {
  let folder: string;
  let inbox: Inbox;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'earpiece-background-'));
    inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  });
  afterEach(async () => {
    await inbox.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs one turn of `steps`. Returns the last request to the model, and the called tools. */
  const turn = async (
    steps: readonly Step[],
    tools: readonly Tool[] = [],
  ): Promise<{ model: ScriptedModel; last: string; called: string[]; how: string }> => {
    await using handles = handleRegistry({
      tools: [runTool({ cwd: folder })],
      address: ADDRESS,
      folder: join(folder, 'handles'),
      inbox,
    });
    const model = scriptedModel(steps);
    await using agent = await createAgent({
      model,
      earpiece: inbox,
      address: ADDRESS,
      tools: [...handles.tools, ...tools],
      onTurnEnd: ({ signal }) => handles.endOfTurn({ signal }),
    });
    const called: string[] = [];
    const events = agent.events();
    const watching = (async () => {
      for await (const event of events as AsyncIterable<AgentEvent>) if (event.type === 'tool_started') called.push(event.name);
    })();
    const { how } = await agent.send('go');
    events.close();
    await watching;
    return { model, last: JSON.stringify(model.requests.at(-1)?.prompt), called, how };
  };

  it('a build runs while the agent works; one notification reports its end, and no call asks for it', async () => {
    let worked = 0;
    const work: Tool = {
      name: 'work',
      description: 'other work',
      inputSchema: { type: 'object' },
      execute: async () => {
        // The build ends during the eighth piece of work.
        if (++worked === 8) {
          writeFileSync(join(folder, 'go'), '');
          while ((await inbox.open('shop/coder')).length === 0) await sleep(10);
        }
        return { content: `piece ${worked}` };
      },
    };
    const command = 'until [ -e go ]; do sleep 0.05; done; echo built in full; exit 3';
    const steps: Step[] = [
      { calls: [{ id: 'b', name: 'run', args: { command, background: true, id: 'build' } }] },
      ...Array.from({ length: 12 }, (_, i): Step => ({ calls: [{ id: `w${i}`, name: 'work' }] })),
      { text: 'I see how the build ended' },
    ];
    const { model, last, called, how } = await turn(steps, [work]);
    expect(how).toBe('complete');
    expect(called.filter((name) => name !== 'work')).toEqual(['run']);
    expect(last.match(/Background run/g)).toHaveLength(1);
    expect(last).toMatch(/Background run [^.]*build[^.]* exit code 3|build.*exit(ed)? (with )?code 3/);
    // Request 0 has the person's message, request 1 the result of the spawn, and request 9 the result of the eighth piece of
    // work.
    const first = model.requests.findIndex((request) => JSON.stringify(request.prompt).includes('Background run'));
    expect(first).toBe(1 + 8);
  });

  verifies('queue:handles', 'a background tool whose end the model awaits gives no notification of that end', async () => {
    const steps: Step[] = [
      {
        calls: [
          { id: 's', name: 'run', args: { command: 'sleep 0.3; echo built', background: true, id: 'build' } },
          { id: 'a', name: 'await', args: { all: ['build'] } },
          { id: 'r', name: 'run', args: { command: 'echo beside' } },
        ],
      },
      { calls: [{ id: 'r2', name: 'run', args: { command: 'echo later' } }] },
      { text: 'done' },
    ];
    const { last, called } = await turn(steps);
    expect(called.toSorted()).toEqual(['await', 'run', 'run', 'run']);
    expect(last).toContain('built');
    expect(last).toContain('beside');
    expect(last).not.toContain('Background run');
    expect((await inbox.open('shop/coder')).length).toBe(0);
  });

  it('the agent drives git add --patch to its end through a terminal', async () => {
    const repo = join(folder, 'repo');
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', repo, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { encoding: 'utf8' });
    execFileSync('git', ['init', '-q', repo]);
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
    writeFileSync(join(repo, 'poem.txt'), `${lines.join('\n')}\n`);
    git('add', '.');
    git('commit', '-qm', 'one');
    writeFileSync(join(repo, 'poem.txt'), `${['FIRST', ...lines.slice(1, 39), 'LAST'].join('\n')}\n`);
    const { last, how } = await turn([
      { calls: [{ id: 'c1', name: 'run', args: { command: 'git add --patch', cwd: 'repo', pty: true, id: 'staging' } }] },
      { calls: [{ id: 'c2', name: 'run', args: { action: 'apply', id: 'staging', input: 'n' } }] },
      { calls: [{ id: 'c3', name: 'await', args: { any: ['staging'], timeout_secs: 1 } }] },
      { calls: [{ id: 'c4', name: 'run', args: { action: 'apply', id: 'staging', input: 'y' } }] },
      { calls: [{ id: 'c5', name: 'await', args: { all: ['staging'], timeout_secs: 10 } }] },
      { text: 'staged' },
    ]);
    expect(how).toBe('complete');
    expect(last).toContain('exit code 0');
    expect(git('diff', '--cached')).toContain('+LAST');
    expect(git('diff', '--cached')).not.toContain('+FIRST');
  });
});
