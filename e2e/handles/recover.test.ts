/** Tests that, after an agent was killed, the next agent of its conversation finds the lost handles. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { selfOwner, systemProcesses } from '../../src/inbox/index.ts';
import { runTool } from '../../src/handles/index.ts';
import type { LedgerEntry } from '../../src/handles/ledger.ts';
import { membersOf } from '../../src/handles/sessions.ts';
import { proves } from '../verifies.ts';
import { puppet, stage } from './stage.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-recover-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ledger = (): LedgerEntry[] =>
  (JSON.parse(readFileSync(join(folder, 'handles.json'), 'utf8')) as { handles: LedgerEntry[] }).handles;

const write = (entries: readonly Partial<LedgerEntry>[]): void =>
  writeFileSync(join(folder, 'handles.json'), JSON.stringify({ version: 1, handles: entries }));

const entry = (more: Partial<LedgerEntry>): LedgerEntry => ({
  uid: 'h_1',
  id: 'job',
  about: 'handle:job',
  tool: 'run',
  background: true,
  startedAt: 1,
  owner: { machine: systemProcesses.machine, pid: 2 ** 22 + 1, startedAt: '1' },
  ...more,
});

describe('after kill -9', () => {
  it('a command of a one-shot call ends with all its processes, even if no agent resumes', async () => {
    proves('handles:ends-with-agent');
    const agent = spawn(process.execPath, [join(import.meta.dirname, 'agent-to-kill.ts'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = new Promise((resolve) => agent.once('exit', resolve));
    for await (const _ of createInterface(agent.stdout)) break;
    const sessions = (background: boolean): number[] =>
      ledger().flatMap((each) => (each.background === background && each.process !== undefined ? [each.process.pid] : []));
    const [foreground, background] = [sessions(false), sessions(true)];
    expect(foreground).toHaveLength(1);
    expect(foreground.flatMap((pid) => membersOf(pid)).length).toBeGreaterThan(0);
    agent.kill('SIGKILL');
    await exited;
    // The command ignores SIGHUP and SIGPIPE, and still ends within the grace period.
    for (const began = performance.now(); foreground.some((pid) => membersOf(pid).length > 0); await setImmediate())
      expect(performance.now() - began).toBeLessThan(10_000);
    expect(background.some((pid) => membersOf(pid).length > 0)).toBe(true);
    await stage([runTool()], { folder }).handles.recover({ answered: () => false });
    expect(background.flatMap((pid) => membersOf(pid))).toEqual([]);
  });

  it('a lost handle is reported once, an ended handle with its result, and their processes have ended', async () => {
    const agent = spawn(process.execPath, [join(import.meta.dirname, 'agent-to-kill.ts'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = new Promise((resolve) => agent.once('exit', resolve));
    for await (const line of createInterface(agent.stdout)) {
      expect(JSON.parse(line)).toHaveLength(7);
      break;
    }
    const pids = ledger().flatMap((handle) => (handle.process === undefined ? [] : [handle.process.pid]));
    expect(pids.length).toBeGreaterThanOrEqual(3);
    agent.kill('SIGKILL');
    await exited;
    // A process that ignores the end of its output is still running.
    expect(pids.some((pid) => membersOf(pid).length > 0)).toBe(true);

    const next = stage([runTool()], { folder });
    const lost = await next.handles.recover({ answered: (callId) => callId === 'c6' });
    expect(lost.map(({ id, ended }) => [id, ended])).toEqual(
      expect.arrayContaining([
        ['server', true],
        ['thought', false],
      ]) as unknown,
    );
    expect(pids.flatMap((pid) => membersOf(pid))).toEqual([]);
    const told = (await next.open()).toSorted();
    expect(told).toContain(
      'tool.failed error Background run "server" was lost when its agent ended; its process was still running and was ended',
    );
    expect(told).toContain('tool.failed error Background idle "thought" was lost when its agent ended');
    expect(told).toContain('tool.failed error Background run "untold" failed with exit code 7: untold');
    // The end of the handle "told" was reported in an answer before the crash. A one-shot call is not a handle.
    expect(told.filter((line) => line.includes('"told"') || line.includes('run-'))).toEqual([]);
    expect(next.records.filter(({ type }) => type === 'handle_ended')).toHaveLength(lost.length);

    // Neither a second recovery nor another agent finds anything.
    expect(await next.handles.recover()).toEqual([]);
    await next.handles.close();
    expect(existsSync(join(folder, 'handles.json'))).toBe(false);
    expect(await stage([runTool()], { folder }).handles.recover()).toEqual([]);
  });
});

describe('recovery', () => {
  it('does not touch the handles of a living agent or of another machine', async () => {
    const parent = systemProcesses.get(process.ppid);
    write([
      entry({ uid: 'h_1', owner: { machine: systemProcesses.machine, pid: process.ppid, startedAt: parent?.startedAt ?? '' } }),
      entry({ uid: 'h_2', owner: { machine: 'elsewhere', pid: 1, startedAt: '1' } }),
    ]);
    const { handles, open } = stage([puppet()], { folder });
    expect(await handles.recover()).toEqual([]);
    expect(await open()).toEqual([]);
    expect(ledger()).toHaveLength(2);
  });

  it('does not kill a foreign process that reuses a recorded process id', async () => {
    const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
    await new Promise((resolve) => stranger.once('spawn', resolve));
    const exited = new Promise((resolve) => stranger.once('exit', resolve));
    write([entry({ process: { pid: stranger.pid ?? 0, startedAt: '12345' } })]);
    const { handles, open } = stage([puppet()], { folder });
    expect(await handles.recover()).toEqual([{ uid: 'h_1', id: 'job', tool: 'run', ended: false }]);
    expect(await open()).toEqual(['tool.failed error Background run "job" was lost when its agent ended']);
    expect(membersOf(stranger.pid ?? 0)).toHaveLength(1);
    stranger.kill();
    await exited;
  });

  it('notifies once, even if it crashes after it queued the notification', async () => {
    const { handles, inbox, open } = stage([puppet()], { folder });
    write([entry({})]);
    const again = stage([puppet()], { folder, inbox });
    await again.handles.recover();
    write([entry({})]);
    const third = stage([puppet()], { folder, inbox });
    await third.handles.recover();
    expect(await open()).toEqual(['tool.failed error Background run "job" was lost when its agent ended']);
    await handles.idle();
  });

  it('if a notification cannot be queued, keeps it for the next attempt', async () => {
    write([entry({})]);
    const away = stage([puppet()], {
      folder,
      inbox: { queue: async () => Promise.reject(new Error('away')), withdraw: async () => {} },
    });
    expect(await away.handles.recover()).toEqual([]);
    expect(away.troubles).toEqual([new Error('away')]);
    const { handles } = stage([puppet()], { folder });
    expect(await handles.recover()).toHaveLength(1);
  });

  it('repeats a notification only if its answer was not recorded', async () => {
    const notice = { id: 'h_1.stopped', source: 'handles', type: 'tool.stopped', message: 'Background run "job" has stopped' };
    for (const [answered, expected] of [
      [true, []],
      [false, ['tool.stopped info Background run "job" has stopped']],
    ] as const) {
      write([entry({ toldIn: 'c1', notice, owner: selfOwner() })]);
      const { handles, open } = stage([puppet()], { folder });
      expect(await handles.recover({ answered: () => answered })).toEqual([]);
      expect(await open()).toEqual(expected);
    }
  });

  it('moves a damaged file aside', async () => {
    writeFileSync(join(folder, 'handles.json'), '{"handles": [');
    const { handles } = stage([puppet()], { folder });
    expect(await handles.recover()).toEqual([]);
    expect(existsSync(join(folder, 'handles.json.bad'))).toBe(true);
  });
});
