/** Tests `earpiece in` with an agent whose box takes a quick Enter as a line break. */
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pty from '@lydell/node-pty';
import { describe, expect, test } from 'vitest';
import { CLI } from '../built.ts';
import { Stage } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';

const AGENT = join(import.meta.dirname, 'boxed-agent.ts');
const NUDGE = 'Earpiece: notifications wait for you.';

type Agent = {
  /** The lines that the agent has sent, in order. */
  readonly sent: () => readonly string[];
  /** Resolves when `like` accepts the output of the terminal. */
  readonly shows: (like: (output: string) => boolean) => Promise<void>;
  readonly type: (keys: string) => void;
};

/** Starts the agent, and queues a notification that wakes it. */
async function woken(env: Record<string, string>, use: (agent: Agent) => Promise<void>): Promise<void> {
  await using stage = new Stage();
  const ear = await stage.open();
  const child = pty.spawn(process.execPath, [CLI, 'in', '--', process.execPath, AGENT], {
    cols: 200,
    cwd: stage.folder,
    env: stage.env(env),
  });
  const ended = new Promise<void>((resolve) => child.onExit(() => resolve()));
  const changes = new EventTarget();
  let output = '';
  child.onData((data) => {
    output += data;
    changes.dispatchEvent(new Event('change'));
  });
  const shows: Agent['shows'] = async (like) => {
    const signal = AbortSignal.timeout(25_000);
    while (!like(output))
      await once(changes, 'change', { signal }).catch((cause: unknown) => {
        throw new Error(`the terminal does not come to this:\n${like.toString()}\nit shows:\n${output}`, { cause });
      });
  };
  try {
    await shows((shown) => shown.includes('READY'));
    await ear.queue('shop/coder', { kind: 'user.message', level: 'critical', message: 'the build ended' });
    const sent = (): readonly string[] =>
      [...output.matchAll(/SENT (".*") END/g)].map(([, line = '']) => JSON.parse(line) as string);
    await use({ sent, shows, type: (keys) => child.write(keys) });
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** Presses Enter as late as a person does, because the agent takes a quick Enter as a line break. */
async function enter({ type }: Agent): Promise<void> {
  await pause(100);
  type('\r');
}

describe('an idle agent in the terminal of `earpiece in`', () => {
  test('gets Enter apart from the line, so that the line is sent and not broken', async () => {
    proves('hosts:in-enter');
    await woken({}, async ({ sent, shows }) => {
      await shows((shown) => shown.includes('SENT '));
      expect(sent()).toEqual([NUDGE]);
    });
  });

  test('that reads the first Enter as a line break gets another Enter, and not the line again', async () => {
    proves('hosts:in-enter');
    await woken({ IGNORED: '1' }, async ({ sent, shows }) => {
      await shows((shown) => shown.includes('SENT '));
      expect(sent()).toEqual([`${NUDGE}\n`]);
    });
  });

  test('gets keys that a person presses between the line and its Enter in the next prompt', async () => {
    proves('hosts:in-keys');
    await woken({}, async (agent) => {
      await agent.shows((shown) => shown.includes(NUDGE));
      agent.type('dra');
      agent.type('ft');
      await agent.shows((shown) => shown.includes('draft"'));
      await enter(agent);
      await agent.shows((shown) => /SENT .*draft/.test(shown));
      expect(agent.sent()).toEqual([NUDGE, 'draft']);
    });
  });

  test("that ignores the line gets the person's next text without the line", async () => {
    proves('hosts:in-keys');
    await woken({ IGNORED: '1' }, async (agent) => {
      await agent.shows((shown) => shown.includes(NUDGE));
      agent.type('draft');
      await agent.shows((shown) => shown.includes('draft"'));
      await enter(agent);
      await agent.shows((shown) => /SENT .*draft/.test(shown));
      expect(agent.sent()).toEqual(['draft']);
    });
  });

  test('gets no line while its input box has unsent text of the person', async () => {
    proves('hosts:in');
    await woken({ DRAFT: 'draft' }, async (agent) => {
      agent.type('draft');
      await agent.shows((shown) => shown.includes('draft"'));
      await agent.shows((shown) => shown.includes('\u0007'));
      await enter(agent);
      await agent.shows((shown) => shown.includes('SENT '));
      expect(agent.sent()).toEqual(['draft']);
    });
  });
});
