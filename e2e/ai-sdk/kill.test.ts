/**
 * Tests a process that is killed between the end of a tool and the next request. The next process continues with the kept
 * transcript.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FaultPoint } from '../../src/core/faults.ts';
import { COMPILED } from '../compiled.ts';
import { changes } from '../agent/prefix.ts';
import { find } from '../model/find.ts';
import { startModel, type Model } from '../model/server.ts';
import { messagesOf } from '../model/texts.ts';
import { proves } from '../verifies.ts';
import { call, MAJORS, text } from './stage.ts';

describe.each(MAJORS)('AI SDK %i', (major) => {
  proves('ai-sdk:receipts');
  let home: string;
  let model: Model;
  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'ai-sdk-'));
    // The model calls its tool until it has a result.
    model = await startModel(({ body }) =>
      messagesOf(body).some(({ role }) => role === 'tool') ? { says: [text('Done.')] } : { says: [call('call_1', 'read')] },
    );
  });
  afterEach(async () => {
    await model[Symbol.asyncDispose]();
    rmSync(home, { recursive: true });
  });

  const env = (more = {}): Record<string, string> => ({ PATH: process.env['PATH'] ?? '', HOME: home, ...COMPILED, ...more });

  async function life(fault?: `${FaultPoint}:${number}`): Promise<{ signal: string | null; stdout: string; stderr: string }> {
    const args = [join(import.meta.dirname, 'worker.ts'), String(major), model.url, join(home, 'e.db'), join(home, 'transcript')];
    const child = spawn(process.execPath, args, { cwd: home, env: env(fault ? { EARPIECE_FAULT: fault } : {}) });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (stdout += data.toString()));
    child.stderr.on('data', (data: Buffer) => (stderr += data.toString()));
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    return { signal, stdout, stderr };
  }

  it('if the process is killed before the caller keeps the result, the notification is delivered again, and the transcript has it once', async () => {
    expect(await life('offer.appended:1')).toMatchObject({ signal: 'SIGKILL' });
    expect(model.requests).toHaveLength(1);
    expect(await life()).toEqual({ signal: null, stdout: 'Done.\n', stderr: '' });
    const kept = readFileSync(join(home, 'transcript'), 'utf8');
    expect(kept.split('FIRST')).toHaveLength(2);
    expect(kept).toContain('repeated');
    expect(find(model.requests, 'FIRST').inLast).toBe(1);
  });

  it('a notification that the caller kept before the kill is in the next request, at its place', async () => {
    expect(await life('confirm.after:1')).toMatchObject({ signal: 'SIGKILL' });
    expect(model.requests).toHaveLength(1);
    const before = readFileSync(join(home, 'transcript'), 'utf8');
    expect(before.split('FIRST')).toHaveLength(2);
    expect(await life()).toEqual({ signal: null, stdout: 'Done.\n', stderr: '' });
    expect(readFileSync(join(home, 'transcript'), 'utf8').startsWith(before.slice(0, -1))).toBe(true);
    expect(find(model.requests, 'FIRST')).toMatchObject({ inLast: 1 });
    expect(changes(model.requests)).toEqual([]);
  });
});
