/** Claude Code and its hooks are killed at the worst moments: what it was handed, and its transcript does not hold, comes again. */
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as poll } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { place, type Place } from './claude-hooks.ts';
import { address, send } from './earpiece.ts';
import { run, type Run } from './run.ts';
import { told } from './told.ts';

const WORD = 'WORD-LOST the build ended';
const shell = (command: string) => ({ calls: [{ shell: command }] });

describe("Claude Code's transcript", () => {
  proves('hosts:evidence');

  test('proves a delivery', async () => {
    using at = place();
    using seen = await run('claude', {
      hooks: at.hooks(),
      env: at.env,
      script: [shell('echo one'), shell('echo two'), { text: 'ALL-DONE' }],
      async onToolStep({ step, home }) {
        if (step === 0) await send(home, at.database, WORD);
      },
    });
    expect({ exitCode: seen.exitCode, told: told(seen, WORD) }).toEqual({ exitCode: 0, told: 1 });
    expect(await recordsOf(at, 'notification_observed')).toEqual([
      expect.objectContaining({ evidence: expect.stringMatching(/^transcript .*\.jsonl$/) as string }),
    ]);
  });

  test('holds what a killed session had read, so that its resumed session reads it once', async () => {
    using at = place();
    using killed = await handed(at, {
      async kill({ home, kill }) {
        await inTranscript(home);
        kill('SIGKILL');
      },
    });
    using resumed = await goesOn(at, killed, true);
    expect({ told: told(resumed, WORD), repeated: told(resumed, ', repeated') }).toEqual({ told: 1, repeated: 0 });
    expect(await recordsOf(at, 'notification_observed')).toHaveLength(1);
  });
});

describe('What a hook printed comes again, flagged, with the same id', () => {
  proves('hosts:lost');

  test('when the hook is killed before it confirms', async () => {
    using at = place();
    using seen = await run('claude', {
      hooks: at.hooks({
        PostToolBatch: `if rm "$HOME/armed" 2>/dev/null; then EARPIECE_FAULT=confirm.before HOOK; else HOOK; fi`,
      }),
      env: at.env,
      script: [shell('echo one'), shell('echo two'), { text: 'ALL-DONE' }],
      async onToolStep({ step, home }) {
        if (step !== 0) return;
        await send(home, at.database, WORD);
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
  ] as const)('in the %s session, when Claude Code is killed before it asked its model', async ([, resume]) => {
    using at = place();
    using killed = await handed(at, { hook: `HOOK; if rm "$HOME/armed" 2>/dev/null; then kill -9 "$CLAUDE_PID"; fi` });
    expect(told(killed, WORD)).toBe(0);
    using second = await goesOn(at, killed, resume);
    expect({ told: told(second, WORD), repeated: told(second, ', repeated') }).toEqual({ told: 1, repeated: 1 });
    expect(await offersOf(at)).toEqual([{ repeated: undefined }, { repeated: true }]);
    expect(await recordsOf(at, 'carrier_released')).toEqual([expect.objectContaining({ reason: 'unproven' })]);
  });
});

type Killing = {
  readonly hook?: string;
  readonly kill?: (at: { home: string; kill: (signal: NodeJS.Signals) => void }) => Promise<void>;
};

/** A session that is killed after its PostToolBatch hook was answered with the word. */
async function handed(at: Place, { hook = 'HOOK', kill }: Killing): Promise<Run> {
  return run('claude', {
    hooks: at.hooks({ PostToolBatch: hook }),
    env: at.env,
    script: [shell('echo one'), shell('echo two'), { text: 'ALL-DONE' }],
    async onToolStep({ step, home, kill: end }) {
      if (step === 0) {
        await send(home, at.database, WORD);
        fs.writeFileSync(path.join(home, 'armed'), '');
      }
      if (step === 1) await kill?.({ home, kill: end });
    },
  });
}

const goesOn = (at: Place, { home }: Run, resume: boolean): Promise<Run> =>
  run('claude', {
    home,
    resume,
    hooks: at.hooks(),
    env: at.env,
    script: [shell('echo three'), { text: 'ALL-DONE' }],
  });

/** Nothing tells when the host has written its file. */
async function inTranscript(home: string): Promise<void> {
  const folder = path.join(home, '.claude/projects');
  const files = (): readonly string[] =>
    fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.jsonl'));
  while (!files().some((file) => fs.readFileSync(path.join(folder, file), 'utf8').includes(WORD))) await poll(20);
}

async function recordsOf(at: Place, type: string): Promise<readonly object[]> {
  await using ear = await at.open();
  return (await ear.store.read({ log: address as never, types: [type] })).map(({ body }) => body);
}

const offersOf = async (at: Place): Promise<readonly object[]> =>
  (await recordsOf(at, 'carrier_offered')).map((body) => ({
    repeated: (body as { view: { repeated?: true } }).view.repeated,
  }));
