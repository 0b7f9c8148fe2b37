/**
 * Fills a team's console as on a busy day: 60 agents, two of them paused and one not active, and 300 notifications in all
 * states.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { NotificationInput } from '../../src/core/notification.ts';
import { systemProcesses, toLog } from '../../src/inbox/index.ts';
import { nextFor, Tasks } from '../../src/tasks/index.ts';
import type { Stage } from './stage.ts';

export const AGENTS = 60;
const NOTIFICATIONS = 300;
const KINDS = ['ci.failed', 'ci.finished', 'disk.full', 'files.changed', 'deploy.started', 'process.ended'] as const;
const LEVELS = ['info', 'info', 'warning', 'info', 'error', 'info'] as const;
const TEXTS = [
  'main is red: 2 jobs failed (unit, e2e)',
  'Build 4711 is green',
  'The disk of build-07 is 93 % full: /var/lib/docker has 41 GB of layers that nobody uses',
  'src/checkout/cart/discounts/with-a-very-long-name/rounding-of-totals-and-taxes.test.ts changed',
  'staging gets 1.44.0',
  'npm run watch ended with exit code 1',
];

export const nameOf = (n: number): string => `${['shop', 'docs', 'infra'][n % 3]}/agent-${String(n).padStart(2, '0')}`;

/** The paused agents. `AWAY` is the agent that is not active. */
export const PAUSED = [nameOf(3), nameOf(7)] as const;
export const AWAY = nameOf(5);

export async function crowd(stage: Stage): Promise<void> {
  const { ear } = stage;
  const at = (n: number) =>
    ear.conversation(`${nameOf(n)}#main`, {
      host: ['codex', 'claude-code', 'opencode'][n % 3],
      hostVersion: '1.2.3',
      carrier: n % 2 === 0 ? 'gateway:stdio files' : 'hook',
      points: ['tool_result'],
      ...(nameOf(n) === AWAY ? { process: ended } : {}),
    } as never);
  const ended = await endedProcess();
  for (let n = 0; n < AGENTS; n++) await at(n).seen();
  for (let n = 0; n < NOTIFICATIONS; n++) {
    const kind = n % KINDS.length;
    const more: Partial<NotificationInput> = {
      ...(n % 50 === 9 ? { level: 'critical' } : {}),
      ...(n % 20 === 7 ? { key: `k${n % 60}`, supersede: true } : {}),
      ...(n % 30 === 11 ? { expiresAt: ear.store.now() + 40 } : {}),
      ...(n % 25 === 3 ? { deliver: 'turn_end' } : {}),
      ...(n % 12 === 5 ? { origin: { person: 'Mira' }, kind: 'user.message' } : {}),
    };
    await ear.queue(`${nameOf(n % AGENTS)}#main`, {
      id: `n${n}`,
      kind: KINDS[kind] ?? 'ci.failed',
      level: LEVELS[kind] ?? 'info',
      message: TEXTS[kind] ?? '',
      ...more,
    });
  }
  for (let n = 0; n < AGENTS; n += 2) {
    const main = at(n);
    const offer = await main.offer({ at: 'tool_result', on: 'read_file' });
    if (n % 8 === 0) await offer?.release('cancelled');
    else if (n % 8 !== 2 || n === 2) await offer?.confirm();
  }
  await ear.withdraw(nameOf(1), { id: 'n1' }, { by: 'mira', reason: 'it passes again' });
  await ear.markRead(nameOf(2), ['n2'], 'browser of Mira');
  const seen = { type: 'notification_observed', ids: ['n4'], evidence: 'line 84 of the transcript' };
  await ear.store.append(toLog(nameOf(4)), [seen]);
  await ear.mute(nameOf(9), 'ci.*', { by: 'Mira', forMs: 3_600_000 });
  for (const log of PAUSED)
    await ear.queue(`${log}#main`, {
      action: 'pause',
      kind: 'user.pause',
      message: 'Pause: hold on.',
      origin: { person: 'Mira' },
    });
  const tasks = new Tasks(ear);
  const mira = { kind: 'person', name: 'Mira' } as const;
  for (let n = 0; n < 12; n++)
    await tasks.create(
      'shop',
      { title: `Task ${n}: ${TEXTS[n % TEXTS.length]}`, priority: n % 4 === 0 ? 'high' : 'normal' },
      mira,
    );
  await nextFor(tasks, at(0));
}

async function endedProcess(): Promise<{ machine: string; pid: number; startedAt: string }> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)']);
  await once(child, 'spawn');
  const startedAt = systemProcesses.get(child.pid ?? 0)?.startedAt ?? 'unknown';
  child.kill('SIGKILL');
  await once(child, 'exit');
  return { machine: systemProcesses.machine, pid: child.pid ?? 0, startedAt };
}
