/**
 * Tests that the known defects of an earlier build of this design are gone. The tests use the shipped subscribers, real
 * templates, and a database file.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decode } from '@toon-format/toon';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EventInput } from '../../src/core/event.ts';
import type { ContactPoint } from '../../src/core/records.ts';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import { proves } from '../verifies.ts';

const AGENT = 'shop/coder';
const opened: LoadedInbox[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const ear of opened.splice(0)) await ear.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function stage() {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-defects-'));
  folders.push(folder);
  const problems: string[] = [];
  const open = async (): Promise<LoadedInbox> => {
    const ear = await openLoadedInbox({
      db: join(folder, 'earpiece.db'),
      cwd: folder,
      env: { HOME: folder, TZ: 'UTC' },
      onProblem: (line) => problems.push(line),
    });
    opened.push(ear);
    return ear;
  };
  const ear = await open();
  const read = async (at: ContactPoint = 'tool_batch_end', conversation = 'a', by = ear): Promise<string> => {
    const result = { type: 'tool_call_response', id: 'c', content: '', is_error: false };
    const carried = await by.conversation(`${AGENT}#${conversation}`).carry(result, { at });
    return carried.view?.items.map((item) => item.text).join('\n') ?? '';
  };
  const emit = (event: Partial<EventInput> & { type: string }) => ear.bus.emit({ source: 'agent', subject: AGENT, ...event });
  return { ear, open, read, emit, problems, folder };
}

const failure = (tool: string, message: string): Partial<EventInput> & { type: string } => ({
  type: 'tool.call.failure',
  severity: 'error',
  message: `\`${tool}\` failed: ${message}`,
  data: { tool_name: tool, call_id: 'c1', error_type: 'Error', error_message: message, retry_count: 0 },
});

describe('defects that were seen in a run do not occur:', () => {
  proves('bus:own-defects', 'bus:counts', 'bus:window');

  it('a tool failure is delivered once', async () => {
    const { emit, read } = await stage();
    await emit(failure('vault_search', 'no answer'));
    const text = await read();
    expect(text).toContain('vault_search');
    expect(text).toContain('no answer');
    expect(await read()).toBe('');
  });

  it('three identical failures are delivered with their count', async () => {
    const { emit, read } = await stage();
    await Promise.all([1, 2, 3].map(() => emit(failure('vault_search', 'timeout'))));
    expect(await read()).toContain('`vault_search` failed 3 times');
  });

  it('ten different tools become one notification that names all ten', async () => {
    const { emit, read, ear } = await stage();
    const tools = Array.from({ length: 10 }, (_, n) => `tool_${n}`);
    await Promise.all(tools.map((tool) => emit(failure(tool, `broke at ${tool}`))));
    const text = await read();
    for (const tool of tools) expect(text).toContain(`broke at ${tool}`);
    expect(text.match(/tool_fails\[10\]/g)).toHaveLength(1);
    expect(await ear.open(AGENT)).toEqual([]);
  });

  it('ten long messages may fill several lines each, and none is cut', async () => {
    const { emit, read } = await stage();
    const tools = Array.from({ length: 10 }, (_, n) => `tool_${n}`);
    await Promise.all(tools.map((tool) => emit(failure(tool, `${tool} broke ${'because of this and that '.repeat(12)}`))));
    let text = '';
    for (let more = await read(); more !== ''; more = await read()) text += `${more}\n`;
    for (const tool of tools) expect(text).toContain(`${tool} broke`);
    expect(text).not.toContain('characters, cut)');
  });

  it('a budget warning and a stale source are delivered', async () => {
    const { emit, read } = await stage();
    await emit({
      type: 'budget.token.warning',
      severity: 'warning',
      data: { budget_type: 'token', percentage: 80, remaining: 2_000, limit: 10_000 },
    });
    await emit({ type: 'source.stale', severity: 'warning', data: { path: 'notes/a.md' } });
    const text = await read();
    expect(text).toMatch(/token at 80%.*2000/);
    expect(text).toContain('notes/a.md changed since last read');
  });

  it('the severity filter of budget_exceeded skips an event of severity debug', async () => {
    const { emit, read } = await stage();
    const { heard } = await emit({ type: 'budget.token.exceeded', severity: 'debug', data: { budget_type: 'token' } });
    expect(heard).toEqual([expect.objectContaining({ subscriber: 'budget_exceeded', kind: 'skipped' })]);
    expect(await read()).toBe('');
  });

  it('a row with commas, quotes and line breaks does not break the table', async () => {
    const { emit, read } = await stage();
    const hostile = 'a, "b": {c}\n- d\te';
    await emit(failure('one', hostile));
    await emit(failure('two', 'plain'));
    const text = await read();
    const table = text
      .slice(text.indexOf('tool_fails['))
      .split('\n')
      .map((line) => line.replace(/^ {4}/, ''));
    const rows = (decode(table.join('\n')) as { tool_fails: Record<string, unknown>[] }).tool_fails;
    expect(rows).toEqual([
      { tool: 'one', error: 'Error', message: 'a, "b": {c} - d e' },
      { tool: 'two', error: 'Error', message: 'plain' },
    ]);
  });

  it.each([
    ['repetitions', { pattern: 'read(a.ts)', repetitions: 3, suggestion: 'try another way' }],
    ['count', { pattern: 'read(a.ts)', count: 3, suggestion: 'try another way' }],
  ])('a loop notification has its number of repetitions, under either field name (%s)', async (_name, data) => {
    const { emit, read } = await stage();
    await emit({ type: 'agent.loop.detected', severity: 'warning', data });
    expect(await read()).toContain('read(a.ts) repeated 3x - try another way');
  });
});

describe('defects that were found in the code of that build do not occur:', () => {
  proves('bus:own-defects', 'bus:disabled', 'bus:scoped', 'bus:moments');

  it('1: events that wait for a window are written when the bus closes', async () => {
    const { ear, emit, read, open } = await stage();
    const waiting = [1, 2, 3].map(() => emit(failure('vault_search', 'timeout')));
    await ear.close();
    await Promise.all(waiting);
    expect(await read('tool_batch_end', 'a', await open())).toContain('3 times');
  });

  it('2: two failures of one tool with different details in one window are both delivered', async () => {
    const { emit, read } = await stage();
    await emit(failure('vault_search', 'timeout'));
    await emit(failure('vault_search', 'no such vault'));
    const text = await read();
    expect(text).toContain('timeout');
    expect(text).toContain('no such vault');
  });

  it('2: get_notifications also shows both failures of one tool with different details', async () => {
    const { ear, emit } = await stage();
    await emit(failure('vault_search', 'timeout'));
    await emit(failure('vault_search', 'no such vault'));
    await emit(failure('vault_search', 'timeout'));
    const { notifications } = await ear.conversation(`${AGENT}#a`).pull({ mark: true });
    expect(notifications.map(({ message, count }) => [message, count])).toEqual([
      ['`vault_search` failed: timeout\n`vault_search` failed: no such vault', 3],
    ]);
  });

  it('4: a subscriber that the user has disabled delivers nothing', async () => {
    const { ear, emit, read } = await stage();
    const set = ear.bus.subscribers('shop');
    const by = { kind: 'project', project: 'shop' } as const;
    await ear.toggles.disable(by, 'session_resumed', 'somebody', set);
    const resumed = { type: 'session.resumed', data: { tree_id: 't', nodes_loaded: 2, last_question: 'q' } };
    expect((await emit(resumed)).heard).toEqual([
      { subscriber: 'session_resumed', kind: 'skipped', because: 'the subscriber is disabled' },
    ]);
    expect(await read('turn_start')).toBe('');
    await ear.toggles.enable(by, 'session_resumed', 'somebody', set);
    await emit(resumed);
    expect(await read('turn_start')).toContain('2');
    await expect(ear.toggles.disable(by, 'tool_failure', 'somebody', set)).rejects.toThrow(/core/);
  });

  it('6: an immediate event raises the gate at once', async () => {
    const { emit, ear } = await stage();
    await emit({
      type: 'budget.iteration.exceeded',
      severity: 'error',
      data: { budget_type: 'iteration', limit: 30, current: 30 },
    });
    const conversation = ear.conversation(`${AGENT}#a`);
    expect((await conversation.gate()).map((item) => item.notification.level)).toEqual(['critical']);
  });

  it('7: notifications for the end of a turn arrive there, in order', async () => {
    const { emit, read } = await stage();
    await emit({ type: 'task.checkpoint', data: { message: 'first', turn: 1, inject_at: 'turn_end' } });
    await emit({ type: 'task.checkpoint', data: { message: 'second', turn: 2, inject_at: 'turn_end' } });
    expect(await read('turn_start')).toBe('');
    expect(await read('turn_end')).toMatch(/first[^]*second/);
  });

  it('9: a query of one user does not remove the events of another user', async () => {
    const { ear, emit, read } = await stage();
    await ear.bus.emit({ source: 'agent', subject: `${AGENT}#b`, ...failure('theirs', 'x') });
    await emit({ ...failure('mine', 'y'), subject: `${AGENT}#a` });
    expect(await read('tool_batch_end', 'a')).not.toContain('theirs');
    expect(await read('tool_batch_end', 'b')).toContain('theirs');
  });

  it('10: a note for later is not delivered at once', async () => {
    const { emit, read } = await stage();
    await emit({
      type: 'agent.self.remind',
      message: 'look again',
      deliver: { afterTurns: 1 },
      data: { message: 'look again', category: 'reminder' },
    });
    expect(await read()).toBe('');
  });

  it('12: 1,500 events become at most 101 notifications, which count all of them', async () => {
    const { emit, ear } = await stage();
    await Promise.all(Array.from({ length: 1_500 }, (_, n) => emit(failure(`t${n}`, 'boom'))));
    const open = await ear.open(AGENT);
    expect(open.length).toBeLessThanOrEqual(101);
    expect(open.reduce((sum, item) => sum + item.count, 0)).toBe(1_500);
  });

  it('14: templates and payloads use the same names of fields', async () => {
    const { emit, read } = await stage();
    await emit({
      type: 'budget.token.warning',
      severity: 'warning',
      data: { budget_type: 'token', percent: 85, current: 85, max: 100 },
    });
    expect(await read()).toMatch(/token at 85% - 15 of 100 left/);
  });

  it('a failing template falls back to another text, and nothing is lost', async () => {
    const { ear, folder, emit, read } = await stage();
    mkdirSync(join(folder, '.config/earpiece/subscribers'), { recursive: true });
    writeFileSync(
      join(folder, '.config/earpiece/subscribers/mine.toml'),
      '[subscriber]\nid = "mine"\nname = "Mine"\n[events]\ntypes = ["build.failed"]\n[output]\ntemplate = "mine.toon.j2"\n',
    );
    writeFileSync(join(folder, '.config/earpiece/subscribers/mine.toon.j2'), '{{ event.payload.a.b.c.d }}');
    await vi.waitFor(() => expect(ear.bus.subscribers('shop').subscribers.map(({ id }) => id)).toContain('mine'), 20_000);
    await emit({ type: 'build.failed', message: 'the build failed', data: { a: 1 } });
    expect(await read()).toContain('the build failed (its template failed)');
    const [failed] = await ear.store.read({ types: ['template_failed'] });
    expect(failed?.body).toMatchObject({ subscriber: 'mine', reason: expect.stringContaining('line 1') });
  });
});
