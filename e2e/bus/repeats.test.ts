/**
 * Tests one process for each event, as with hooks and scripts: the next process knows from the log which events were already
 * reported.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { EventInput } from '../../src/core/event.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { proves } from '../verifies.ts';

const AGENT = 'shop/coder';

test('a repeated failure is reported once and then counted, even if several processes report it', async () => {
  proves('bus:repeats');
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-repeats-'));
  const clock = { at: Date.now() };
  const once = async <T>(work: (ear: LoadedInbox) => Promise<T>): Promise<T> => {
    await using ear = await openLoadedInbox({
      db: join(folder, 'earpiece.db'),
      cwd: folder,
      env: { HOME: folder, TZ: 'UTC' },
      clock: { now: () => clock.at },
    });
    return await work(ear);
  };
  const failure: EventInput = {
    type: 'tool.call.failure',
    source: 'hook',
    subject: AGENT,
    severity: 'error',
    data: { tool_name: 'search', error_type: 'timeout', error_message: 'no answer' },
  };
  const emit = async (n: number): Promise<void> => {
    await once((ear) => ear.bus.emit({ ...failure, data: { ...failure.data, call_id: `call_${n}` } }));
    clock.at += 500;
  };
  const read = (): Promise<string> =>
    once(async (ear) => {
      const result = { type: 'tool_call_response', id: 'c', content: '', is_error: false };
      const carried = await ear.conversation(`${AGENT}#main`).carry(result, { at: 'tool_batch_end' });
      return carried.view?.items.map((item) => item.text).join('\n') ?? '';
    });
  try {
    await emit(0);
    expect(await read()).toContain('tool_fail: search timeout - no answer');
    for (let n = 1; n <= 4; n++) {
      await emit(n);
      expect(await read(), `after ${n} more`).toBe('');
    }
    clock.at += 5_000;
    expect(await read()).toContain('`search` failed 4 times: timeout - no answer');
    await emit(5);
    expect(await read()).toContain('tool_fail: search');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
