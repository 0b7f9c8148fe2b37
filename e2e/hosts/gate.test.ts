/** Tests the gate with six real agents: a batch of writing calls, an agent that never pulls, and a pause that a person lifts. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as think } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import type { Recorded } from '../model/tap.ts';
import { textsOf } from '../model/texts.ts';
import { proves } from '../verifies.ts';
import { earpiece, send, wrappedFixture } from './earpiece.ts';
import { clientNames, type ClientName } from './pins.ts';
import { run } from './run.ts';
import { told } from './told.ts';

/** Removes `get_notifications` from the agent's tools. The scripted model of the other clients never calls this tool. */
const DENIED: Partial<Record<ClientName, readonly string[]>> = {
  claude: ['--disallowedTools', 'mcp__fixture__get_notifications'],
};

const REFUSED = 'this call was not made, an interrupt came first';
const write = (id: string) => ({ mcp: 'fixture', tool: 'output', args: { id, chars: 40 } });

describe.for(clientNames)('%s whose model never calls get_notifications', (client) => {
  proves('hosts:gate');

  test('gets its whole batch refused by a critical notification, then continues; a pause holds until a person lifts it', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hosts-'));
    const database = path.join(folder, 'earpiece.db');
    const requests: Recorded[] = [];
    const lifted: string[] = [];
    try {
      using seen = await run(client, {
        mcpServers: { fixture: wrappedFixture(database) },
        args: DENIED[client] ?? [],
        script: [
          { calls: [write('first')] },
          { calls: [write('batch-one'), write('batch-two'), write('batch-three')] },
          { calls: [write('asked-again')] },
          { calls: [write('paused-one')] },
          { calls: [write('paused-two')] },
          { calls: [write('lifted')] },
          { text: 'ALL-DONE' },
        ],
        onRequest: (request) => void requests.push(request),
        async onToolStep({ step, home }) {
          if (step === 1) await send(home, database, 'CRITICAL-WORD the disk burns', '--level', 'critical');
          // A real model needs more time than ASKED_AGAIN_MS to answer. So the next call counts as a new request.
          if (step === 2 || step === 4) await think(ASKED_AGAIN_MS);
          if (step === 3) await send(home, database, 'PAUSE-WORD hold on', '--action', 'pause');
          if (step === 5) lifted.push(await earpiece(home, database, ...resumeIn(requests)));
        },
      });
      expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
      const most = (marker: string): number => told(seen, marker);
      const made = (id: string): readonly [string, number] => [id, most(`OUT-${id}-`)];
      expect(
        ['first', 'batch-one', 'batch-two', 'batch-three', 'asked-again', 'paused-one', 'paused-two', 'lifted'].map(made),
      ).toEqual([
        ['first', 1],
        ['batch-one', 0],
        ['batch-two', 0],
        ['batch-three', 0],
        ['asked-again', 1],
        ['paused-one', 0],
        ['paused-two', 0],
        ['lifted', 1],
      ]);
      const refusals = { critical: most('CRITICAL-WORD'), pause: most('PAUSE-WORD'), all: most(REFUSED) };
      console.log(`${client}: ${refusals.critical} calls refused by the critical, ${refusals.pause} by the pause`);
      expect(refusals).toEqual({ critical: 3, pause: 2, all: 5 });
      expect(lifted).toEqual([expect.stringContaining('continues; the pause') as string]);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Returns the command in the refusal, as a person would copy it. */
function resumeIn(requests: readonly Recorded[]): readonly string[] {
  const command = requests
    .flatMap((request) => textsOf(request))
    .map(({ text }) => /`earpiece (resume [^`]+)`/.exec(text)?.[1])
    .find((found) => found !== undefined);
  if (command === undefined) throw new Error('no refusal names the command that lifts the pause');
  return command.split(' ');
}
