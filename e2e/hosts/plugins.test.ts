/** Tests opencode and pi with the plugin: the texts that the model reads, their places, and the calls that the gate refuses. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as think } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import { find } from '../model/find.ts';
import { prefixChanges } from '../model/prefix.ts';
import type { Recorded } from '../model/tap.ts';
import type { Script } from '../model/script.ts';
import { textsOf } from '../model/texts.ts';
import { proves } from '../verifies.ts';
import { address, earpiece, pluginOf, send, wrappedFixture } from './earpiece.ts';
import { end, processesOf } from './processes.ts';
import { run, type Run, type RunOptions } from './run.ts';
import { told } from './told.ts';

const HOSTS = ['opencode', 'pi'] as const;
type Host = (typeof HOSTS)[number];

/** The argument of the built-in tool that reads a file. */
const PATH_ARGUMENT: Readonly<Record<Host, string>> = { opencode: 'filePath', pi: 'path' };
const failing = (host: Host) => ({ name: 'read', args: { [PATH_ARGUMENT[host]]: '/nowhere/at-all' } });
/** The documented places of a report: messages, and in opencode also the results of built-in tools. */
const PLACES: Readonly<Record<Host, readonly string[]>> = { opencode: ['tool/tool_result', 'user/text'], pi: ['user/text'] };
const shell = (command: string) => ({ shell: command });
const note = (text: string) => ({ mcp: 'fixture', tool: 'note', args: { text } });
const word = (n: number): string => `WORD-${String(n).padStart(2, '0')}-`;
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

type Step = {
  readonly words?: readonly number[];
  readonly late?: number;
  readonly critical?: number;
  readonly act?: () => unknown;
};

describe.for(HOSTS)('%s with the plugin', (host) => {
  proves('hosts:plugins');

  test('reads each of 20 notifications once, two of them critical, over two turns with built-in tools', async () => {
    using stage = stageOf(host);
    using first = await stage.turn({
      script: [
        { calls: [shell('echo one')] },
        { calls: [shell('echo two'), shell('false'), failing(host)] },
        { calls: [failing(host)] },
        { calls: [shell('sleep 4')] },
        { calls: [shell('echo critical')] },
        { calls: [shell('echo three'), shell('echo four'), shell('echo five')] },
        { text: 'FIRST-DONE' },
      ],
      steps: {
        0: { words: [0, 1, 2] },
        1: { words: [3, 4, 5] },
        2: { words: [6, 7] },
        3: { words: [8], late: 9 },
        4: { critical: 13 },
        5: { words: [10, 11, 12] },
      },
    });
    expect(ends(first)).toEqual({ exitCode: 0, leftovers: [] });
    await stage.send(first.home, [14, 15]);
    using second = await stage.turn({
      home: first.home,
      resume: true,
      script: [
        { calls: [shell('echo six')] },
        { calls: [shell('echo seven'), failing(host)] },
        { calls: [shell('echo eight')] },
        { text: 'ALL-DONE' },
      ],
      steps: { 0: { critical: 18 }, 1: { words: [16, 17] }, 2: { words: [19] } },
    });
    expect(ends(second)).toEqual({ exitCode: 0, leftovers: [] });
    const all = [...first.main, ...second.main];
    expect(countsOf({ client: host, main: all }, numbers(20))).toEqual(once(numbers(20)));
    expect(told({ client: host, main: all }, ', repeated')).toBe(0);
    const reported = numbers(20).filter((n) => n !== 13 && n !== 18);
    expect(placesOf(second, reported).filter((place) => !PLACES[host].includes(place))).toEqual([]);
    for (const seen of [first, second]) expect(prefixChanges(seen.main)).toEqual([]);
  });

  test('is stopped by a pause at the very next call, built-in or wrapped, until a person lifts it', async () => {
    using stage = stageOf(host);
    const requests: Recorded[] = [];
    const lifted: string[] = [];
    using seen = await stage.turn({
      mcpServers: { fixture: wrappedFixture(stage.database) },
      script: [
        { calls: [shell('touch first'), note('first')] },
        { calls: [shell('touch paused-one')] },
        { calls: [note('paused-two'), shell('touch paused-three')] },
        { calls: [shell('touch lifted'), note('lifted')] },
        { text: 'ALL-DONE' },
      ],
      onRequest: (request) => void requests.push(request),
      steps: {
        1: { act: () => send(stage.home, stage.database, 'PAUSE-WORD hold on', '--action', 'pause') },
        // A real model needs more time than ASKED_AGAIN_MS to answer. After this time, a pause still holds.
        2: { act: () => think(ASKED_AGAIN_MS) },
        3: { act: async () => lifted.push(await earpiece(stage.home, stage.database, ...resumeIn(requests))) },
      },
    });
    expect(ends(seen)).toEqual({ exitCode: 0, leftovers: [] });
    const made = (name: string): boolean => fs.existsSync(path.join(seen.home, 'work', name));
    expect(['first', 'paused-one', 'paused-three', 'lifted'].map(made)).toEqual([true, false, false, true]);
    expect(['first', 'paused-two', 'lifted'].map((id) => told(seen, `NOTED-${id}`))).toEqual([1, 0, 1]);
    expect(told(seen, 'PAUSE-WORD')).toBe(3);
    expect(lifted).toEqual([expect.stringContaining('continues; the pause') as string]);
    expect(prefixChanges(seen.main)).toEqual([]);
  });

  test('reads each of 10 notifications once, through its plugin or the gateway of its session', async () => {
    using stage = stageOf(host);
    using seen = await stage.turn({
      mcpServers: { fixture: wrappedFixture(stage.database) },
      script: [
        { calls: [note('one')] },
        { calls: [shell('echo two'), note('two')] },
        { calls: [note('three'), note('four'), shell('echo four')] },
        { calls: [shell('echo five')] },
        { calls: [note('six')] },
        { text: 'ALL-DONE' },
      ],
      steps: { 0: { words: [0, 1] }, 1: { words: [2, 3] }, 2: { words: [4, 5, 6] }, 3: { words: [7, 8] }, 4: { words: [9] } },
    });
    expect(ends(seen)).toEqual({ exitCode: 0, leftovers: [] });
    expect(countsOf(seen, numbers(10))).toEqual(once(numbers(10)));
    // The agent has one conversation: its gateway does not open a second conversation.
    expect(await earpiece(seen.home, stage.database, 'agents', '--json')).not.toContain('pid-');
    expect(prefixChanges(seen.main)).toEqual([]);
  });

  test('loses nothing when its bridge is killed, or when the agent is killed and resumed', async () => {
    using stage = stageOf(host);
    using killed = await stage.turn({
      script: [
        { calls: [shell('echo one')] },
        { calls: [shell('echo two')] },
        { calls: [shell('echo three')] },
        { calls: [shell('sleep 30')] },
        { text: 'NEVER-SAID' },
      ],
      steps: {
        0: { words: [0] },
        1: {
          words: [1],
          act: () => {
            for (const { pid, command } of processesOf(stage.home)) if (command.includes(' bridge ')) end(pid, 'SIGKILL');
          },
        },
        2: { words: [2] },
        3: { words: [3], act: () => stage.kill() },
      },
    });
    expect(killed.signal).toBe('SIGKILL');
    using second = await stage.turn({
      home: killed.home,
      resume: true,
      // A busy machine needs seconds to start the bridge, and the agent does not wait that long.
      script: [{ calls: [shell('sleep 10')] }, { calls: [shell('echo more')] }, { text: 'ALL-DONE' }],
      steps: {},
    });
    const seen = { client: host, main: [...killed.main, ...second.main] };
    for (const n of numbers(4)) {
      const times = told(seen, word(n));
      expect(times, word(n)).toBeGreaterThanOrEqual(1);
      if (times > 1) expect(told(seen, ', repeated'), word(n)).toBeGreaterThanOrEqual(1);
    }
  });
});

type Turn = Omit<RunOptions, 'onToolStep'> & { readonly script: Script; readonly steps: Readonly<Record<number, Step>> };

function stageOf(host: Host) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-plugins-'));
  const database = path.join(folder, 'earpiece.db');
  const late: Promise<void>[] = [];
  const sends = async (home: string, words: readonly number[]): Promise<void> => {
    for (const n of words) await send(home, database, `${word(n)} something happened`, '--kind', `ci${n}.done`);
  };
  const stage = {
    database,
    home: '',
    kill: (): void => {},
    send: sends,
    turn: async ({ steps, ...options }: Turn): Promise<Run> => {
      // The agent repeats a request that ended for an interrupt. Both requests count as one step.
      const done = new Set<number>();
      const seen = await run(host, {
        ...options,
        hooks: pluginOf(host),
        env: { EARPIECE_ADDRESS: address, EARPIECE_DB: database },
        async onToolStep({ step, home, kill }) {
          stage.home = home;
          stage.kill = () => kill('SIGKILL');
          if (done.has(step)) return;
          done.add(step);
          const { words = [], late: n, critical, act } = steps[step] ?? {};
          await sends(home, words);
          // This notification arrives while the tools of this step run.
          if (n !== undefined) late.push(sends(home, [n]));
          if (critical !== undefined)
            await send(home, database, `${word(critical)} stop and look`, '--kind', `ci${critical}.done`, '--level', 'critical');
          await act?.();
        },
      });
      await Promise.all(late);
      return seen;
    },
    [Symbol.dispose]: (): void => fs.rmSync(folder, { recursive: true, force: true }),
  };
  return stage;
}

const ends = ({ exitCode, leftovers }: Run) => ({ exitCode, leftovers });
const countsOf = (seen: Pick<Run, 'client' | 'main'>, words: readonly number[]) =>
  Object.fromEntries(words.map((n) => [word(n), told(seen, word(n))]));
const once = (words: readonly number[]) => Object.fromEntries(words.map((n) => [word(n), 1]));

/** Returns the places of these words in the last request. */
const placesOf = ({ main }: Run, words: readonly number[]): readonly string[] => [
  ...new Set(words.flatMap((n) => find(main, word(n)).places.map(({ role, type }) => `${role}/${type}`))),
];

/** Returns the command in the refusal, as a person would copy it. */
function resumeIn(requests: readonly Recorded[]): readonly string[] {
  const command = requests
    .flatMap((request) => textsOf(request))
    .map(({ text }) => /`earpiece (resume [^`]+)`/.exec(text)?.[1])
    .find((found) => found !== undefined);
  if (command === undefined) throw new Error('no refusal names the command that lifts the pause');
  return command.split(' ');
}
