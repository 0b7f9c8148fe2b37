/**
 * Tests agents and hooks that are killed at the worst moments: a notification that was handed over and is missing from the
 * transcript arrives again.
 */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { place, type Place } from './hook-place.ts';
import { address, send } from './earpiece.ts';
import { run, type Run } from './run.ts';
import { told } from './told.ts';
import { inTranscript } from './transcript.ts';

/** Each host writes this text into its transcript in a different form. */
const WORD = 'WORD-LOST';
const MESSAGE = `${WORD} <the "build" & the tests> ended`;
const shell = (command: string) => ({ calls: [{ shell: command }] });

/** The hook that runs after a tool, and the host's folder of sessions. */
const AGENTS = [
  { client: 'claude', after: 'PostToolBatch', sessions: '.claude/projects' },
  { client: 'codex', after: 'PostToolUse', sessions: '.codex/sessions' },
  { client: 'qwen', after: 'PostToolBatch', sessions: '.qwen/projects' },
] as const;
type Agent = (typeof AGENTS)[number];

describe.each(AGENTS)('The transcript of $client', (agent) => {
  proves('hosts:evidence');

  test('proves that the model got the notification', async () => {
    using at = place(agent.client);
    using seen = await run(agent.client, {
      hooks: at.hooks(),
      env: at.env,
      script: [shell('echo one'), shell('echo two'), { text: 'ALL-DONE' }],
      async onToolStep({ step, home }) {
        if (step === 0) await send(home, at.database, MESSAGE);
      },
    });
    expect({ exitCode: seen.exitCode, told: told(seen, WORD) }).toEqual({ exitCode: 0, told: 1 });
    expect(await recordsOf(at, 'notification_observed')).toEqual([
      expect.objectContaining({ evidence: expect.stringMatching(/^transcript .*\.jsonl$/) as string }),
    ]);
  });

  test('proves what a killed session had read, so its resumed session reads each notification once', async () => {
    using at = place(agent.client);
    using killed = await handed(agent, at, {
      async kill({ home, kill }) {
        await inTranscript(path.join(home, agent.sessions), WORD);
        kill('SIGKILL');
      },
    });
    using resumed = await goesOn(agent, at, killed, true);
    expect({ told: told(resumed, WORD), repeated: told(resumed, ', repeated') }).toEqual({ told: 1, repeated: 0 });
    expect(await recordsOf(at, 'notification_observed')).toHaveLength(1);
  });
});

describe.each(AGENTS)('Text printed by a hook of $client arrives again, flagged, with the same id', (agent) => {
  proves('hosts:lost');

  test('in the next call, when the hook is killed before it confirms', async () => {
    using at = place(agent.client);
    using seen = await run(agent.client, {
      hooks: at.hooks({
        [agent.after]: `if rm "$HOME/armed" 2>/dev/null; then EARPIECE_FAULT=confirm.before HOOK; else HOOK; fi`,
      }),
      env: at.env,
      script: [shell('echo one'), shell('echo two'), { text: 'ALL-DONE' }],
      async onToolStep({ step, home }) {
        if (step !== 0) return;
        await send(home, at.database, MESSAGE);
        fs.writeFileSync(path.join(home, 'armed'), '');
      },
    });
    expect(seen.exitCode).toBe(0);
    expect(told(seen, ', repeated')).toBe(1);
    expect(await offersOf(at)).toEqual([{ repeated: undefined }, { repeated: true }]);
  });

  test.for([
    ['resumed', true],
    ['next', false],
  ] as const)('in the %s session, when the agent is killed before it asked its model', async ([, resume]) => {
    using at = place(agent.client);
    using killed = await handed(agent, at, { hook: `HOOK; if rm "$HOME/armed" 2>/dev/null; then kill -9 "$PPID"; fi` });
    expect(told(killed, WORD)).toBe(0);
    using second = await goesOn(agent, at, killed, resume);
    expect({ told: told(second, WORD), repeated: told(second, ', repeated') }).toEqual({ told: 1, repeated: 1 });
    expect(await offersOf(at)).toEqual([{ repeated: undefined }, { repeated: true }]);
    expect(await recordsOf(at, 'carrier_released')).toEqual([expect.objectContaining({ reason: 'unproven' })]);
  });
});

type Killing = {
  readonly hook?: string;
  readonly kill?: (at: { home: string; kill: (signal: NodeJS.Signals) => void }) => Promise<void>;
};

/**
 * Runs a session of two tool calls, with a notification that is queued at the first call. `hook` replaces the command of the hook
 * after a tool, and `kill` may kill the session at the second call.
 */
async function handed({ client, after }: Agent, at: Place, { hook = 'HOOK', kill }: Killing): Promise<Run> {
  return run(client, {
    hooks: at.hooks({ [after]: hook }),
    env: at.env,
    script: [shell('echo one'), shell('echo two'), { text: 'ALL-DONE' }],
    async onToolStep({ step, home, kill: end }) {
      if (step === 0) {
        await send(home, at.database, MESSAGE);
        fs.writeFileSync(path.join(home, 'armed'), '');
      }
      if (step === 1) await kill?.({ home, kill: end });
    },
  });
}

const goesOn = ({ client }: Agent, at: Place, { home }: Run, resume: boolean): Promise<Run> =>
  run(client, {
    home,
    resume,
    hooks: at.hooks(),
    env: at.env,
    script: [shell('echo three'), { text: 'ALL-DONE' }],
  });

async function recordsOf(at: Place, type: string): Promise<readonly object[]> {
  await using ear = await at.open();
  return (await ear.store.read({ log: address as never, types: [type] })).map(({ body }) => body);
}

const offersOf = async (at: Place): Promise<readonly object[]> =>
  (await recordsOf(at, 'carrier_offered')).map((body) => ({
    repeated: (body as { view: { repeated?: true } }).view.repeated,
  }));
