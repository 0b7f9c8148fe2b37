/**
 * Tests which modules a process loads when it starts. Each module costs time and memory at every start, and many processes start.
 * `package.test.ts` counts the files of the build.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Step } from '../loaded.ts';
import { proves } from '../verifies.ts';
import { SourceShell, type Ran } from './shell.ts';

const ROOT = new URL('../../', import.meta.url).href;
const ECHO = join(import.meta.dirname, '../delivery/echo-server.ts');
const GATEWAY = ['gateway', '--as', 'coder', '--', process.execPath, ECHO];
const START = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
];
const HANDSHAKE = START.map((frame) => `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`).join('');

type Loaded = Ran & {
  /** The steps in their order; an empty text is the start of a process. */
  readonly steps: readonly string[];
  readonly children: readonly number[];
  readonly packages: readonly string[];
  readonly kb: number;
};

async function start(shell: SourceShell, args: readonly string[], input = ''): Promise<Loaded> {
  const file = join(shell.folder, `loaded-${performance.now()}`);
  const env = { NODE_OPTIONS: `--import ${ROOT}e2e/loaded.ts`, EARPIECE_TEST_LOADED: file };
  const ran = await (args[0] === 'serve' ? untilItServes(shell, args, env) : shell.run(args, { env, input }));
  const all = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Step);
  // The wrapped server inherits `EARPIECE_TEST_LOADED`, so lines of other processes are left out.
  const own = all.filter(({ pid, main, url }) => pid === all[0]?.pid && main && url !== `${ROOT}e2e/loaded.ts`);
  const children = own.flatMap(({ started }) => started ?? []);
  const steps = own.filter(({ started }) => started === undefined).map(({ url = '' }) => url.replace(ROOT, ''));
  const packages = steps.flatMap((step) => /node_modules\/((?:@[^/]+\/)?[^/]+)/u.exec(step)?.[1] ?? []);
  const ours = own.filter(({ url }) => url?.startsWith(`${ROOT}src/`));
  const kb = Math.round(ours.reduce((sum, { bytes = 0 }) => sum + bytes, 0) / 1_000);
  return { ...ran, steps, children, packages: [...new Set(packages)], kb };
}

async function untilItServes(shell: SourceShell, args: readonly string[], env: Record<string, string>): Promise<Ran> {
  const running = shell.begin(args, { env });
  await running.shows('http://');
  running.process.kill('SIGTERM');
  return running.ended;
}

describe('a gateway', () => {
  proves('gateway:starts-early');

  it('starts the server that it wraps before it loads its own code', async () => {
    await using shell = new SourceShell();
    const { steps, stdout } = await start(shell, GATEWAY, HANDSHAKE);
    expect(steps.slice(0, steps.indexOf(''))).toEqual([
      'src/cli/main.ts',
      'src/cli/hook-guard.ts',
      'src/node-version.ts',
      'src/cli/early.ts',
      'src/mcp/spawned.ts',
      'src/mcp/process-group.ts',
    ]);
    expect(steps.filter((step) => step === '')).toHaveLength(1);
    expect(stdout).toContain('"id":2');
  });

  it.each([
    ['an option that does not exist', ['--nmae', 'x'], 'unknown option'],
    ['a view that does not exist', ['--view', 'x'], 'must be one of'],
    ['an address that is not an agent', ['--as', 'shop/*'], 'whole project'],
  ])('leaves no server behind after %s', async (_, options, why) => {
    await using shell = new SourceShell();
    const { code, stderr, children } = await start(shell, ['gateway', ...options, '--', process.execPath, ECHO]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) });
    for (const pid of children) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('starts no server early if it only prints help or the install line, or serves HTTP', async () => {
    await using shell = new SourceShell();
    for (const options of [['--help'], ['--print', 'claude']])
      expect((await start(shell, ['gateway', ...options, '--', process.execPath, ECHO])).steps).not.toContain('');
  });
});

describe('at its start', () => {
  it.each([
    ['a gateway', GATEWAY, { kb: 1_080, packages: [] }],
    ['earpiece send', ['send', '--to', 'coder', 'x'], { kb: 930, packages: [] }],
    ['earpiece inbox', ['inbox'], { kb: 950, packages: [] }],
    [
      'earpiece serve',
      ['serve', '--port', '0'],
      {
        kb: 1_520,
        packages: [
          'commander',
          'hono',
          '@hono/node-server',
          '@hono/zod-openapi',
          '@asteasolutions/zod-to-openapi',
          '@hono/zod-validator',
          'zod',
          '@toon-format/toon',
          '@opentelemetry/api',
        ],
      },
    ],
    ['earpiece --help', ['--help'], { kb: 56, packages: ['commander'] }],
  ])('%s loads no more than its budget', async (_, args, budget) => {
    await using shell = new SourceShell();
    rmSync(join(shell.folder, 'earpiece.toml'), { force: true });
    const { code, stderr, kb, packages } = await start(shell, args, args === GATEWAY ? HANDSHAKE : '');
    expect({ code, stderr, packages }).toEqual({ code: 0, stderr: '', packages: budget.packages });
    expect(kb).toBeLessThanOrEqual(budget.kb);
  });

  it("earpiece inbox does not ask for the system's time zone, which would load the tables of ICU", async () => {
    await using shell = new SourceShell();
    await shell.run(['send', '--to', 'coder', 'the build ended']);
    const noZone = '--import data:text/javascript,Intl.DateTimeFormat=()=>{throw%20Error()}';
    const { code, stdout, stderr } = await shell.run(['inbox'], { env: { NODE_OPTIONS: noZone } });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: expect.stringContaining('the build ended'), stderr: '' });
  });
});
