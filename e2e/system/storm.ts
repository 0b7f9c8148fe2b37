/**
 * Runs a storm of `kill -9` over gateways, hosts, server, library users and commands that share one database. In the calm after
 * the storm, fresh sessions take the remaining notifications. Then the checker gives its verdict.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { Chance } from './chance.ts';
import { check, type Verdict } from './checker/check.ts';
import { readHistory } from './history.ts';
import { now } from './journal.ts';
import { Producer } from './producers.ts';
import { Quiet } from './quiet.ts';
import { World, type Project } from './world.ts';
import { type Front, Window, type WindowOptions } from './windows.ts';

export type StormOptions = {
  readonly seed: string;
  readonly seconds: number;
  /** The command line's `main` of the build under test. */
  readonly entry: string;
  /** Fewer windows and producers, and no library users, for a test that takes half a minute. */
  readonly small?: true;
  readonly onProgress?: (line: string) => void;
};

export type Stormed = { readonly verdict: Verdict; readonly folder: string; readonly remove: () => void };

/** The fault points at which a server or an HTTP gateway is killed, each with the number of the pass. */
const SERVICE_POINTS = [
  'append.committed:9',
  'queue.acknowledged:5',
  'fan_out.queued:2',
  'offer.appended:4',
  'carrier.after_bytes:4',
  'confirm.before:3',
];
const LIBRARY_POINTS = [
  'append.committed',
  'offer.appended',
  'confirm.before',
  'confirm.after',
  'queue.checked',
  'append.record_written',
];

export async function storm(options: StormOptions): Promise<Stormed> {
  const { seed, seconds, entry, small = false, onProgress = () => {} } = options;
  const world = new World(entry);
  const epoch = Date.now() - now();
  const over = new AbortController();
  const chance = new Chance(`${seed} storm`);
  onProgress(`seed ${seed}, ${seconds} s, taps in ${world.taps}`);

  const token = await administrator(world);
  let server: { url: string; token: string } | undefined;
  let front: Front | undefined;
  const windows = windowsOf(small, () => front).map((of) => new Window(world, of, seed, over.signal));
  const inProject = (project: Project): Window[] => windows.filter((window) => window.options.project === project);
  const resumes = (await world.run('shop', ['help', 'resume'])).code === 0;
  const quiet = new Quiet();
  const producerOf = (project: Project, http: boolean): Producer =>
    new Producer({
      world,
      project,
      seed,
      resumes,
      quiet,
      over: over.signal,
      windows: inProject(project),
      others: small ? [] : [project === 'shop' ? 'shop/loop' : 'lab/relay'],
      ...(http ? { server: () => server } : {}),
    });
  const producers = small
    ? [producerOf('shop', false), producerOf('shop', true)]
    : [producerOf('shop', false), producerOf('shop', true), producerOf('lab', false)];

  for (const window of windows) {
    const of = window.options.project === 'shop' ? producers[0] : producers[2];
    window.person = of;
    window.quiet = quiet;
  }

  const serving = keepUp(over.signal, new Chance(`${seed} server`), async (point) => {
    const service = world.service('server', ['serve', '--port', '0', '--no-console', '--json'], /"url": ?"([^"]+)"/, point);
    const url = await service.ready;
    server = url === undefined ? undefined : { url: url.replace(/\/$/, ''), token };
    void service.ended.then(() => (server = undefined));
    return { pid: service.pid, ended: service.ended, kill: () => world.kill('server', service.pid) };
  });
  const fronting = keepUp(over.signal, new Chance(`${seed} front`), async (point) => {
    const service = world.service(
      'HTTP gateway',
      world.gateway(1, ['--http', '--port', '0']).slice(1),
      /listening on (\S+)/,
      point,
    );
    const url = await service.ready;
    front = url === undefined ? undefined : { url, pid: service.pid };
    void service.ended.then(() => (front = undefined));
    return { pid: service.pid, ended: service.ended, kill: () => world.kill('HTTP gateway', service.pid) };
  });
  const users = small ? [] : [userOf('loop', 'shop', 'carry'), userOf('relay', 'lab', 'offer')];
  function userOf(name: string, project: Project, way: 'carry' | 'offer') {
    const own = new Chance(`${seed} user ${name}`);
    const to = inProject(project).map(({ agent }) => agent);
    const open = (drain: boolean, point?: string) =>
      world.libraryUser(
        {
          library: world.library,
          tap: world.tap('client', name),
          said: world.tap('said', name),
          window: name,
          agent: `${project}/${name}`,
          way,
          to,
          seed: `${seed} ${name} ${own.hex()}`,
          ...(world.faults === undefined ? {} : { faults: world.faults }),
          ...(drain ? { drain: true } : {}),
        },
        project,
        point,
      );
    const live = keepUp(over.signal, own, async (fault) => {
      const user = open(false, fault === undefined ? undefined : `${own.pick(LIBRARY_POINTS)}:${own.between(1, 9)}`);
      return { ...user, kill: () => world.kill('library', user.pid) };
    });
    return { live, drain: () => open(true).ended };
  }

  const lives = [
    ...windows.map((window) => window.live()),
    ...producers.map((producer) => producer.live()),
    serving,
    fronting,
    ...users.map(({ live }) => live),
  ];
  await passes(seconds, { chance, world, windows, producers, onProgress });

  over.abort();
  await Promise.all(lives);
  await calm({ world, windows, producers, users, onProgress });

  const history = readHistory(world.taps);
  return { verdict: check(history, epoch), folder: world.folder, remove: () => world.remove() };
}

function windowsOf(small: boolean, url: () => Front | undefined): readonly WindowOptions[] {
  const claude = {
    project: 'shop',
    agent: 'claude-code',
    program: 'claude',
    client: 'claude-code',
    variable: 'CLAUDE_CODE_SESSION_ID',
  } as const;
  const few: readonly WindowOptions[] = [
    { ...claude, name: 'anna', overture: ['tell', 'crossed', 'takenBack', 'hangUp'] },
    {
      name: 'cora',
      project: 'shop',
      agent: 'codex',
      program: 'codex',
      client: 'codex-mcp-client',
      overture: ['call', 'asksAgain', 'outlived', 'tell', 'deaf'],
    },
    {
      name: 'hugo',
      project: 'shop',
      agent: 'web-agent',
      program: 'relay',
      client: 'web-agent',
      url,
      overture: ['tell', 'crossed', 'hangUp'],
    },
  ];
  if (small) return few;
  return [
    ...few,
    { ...claude, name: 'ben' },
    { name: 'dora', project: 'lab', agent: 'qwen-code', program: 'qwen', client: 'qwen-code', servers: 2 },
    { name: 'emil', project: 'lab', agent: 'opencode', program: 'opencode', client: 'opencode' },
  ];
}

/** Returns an administrator's token, for the producers over HTTP. */
async function administrator(world: World): Promise<string> {
  const { code, stdout, stderr } = await world.run('shop', ['token', 'create', '--kind', 'admin', '--name', 'storm', '--json']);
  if (code !== 0) throw new Error(`earpiece token create ended with ${code}: ${stderr}`);
  return (JSON.parse(stdout) as { token: string }).token;
}

type Kept = { readonly ended: Promise<unknown>; kill(): void };

/** Runs processes one after the other, and kills each after a while, at random or at a fault point. */
async function keepUp(
  over: AbortSignal,
  chance: Chance,
  open: (point: Record<string, string> | undefined) => Promise<Kept>,
): Promise<void> {
  while (!over.aborted) {
    const fault = chance.of(0.25) ? { EARPIECE_FAULT: chance.pick(SERVICE_POINTS) } : undefined;
    const kept = await open(fault);
    const aged = new AbortController();
    const ended = AbortSignal.any([over, aged.signal]);
    await Promise.race([kept.ended, sleep(chance.between(4_000, 14_000), undefined, { signal: ended }).catch(() => {})]);
    aged.abort();
    kept.kill();
    await kept.ended;
    await sleep(chance.between(0, 300));
  }
}

type Passing = {
  readonly chance: Chance;
  readonly world: World;
  readonly windows: readonly Window[];
  readonly producers: readonly Producer[];
  readonly onProgress: (line: string) => void;
};

/**
 * Runs the storm for its duration and takes a backup halfway. Kills all processes together at random times: once for each two
 * minutes of the duration, and at least once.
 */
async function passes(seconds: number, { chance, world, windows, producers, onProgress }: Passing): Promise<void> {
  const started = now();
  const stops = Array.from({ length: Math.max(1, Math.floor(seconds / 120)) }, () => chance.between(30, 90) / 100)
    .map((part) => part * seconds)
    .toSorted((a, b) => a - b);
  let backedUp = false;
  let told = 0;
  const isThin = (): boolean =>
    windows.some(({ isWarm }) => !isWarm) ||
    world.kills < seconds / 4 ||
    producers.reduce((sum, producer) => sum + producer.acknowledged, 0) < seconds / 2;
  // A busy machine gets up to four times the duration, because a verdict after a few actions proves little.
  for (let at = 0; at < seconds || (at < seconds * 4 && isThin()); at = (now() - started) / 1_000) {
    if (stops[0] !== undefined && at > stops[0] && !windows.some(({ isDeaf }) => isDeaf)) {
      stops.shift();
      onProgress(`${Math.round(at)} s: everything is killed at once`);
      world.killAll();
    }
    if (!backedUp && at > seconds / 2) {
      backedUp = true;
      const { code, stderr } = await world.run('shop', ['db', 'backup', join(world.folder, 'backup.db')]);
      if (code !== 0 && code !== null) world.problem(`earpiece db backup ended with ${code}: ${stderr.slice(0, 300)}`);
      if (code === null) backedUp = false;
    }
    if (at - told > 20) {
      told = at;
      onProgress(`${Math.round(at)} s of ${seconds}`);
    }
    await sleep(200);
  }
}

type Calm = {
  readonly world: World;
  readonly windows: readonly Window[];
  readonly producers: readonly Producer[];
  readonly users: readonly { drain(): Promise<unknown> }[];
  readonly onProgress: (line: string) => void;
};

/**
 * Lets new sessions take the remaining notifications. Then checks that the database and the backup are intact, and that no
 * process is left.
 */
async function calm({ world, windows, producers, users, onProgress }: Calm): Promise<void> {
  onProgress('the storm is over; fresh sessions take what is left');
  const front = world.service('HTTP gateway', world.gateway(1, ['--http', '--port', '0']).slice(1), /listening on (\S+)/);
  const url = await front.ready;
  for (const to of new Set(windows.flatMap(({ agent, options }) => [`${options.project}/*`, agent])))
    await producers[0]?.resume(to);
  await sleep(Math.max(0, ...producers.map(({ dueBy }) => dueBy - Date.now())));
  for (let round = 0, left = windows; round < 3 && left.length > 0; round++) {
    const drained = await Promise.all(
      left.map(async (window) => [window, await window.drain(url === undefined ? undefined : { url, pid: front.pid })] as const),
    );
    left = drained.flatMap(([window, isDry]) => (isDry ? [] : [window]));
    if (round === 2)
      for (const { options } of left) world.problem(`${options.name} was told something in every one of its last calls`);
  }
  await Promise.all(users.map((user) => user.drain()));
  world.kill('HTTP gateway', front.pid);
  await front.ended;
  for (const file of ['earpiece.db', 'backup.db']) {
    const { code, stdout, stderr } = await world.run('shop', ['db', 'check', '--db', join(world.folder, file)]);
    if (code !== 0) world.problem(`earpiece db check of ${file} ended with ${code}: ${`${stdout}${stderr}`.slice(0, 500)}`);
  }
  await world.orphans(15_000);
}
