/** Makes one agent for each of nine verdicts of *Why*, with a log that leads to that verdict. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { systemProcesses } from '../../src/inbox/index.ts';
import type { Stage } from './stage.ts';

/** The expected words of the page for the notification `n-<name>` of the agent `shop/<name>`. */
export const VERDICTS: Readonly<
  Record<string, { readonly kind: string; readonly says: RegExp; readonly cures: readonly string[] }>
> = {
  away: {
    kind: 'away',
    says: /^Waiting: shop\/away#main is away\. No contact since \d\d:\d\d \(.+ ago\); the process of the session has exited\.$/u,
    cures: [],
  },
  paused: {
    kind: 'paused',
    says: /^Waiting: shop\/paused is paused by Mira since .+\. The pause holds until a person resumes the agent\.$/u,
    cures: ['Resume the agent', 'Show that notification'],
  },
  muted: {
    kind: 'muted',
    says: /^Muted: mira muted ci\.failed for shop\/muted until \d\d:\d\d\. The notification will be filtered at the next message\.$/u,
    cures: ['Lift the mute'],
  },
  filtered: {
    kind: 'filtered',
    says: /^Filtered: conversation\.notifications\.kinds\."lint\.warned" = false, set in .+earpiece\.toml:\d+\. The notification will be filtered at the next message\.$/u,
    cures: ['Open the setting'],
  },
  budget: {
    kind: 'budget',
    says: /^Waiting: the next message has no room for the notification \(beyond max_items 2\)\. A later message carries the notification\.$/u,
    cures: ['Open the setting'],
  },
  gate: {
    kind: 'gate',
    says: /^The gate of shop\/gate is up because of this interrupt; so far 2 tool calls were refused\. The interrupt was delivered at \d\d:\d\d\. The gate goes down when a later call or message proves that the agent has read it\.$/u,
    cures: ['Mark read', 'Withdraw'],
  },
  delivered: {
    kind: 'delivered',
    says: /^Delivered at \d\d:\d\d with the result of read_file, .+ after the notification was queued\. Nothing proves yet that the agent has read the notification\.$/u,
    cures: [],
  },
  superseded: {
    kind: 'superseded',
    says: /^Superseded: n-newer is newer and replaced the notification\.$/u,
    cures: ['Show that notification'],
  },
  due: {
    kind: 'due',
    says: /^Waiting for the next result of a wrapped tool of shop\/due#main\..* Built-in tools carry no notifications\.$/u,
    cures: [],
  },
};

export const TOML = `[budget]
max_items = 2

[conversation.notifications]
kinds."lint.warned" = false
`;

/** Returns a process that this test started and that has ended. */
async function ended(): Promise<{ machine: string; pid: number; startedAt: string }> {
  const child: ChildProcess = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  await once(child, 'spawn');
  const startedAt = systemProcesses.get(child.pid ?? 0)?.startedAt ?? 'unknown';
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { machine: systemProcesses.machine, pid: child.pid ?? 0, startedAt };
}

export async function verdicts({ ear }: Stage): Promise<void> {
  const at = (name: string, options: object = {}) =>
    ear.conversation(`shop/${name}#main`, {
      host: 'codex',
      hostVersion: '0.169.0',
      carrier: 'hook',
      points: ['tool_result'],
      ...options,
    } as never);
  const queue = (name: string, more: object = {}) =>
    ear.queue(`shop/${name}#main`, {
      id: `n-${name}`,
      kind: 'ci.failed',
      level: 'warning',
      message: 'main is red: 2 jobs failed',
      ...more,
    });

  await at('away', { process: await ended() }).seen();
  await queue('away');

  await at('paused').seen();
  await ear.queue('shop/paused#main', {
    id: 'n-pause',
    kind: 'user.pause',
    action: 'pause',
    message: 'Pause: finish this step and wait.',
    instruction: 'legal has to agree first',
    origin: { person: 'Mira' },
  });
  await queue('paused');

  await at('muted').seen();
  await ear.mute('shop/muted', 'ci.failed', { by: 'mira', forMs: 3_600_000 });
  await queue('muted');

  await at('filtered').seen();
  await queue('filtered', { kind: 'lint.warned', message: '3 unused imports in src/cart.ts' });

  await at('budget').seen();
  for (const n of [1, 2])
    await ear.queue('shop/budget#main', { kind: `build${n}.failed`, level: 'error', message: `build ${n} failed` });
  await queue('budget', { level: 'error' });

  const gate = at('gate');
  await gate.seen();
  await queue('gate', { kind: 'disk.full', level: 'critical', message: 'The disk of the build machine is full.' });
  const first = await gate.refuse({ on: 'write_file' });
  await first?.offer?.confirm();
  await gate.refuse({ on: 'run_tests' });

  const delivered = at('delivered');
  await delivered.seen();
  await queue('delivered');
  await (await delivered.offer({ at: 'tool_result', on: 'read_file' }))?.confirm();

  const superseded = at('superseded');
  await superseded.seen();
  await queue('superseded', { key: 'tests', supersede: true });
  await ear.queue('shop/superseded#main', {
    id: 'n-newer',
    key: 'tests',
    supersede: true,
    kind: 'ci.passed',
    message: 'main is green',
  });
  await (await superseded.offer({ at: 'tool_result', on: 'read_file' }))?.confirm();

  await at('due', { host: 'claude-code', hostVersion: '2.1', carrier: 'gateway:stdio fs' }).seen();
  await queue('due');
}
