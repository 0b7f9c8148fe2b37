/**
 * Measures the cost of the hooks for a real agent: the time between a tool call and the model's next request, with and without
 * hooks.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HOOK_HOSTS, PLUGIN_HOSTS } from '../../src/hosts/index.ts';
import type { JsonObject } from '../model/json.ts';
import { binaryOf, type ClientName } from './pins.ts';
import { run } from './run.ts';

/** The command line of the built package, as users run it. */
export const CLI = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The first calls of a session start processes and fill the database's caches, so they do not count. */
const WARM = 25;
const COUNTED = 40;

export const STATES = ['without', 'nothing open', 'one open'] as const;
export type State = (typeof STATES)[number];

// From the 30th call of a turn, Gemini CLI also asks its model at intervals whether the agent repeats itself.
const SETTINGS: Partial<Readonly<Record<ClientName, JsonObject>>> = { gemini: { model: { disableLoopDetection: true } } };

/** Returns the median time of a step in ms: the model's call, the hooks, `true` in the agent's shell, the next request. */
export async function stepOf(client: ClientName, state: State): Promise<number> {
  const answered: number[] = [];
  using seen = await run(client, {
    script: [...Array.from({ length: WARM + COUNTED }, (_, n) => ({ calls: [{ shell: `true ${n}` }] })), { text: 'ALL-DONE' }],
    settings: SETTINGS[client] ?? {},
    mcpServers: state === 'without' || client === 'pi' ? {} : { earpiece: { command: process.execPath, args: [CLI, 'mcp'] } },
    onPrepared(home) {
      if (state !== 'without') earpiece(home, client, 'install', client, '--yes');
    },
    onToolStep({ step, home }) {
      // The notification waits for the next prompt, so each call checks and adds nothing.
      if (step === 0 && state === 'one open')
        earpiece(home, client, 'send', '--to', agentOf(client), '--deliver', 'turn_start', 'x');
      answered[step] = Date.now();
    },
  });
  if (seen.exitCode !== 0) throw new Error(`${client}, ${state}: ended with ${seen.exitCode}: ${seen.stderr.slice(-500)}`);
  const took = answered.flatMap((at, step) => {
    const next = seen.main[step + 1];
    return next === undefined || step < WARM ? [] : [Date.parse(next.at) - at];
  });
  if (took.length < COUNTED / 2)
    throw new Error(
      `${client}, ${state}: its session ended after ${seen.main.length} requests: ${`${seen.stdout}\n${seen.stderr}`.trim().slice(-500)}`,
    );
  return took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)] ?? Number.NaN;
}

const agentOf = (client: ClientName): string =>
  `work/${[...HOOK_HOSTS, ...PLUGIN_HOSTS].find(({ name }) => name === client)?.agent ?? ''}`;

function earpiece(home: string, client: ClientName, ...args: readonly string[]): void {
  execFileSync(process.execPath, [CLI, ...args], {
    cwd: path.join(home, 'work'),
    env: {
      PATH: [path.dirname(binaryOf(client)), path.dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      HOME: home,
      XDG_CONFIG_HOME: path.join(home, '.config'),
      XDG_STATE_HOME: path.join(home, '.local/state'),
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

export const isBuilt = (): boolean => fs.existsSync(CLI);
