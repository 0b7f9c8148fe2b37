/** Tests real agents whose hooks are slow or whose refusals are lost, as on a busy machine or after the machine was suspended. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { send } from './earpiece.ts';
import { place } from './hook-place.ts';
import { filesOf } from './hooked.ts';
import type { ClientName } from './pins.ts';
import { run } from './run.ts';
import { told } from './told.ts';
import { inTranscript } from './transcript.ts';

const touch = (file: string) => ({ shell: `touch ${file}` });

type Agent = { readonly client: ClientName; readonly before: string; readonly calls: readonly string[] };

const AGENTS: readonly Agent[] = [
  { client: 'codex', before: 'PreToolUse', calls: ['before', 'ran'] },
  // The model of these agents reads the interrupt with the result of the call that ran. The transcript or a hook proves the reading.
  { client: 'claude', before: 'PreToolUse', calls: ['before', 'next', 'ran'] },
  { client: 'gemini', before: 'BeforeTool', calls: ['before', 'next', 'ran'] },
  { client: 'qwen', before: 'PreToolUse', calls: ['before', 'next', 'ran'] },
];

describe.for<Agent>(AGENTS)('$client', ({ client, before, calls }) => {
  test('reads the interrupt of a lost refusal again, flagged, before its next call or in place of that call', async () => {
    proves('hosts:lost-refusal');
    using at = place(client);
    using seen = await run(client, {
      // The agent gets no answer, as if it had stopped waiting for the hook.
      hooks: at.hooks({ [before]: `if rm "$HOME/armed" 2>/dev/null; then HOOK >/dev/null; else HOOK; fi` }),
      env: at.env,
      script: [{ calls: [touch('before')] }, { calls: [touch('ran')] }, { calls: [touch('next')] }, { text: 'ALL-DONE' }],
      async onToolStep({ step, home }) {
        // The proof is the transcript, which Claude Code writes a moment after the hook. A scripted model is faster than this
        // write.
        if (step === 2 && client === 'claude') await inTranscript(path.join(home, '.claude'), ', repeated');
        if (step !== 1) return;
        await send(home, at.database, 'STOP-WORD the release is broken', '--action', 'cancel');
        fs.writeFileSync(path.join(home, 'armed'), '');
      },
    });
    expect({ exitCode: seen.exitCode, files: filesOf(seen).toSorted() }).toEqual({ exitCode: 0, files: calls });
    // The third request has the result of the call that the lost refusal should have stopped.
    expect(seen.main.findIndex((request) => told({ client, main: [request] }, ', repeated') > 0)).toBe(2);
    expect(told(seen, 'STOP-WORD')).toBe(calls.includes('next') ? 1 : 2);
  });
});

describe.for(AGENTS.filter(({ client }) => client !== 'codex'))('$client', ({ client, before }) => {
  test('makes no call of an interrupted batch, even if the hooks run more than a second apart, and then continues', async () => {
    proves('hosts:slow-batch');
    using at = place(client);
    using seen = await run(client, {
      hooks: at.hooks({ [before]: `if [ -e "$HOME/slow" ]; then sleep 1.3; fi; HOOK` }),
      env: at.env,
      script: [
        { calls: [touch('before')] },
        { calls: [touch('one'), touch('two'), touch('three')] },
        { calls: [touch('after')] },
        { text: 'ALL-DONE' },
      ],
      async onToolStep({ step, home }) {
        if (step === 1) {
          await send(home, at.database, 'STOP-WORD the release is broken', '--level', 'critical');
          fs.writeFileSync(path.join(home, 'slow'), '');
        }
        if (step === 2) fs.rmSync(path.join(home, 'slow'));
      },
    });
    expect({ exitCode: seen.exitCode, files: filesOf(seen).toSorted() }).toEqual({ exitCode: 0, files: ['after', 'before'] });
    expect(told(seen, 'STOP-WORD')).toBe(3);
  });
});
