/** Finished tasks are removed after the retention time, in memory and in SQLite. Other tasks do not change. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { logKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import type { Clock, Store } from '../core/ports.ts';
import type { TaskActor } from '../core/task.ts';
import { Inbox, type Conversation } from '../inbox/index.ts';
import { memoryStore, openSqliteStore } from '../stores/index.ts';
import { nextFor, replayTask, report, TASK_RECORDS, Tasks, type TaskRecord } from './index.ts';

const ANN: TaskActor = { kind: 'person', name: 'Ann' };
const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'earpiece-tasks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const STORES: Readonly<Record<string, (clock: Clock) => Promise<Store>>> = {
  memory: async (clock) => memoryStore({ clock }),
  sqlite: (clock) => openSqliteStore({ path: join(folder, `${files++}.db`), clock }),
};

class World {
  now = 1_700_000_000_000;
  readonly inbox: Inbox;
  readonly tasks: Tasks;

  private constructor(store: Store) {
    this.inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
    this.tasks = new Tasks(this.inbox);
  }

  static async open(make: (clock: Clock) => Promise<Store>): Promise<World> {
    let world: World | undefined;
    world = new World(await make({ now: () => world?.now ?? 0 }));
    return world;
  }

  session(id = 's1', agent = 'coder'): Conversation {
    return this.inbox.conversation(`shop/${agent}#${id}`, { pulls: true, purpose: 'task' });
  }

  /** Makes a task that an agent has worked on and reported. */
  async done(title: string, session = this.session()): Promise<string> {
    const { id } = await this.tasks.create('shop', { title, assignee: 'coder', priority: 'urgent' }, ANN);
    await nextFor(this.tasks, session);
    await report(this.tasks, session, { result: 'success', summary: title });
    return id;
  }

  async prune(olderMs = 30 * DAY): Promise<{ tasks: number; records: number }> {
    return this.tasks.prune('shop', this.inbox.store.now() - olderMs);
  }

  async records(): Promise<string[]> {
    const stored = await this.inbox.store.read({ project: 'shop', types: TASK_RECORDS });
    return stored.map(({ body }) => (body as unknown as TaskRecord).task);
  }

  /** Appends a record that is newer than all records of tasks. */
  async goOn(): Promise<void> {
    await this.inbox.store.append(logKey('shop', 'coder'), [{ type: 'turn_start' }]);
  }

  async ids(query: Parameters<Tasks['list']>[1] = {}): Promise<string[]> {
    return (await this.tasks.list('shop', query)).tasks.map(({ id }) => id);
  }
}

describe.each(Object.entries(STORES))('in %s, a finished task', (_name, make) => {
  proves('tasks:retention');
  let world: World;
  afterEach(async () => {
    expect(await world.inbox.store.verify()).toEqual([]);
    await world.inbox.close();
  });

  it('is removed after the retention time with its records in all logs; an unfinished task of any age stays', async () => {
    world = await World.open(make);
    const { tasks } = world;
    await world.done('first');
    const open = await tasks.create('shop', { title: 'open', assignee: 'coder' }, ANN);
    await tasks.create('shop', { title: 'moved about', assignee: 'coder' }, ANN);
    await tasks.assign('shop', 't3', 'tester', { by: ANN });
    await tasks.assign('shop', 't3', null, { by: ANN });
    await tasks.move('shop', 't3', 'cancelled', { by: ANN });
    await tasks.create('elsewhere', { title: 'of another project' }, ANN);
    await tasks.move('elsewhere', 't1', 'cancelled', { by: ANN });
    world.now += 20 * DAY;
    await world.done('younger');
    await world.goOn();
    expect(await world.prune()).toEqual({ tasks: 0, records: 0 });
    world.now += 11 * DAY;
    const before = await world.records();
    const pruned = await world.prune();
    expect(pruned).toEqual({ tasks: 2, records: before.filter((id) => id === 't1' || id === 't3').length });
    expect([...new Set(await world.records())]).toEqual(['t2', 't4']);
    expect(await world.prune()).toEqual({ tasks: 0, records: 0 });

    expect(await world.ids()).toEqual(['t4', 't2']);
    expect(await world.ids({ before: 't4' })).toEqual(['t2']);
    expect(await world.ids({ statuses: ['done', 'cancelled'] })).toEqual(['t4']);
    expect(await world.ids({ statuses: ['todo'] })).toEqual(['t2']);
    expect(await tasks.get('shop', 't2')).toEqual(open);
    expect(await tasks.any('shop')).toBe(true);
    for (const work of [tasks.get('shop', 't1'), tasks.move('shop', 't3', 'todo', { by: ANN })])
      await expect(work).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringMatching(
          /^task t[13] of project shop has ended and was removed; tasks.retention sets how long ended tasks are kept$/u,
        ),
      });
    await expect(tasks.get('shop', 't99')).rejects.toThrow('there is no task "t99"');
    expect((await tasks.get('elsewhere', 't1')).title).toBe('of another project');
    // No number is used twice, and work on the remaining tasks can continue.
    expect((await tasks.create('shop', { title: 'new', assignee: 'coder' }, ANN)).id).toBe('t5');
    expect(await nextFor(tasks, world.session())).toMatchObject({ kind: 'work', task: { id: 't2' } });
    for (const id of ['t2', 't4', 't5']) {
      const stored = await world.inbox.store.read({ project: 'shop', types: TASK_RECORDS });
      const mine = stored.flatMap(({ body, at }) => {
        const record = body as unknown as TaskRecord;
        return record.task === id ? [{ record, at, project: 'shop' }] : [];
      });
      expect(replayTask(mine)).toEqual(await tasks.get('shop', id));
    }
  });

  it('is missing from the list after its removal; the pages of the list are otherwise complete', async () => {
    world = await World.open(make);
    for (let i = 1; i <= 12; i++) await world.tasks.create('shop', { title: `n${i}` }, ANN);
    for (const id of ['t2', 't3', 't4', 't7', 't12']) await world.tasks.move('shop', id, 'cancelled', { by: ANN });
    world.now += 31 * DAY;
    await world.goOn();
    expect((await world.prune()).tasks).toBe(5);
    const seen: string[] = [];
    for (let before: string | undefined; ;) {
      const page = await world.tasks.list('shop', { limit: 2, ...defined({ before }) });
      seen.push(...page.tasks.map(({ id }) => id));
      if (page.next === null) break;
      before = page.next;
    }
    expect(seen).toEqual(['t11', 't10', 't9', 't8', 't6', 't5', 't1']);
  });

  it('stays while a report is pending; if no agent can report, its execution is lost, and the task is removed later', async () => {
    world = await World.open(make);
    const { tasks } = world;
    await tasks.create('shop', { title: 'worked on', assignee: 'coder' }, ANN);
    const session = world.session();
    await nextFor(tasks, session);
    await tasks.move('shop', 't1', 'cancelled', { by: ANN });
    await tasks.create('shop', { title: 'taken up by nobody', assignee: 'coder' }, ANN);
    await tasks.move('shop', 't2', 'in_progress', { by: ANN });
    await tasks.move('shop', 't2', 'done', { by: ANN });
    await tasks.create('shop', { title: 'blocked for long', assignee: 'coder' }, ANN);
    await tasks.move('shop', 't3', 'in_progress', { by: ANN });
    await tasks.move('shop', 't3', 'blocked', { by: ANN });
    world.now += 31 * DAY;
    await session.seen();
    expect(await world.prune()).toEqual({ tasks: 0, records: 0 });
    expect((await tasks.get('shop', 't1')).executions[0]).toMatchObject({ endedAt: null });
    expect((await tasks.get('shop', 't2')).executions[0]).toMatchObject({
      result: 'lost',
      message: 'no conversation of coder took the task',
    });
    // Work on a task that is only blocked may continue.
    expect((await tasks.get('shop', 't3')).executions[0]).toMatchObject({ endedAt: null });
    await session.ended();
    world.now += 31 * DAY;
    expect((await world.prune()).tasks).toBe(1);
    expect((await tasks.get('shop', 't1')).executions[0]).toMatchObject({
      result: 'lost',
      message: 'the conversation coder#s1 ended without a report',
    });
    world.now += 31 * DAY;
    await world.goOn();
    expect((await world.prune()).tasks).toBe(1);
    expect(await world.ids()).toEqual(['t3']);
    expect((await tasks.open('shop')).map(({ id }) => id)).toEqual(['t3']);
  });

  it('stays if its last record is the newest of all, or if it is changed during the removal', async () => {
    world = await World.open(make);
    await world.done('newest');
    world.now += 31 * DAY;
    expect(await world.prune()).toEqual({ tasks: 0, records: 0 });
    await world.goOn();
    // A person renames the task while the removal reads its records.
    const { store } = world.inbox;
    const read = store.read.bind(store);
    store.read = async (...query) => {
      store.read = read;
      await world.tasks.edit('shop', 't1', { title: 'found again' }, { by: ANN });
      await world.goOn();
      return read(...query);
    };
    expect(await world.prune()).toEqual({ tasks: 0, records: 0 });
    expect((await world.tasks.get('shop', 't1')).title).toBe('found again');
    world.now += 31 * DAY;
    expect((await world.prune()).tasks).toBe(1);
    expect(await world.records()).toEqual([]);
  });

  it('frees the key of its creator when it is removed', async () => {
    world = await World.open(make);
    const make_ = (): Promise<{ id: string }> => world.tasks.create('shop', { title: 'x' }, ANN, 'nightly');
    expect([(await make_()).id, (await make_()).id]).toEqual(['t1', 't1']);
    await world.tasks.move('shop', 't1', 'cancelled', { by: ANN });
    expect((await make_()).id).toBe('t1');
    world.now += 31 * DAY;
    await world.goOn();
    expect((await world.prune()).tasks).toBe(1);
    expect([(await make_()).id, (await make_()).id]).toEqual(['t2', 't2']);
  });

  it('is removed together with many others', async () => {
    world = await World.open(make);
    for (let i = 0; i < 130; i++) {
      const { id } = await world.tasks.create('shop', { title: 'x', assignee: 'coder' }, ANN);
      if (i % 10 > 0) await world.tasks.move('shop', id, 'cancelled', { by: ANN });
    }
    world.now += 31 * DAY;
    await world.goOn();
    expect(await world.prune()).toEqual({ tasks: 117, records: 234 });
    expect(await world.ids()).toHaveLength(13);
  });
});
