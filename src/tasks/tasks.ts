/**
 * Stores the tasks of projects. One append writes a task's records and the agent's notification, and swaps the stored task.
 * Therefore, a change is written completely or not at all, and the later of two simultaneous changes is decided again. A
 * reassignment needs two appends: first to the old assignee's log, then to the new assignee's. If the second append is missing,
 * the next process that reads the task makes it.
 */
import { logKey, type ConversationId, type LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Item } from '../core/items.ts';
import type { Json } from '../core/json.ts';
import type { NotificationId } from '../core/notification.ts';
import type { Swap } from '../core/ports.ts';
import type { Draft } from '../core/records.ts';
import {
  NEXT_STATUSES,
  TASK_LIMITS,
  TASK_PRIORITIES,
  TASK_STATUSES,
  type Task,
  type TaskActor,
  type TaskPriority,
  type TaskStatus,
} from '../core/task.ts';
import type { Logs } from '../inbox/index.ts';
import { decide, isClosed, runningOf, type Command, type Decision } from './decide.ts';
import { agentName, bad, checkActor, mayChange, numberOf, oneOf, textOf, titleOf } from './checks.ts';
import { EMPTY, idOf, isGone, numbersBelow, without, type Board } from './board.ts';
import { evolve } from './evolve.ts';
import { positionsOf } from './positions.ts';
import { recordsOf, type Fact } from './records.ts';
import { boardKey, hasTasks, onceKey, taskKey } from './settings.ts';
import { keyOf, tellingOf } from './telling.ts';

export type TaskInput = {
  readonly title: string;
  readonly description?: string | undefined;
  readonly priority?: TaskPriority | undefined;
  readonly assignee?: string | null | undefined;
  /** Default: `todo`. */
  readonly status?: 'backlog' | 'todo' | undefined;
};

export type TaskEdit = { readonly title?: string | undefined } & Pick<TaskInput, 'description' | 'priority' | 'assignee'>;

export type Change = {
  readonly by: TaskActor;
  /** The status or the version that the caller saw. If the task now has another status or version, the call throws `conflict`. */
  readonly expected?: TaskStatus | number | undefined;
};

export type TaskQuery = {
  readonly statuses?: readonly TaskStatus[];
  readonly assignee?: string;
  /** Returns only tasks with a lower number than this id. */
  readonly before?: string;
  readonly limit?: number;
};

type Decided = Extract<Decision, { kind: 'decided' }>;
type Changed = { readonly task: Task; readonly answer?: Decided['answer']; readonly changed: boolean };

type StoredTask = Task & {
  /** Set until the log of the new assignee has the task. */
  readonly handover?: { readonly from: string | null; readonly by: TaskActor };
  /** The caller's own key for the task, so that a repeated call does not make a second task. */
  readonly once?: string;
};

const TRIES = 50;
/** The maximum number of tasks that are removed in one step. */
const PRUNED_AT_ONCE = 50;

export class Tasks {
  readonly #inbox: Logs;

  constructor(inbox: Logs) {
    this.#inbox = inbox;
  }

  /**
   * Makes a task. `once` is the caller's own key: a second call with this key returns the first task. Throws `not_trusted` if an
   * agent's command names a person.
   */
  async create(project: string, input: TaskInput, by: TaskActor, once?: string): Promise<Task> {
    const { priority = 'normal', status = 'todo', assignee = null } = input;
    if (status !== 'backlog' && status !== 'todo')
      throw bad('status', `status ${JSON.stringify(status)}: a new task is in backlog or todo`);
    const fact: Fact = {
      type: 'task_created',
      title: titleOf(input.title),
      description: textOf('description', input.description ?? '', TASK_LIMITS.description),
      priority: oneOf('priority', priority, TASK_PRIORITIES),
      status,
      assignee: assignee === null ? null : agentName(project, assignee),
    };
    checkActor(by, this.#inbox.speaker);
    logKey(project, 'x'); // Throws for an invalid project name.
    for (let tries = 0; tries < TRIES; tries++) {
      const board = await this.#board(project);
      const { next, open } = board ?? EMPTY;
      const id = idOf(next);
      const drafts = recordsOf([fact], { task: id, version: 0, by });
      const task = this.#after(undefined, drafts, project);
      const known = once === undefined ? undefined : await this.#inbox.store.setting(onceKey(project, once));
      const before = typeof known === 'string' ? await this.#stored(project, known) : undefined;
      if (before !== undefined) return shown(await this.#handOver(before));
      const swaps = [
        ...(once === undefined ? [] : [{ key: onceKey(project, once), from: known, to: id }]),
        { key: boardKey(project), from: board && json(board), to: json({ ...board, next: next + 1, open: [...open, id] }) },
        { key: taskKey(project, id), from: undefined, to: json(once === undefined ? task : { ...task, once }) },
      ];
      const appended = await this.#inbox.store.append(logFor(project, fact.assignee), drafts, { swaps });
      if (appended.kind === 'appended') return task;
    }
    throw busy(`a new task of ${project}`);
  }

  /** Reads a task. Throws `not_found` if there is no such task. */
  async get(project: string, id: string): Promise<Task> {
    return shown(await this.#load(project, id));
  }

  /** Lists tasks, newest first. */
  async list(project: string, query: TaskQuery = {}): Promise<{ readonly tasks: readonly Task[]; readonly next: string | null }> {
    const { statuses, assignee, limit = 50 } = query;
    const board = (await this.#board(project)) ?? EMPTY;
    const before = query.before === undefined ? board.next : numberOf(query.before);
    // If the query excludes ended tasks, only the tasks in the board's `open` are read.
    const onlyOpen = statuses?.every((status) => NEXT_STATUSES[status].length > 0) ?? false;
    const open = board.open.map(numberOf).filter((number) => number < before);
    const tasks: Task[] = [];
    for (const number of onlyOpen ? open.toReversed() : numbersBelow(board, before)) {
      const stored = await this.#stored(project, idOf(number));
      // `stored` is undefined if the task was removed after the board was read.
      if (stored === undefined) continue;
      const task = await this.#handOver(stored);
      if (assignee !== undefined && task.assignee !== assignee) continue;
      if (statuses !== undefined && !statuses.includes(task.status)) continue;
      if (tasks.length === limit) return { tasks, next: tasks.at(-1)?.id ?? null };
      tasks.push(shown(task));
    }
    return { tasks, next: null };
  }

  /** Whether this project has ever had a task. */
  async any(project: string): Promise<boolean> {
    return hasTasks(this.#inbox.store, project);
  }

  /** Lists the tasks that have not ended or still need a report, oldest first. */
  async open(project: string): Promise<readonly Task[]> {
    const { open } = (await this.#board(project)) ?? EMPTY;
    return Promise.all(open.map((id) => this.get(project, id)));
  }

  /**
   * Removes the ended tasks whose last change was before `before` (epoch ms), with all their records. Tasks that have not ended
   * stay. An ended task may still wait for a report that no conversation can make. In that case, this call only ends the
   * execution as lost. This changes the task, so only a call with a later `before` removes it.
   */
  async prune(project: string, before: number): Promise<{ readonly tasks: number; readonly records: number }> {
    const board = await this.#board(project);
    if (board === undefined) return { tasks: 0, records: 0 };
    const isPast = ({ changedAt }: Task): boolean => changedAt < before;
    for (const task of (await this.open(project)).filter(isPast)) await this.#lose(task);
    const going: StoredTask[] = [];
    const open = new Set(board.open);
    for (const number of numbersBelow(board, board.next)) {
      if (open.has(idOf(number))) continue;
      const task = await this.#stored(project, idOf(number));
      if (task !== undefined && isClosed(task) && isPast(task) && task.handover === undefined) going.push(task);
    }
    if (going.length === 0) return { tasks: 0, records: 0 };
    const positions = await positionsOf(this.#inbox.store, project, going);
    const total = { tasks: 0, records: 0 };
    for (let at = 0; at < going.length; at += PRUNED_AT_ONCE) {
      const some = going.slice(at, at + PRUNED_AT_ONCE);
      const seqs = some.flatMap(({ id }) => positions.get(id) ?? []);
      if (!(await this.#forget(project, some, seqs))) continue;
      total.tasks += some.length;
      total.records += seqs.length;
    }
    return total;
  }

  /**
   * Removes these tasks. If one of these tasks has changed since it was read, or has the store's newest record, the call removes
   * none and returns false.
   */
  async #forget(project: string, tasks: readonly StoredTask[], seqs: readonly number[]): Promise<boolean> {
    const settings = tasks.flatMap((task): Swap[] => [
      { key: taskKey(project, task.id), from: json(task), to: undefined },
      ...(task.once === undefined ? [] : [{ key: onceKey(project, task.once), from: task.id, to: undefined }]),
    ]);
    for (let tries = 0; tries < TRIES; tries++) {
      const board = (await this.#board(project)) ?? EMPTY;
      const after = without(
        board,
        tasks.map(({ id }) => numberOf(id)),
      );
      const swaps = [{ key: boardKey(project), from: json(board), to: json(after) }, ...settings];
      if (await this.#inbox.store.forget(seqs, { swaps })) return true;
      const now = await this.#board(project);
      if (JSON.stringify(now) === JSON.stringify(board)) return false;
    }
    return false;
  }

  /** Ends each running execution of an ended task as lost if no conversation can report it. */
  async #lose(task: Task): Promise<void> {
    if (NEXT_STATUSES[task.status].length > 0) return;
    for (const { agent } of task.executions.filter(({ endedAt }) => endedAt === null))
      await this.change(task.project, task.id, { kind: 'lose', agent }, { by: { kind: 'agent', name: agent } });
  }

  async edit(project: string, id: string, given: TaskEdit, change: Change): Promise<Task> {
    const { title, description, priority, assignee } = given;
    const command: Command = {
      kind: 'edit',
      ...(title === undefined ? {} : { title: titleOf(title) }),
      ...(description === undefined ? {} : { description: textOf('description', description, TASK_LIMITS.description) }),
      ...(priority === undefined ? {} : { priority: oneOf('priority', priority, TASK_PRIORITIES) }),
      ...(assignee === undefined ? {} : { assignee: assignee === null ? null : agentName(project, assignee) }),
    };
    return (await this.change(project, id, command, change)).task;
  }

  assign(project: string, id: string, assignee: string | null, change: Change): Promise<Task> {
    return this.edit(project, id, { assignee }, change);
  }

  async move(project: string, id: string, to: TaskStatus, change: Change & { reason?: string | undefined }): Promise<Task> {
    const reason = textOf('reason', change.reason ?? '', TASK_LIMITS.reason);
    const command: Command = {
      kind: 'move',
      to: oneOf('status', to, TASK_STATUSES),
      ...(reason === '' ? {} : { reason }),
    };
    return (await this.change(project, id, command, change)).task;
  }

  /**
   * Changes a task. If the change is refused, throws `conflict`, `not_found` or `bad_argument`, writes nothing and notifies no
   * agent. Throws `store_unavailable` if the task keeps changing, and `not_trusted` if an agent's command must not make the
   * change.
   */
  async change(project: string, id: string, command: Command, { by, expected }: Change): Promise<Changed> {
    checkActor(by, this.#inbox.speaker);
    for (let tries = 0; tries < TRIES; tries++) {
      const task = await this.#load(project, id);
      if (this.#inbox.speaker !== undefined) mayChange(task, command, this.#inbox.speaker);
      const notification = this.#inbox.ids.make('n');
      const agent = 'agent' in command ? command.agent : task.assignee;
      const active = await this.#active(project, agent);
      const decision = decide(task, command, {
        by,
        ...defined({ expected, inside: this.#inbox.speaker?.log }),
        notification,
        told: await this.#wasTold(project, task, agent),
        isActive: (conversation) => active.has(conversation),
      });
      if (decision.kind === 'refused') throw new EarpieceError(decision.code, decision.message, { data: { task: id } });
      if (decision.kind === 'unchanged') return { task: shown(task), changed: false };
      const after = await this.#write(task, decision, { by, notification });
      if (after !== undefined) return { task: shown(after), changed: true, ...defined({ answer: decision.answer }) };
    }
    throw busy(`task ${id} of ${project}`);
  }

  /** Writes a decision. Returns undefined if another change of the task or of its board came first. */
  async #write(
    task: StoredTask,
    decision: Decided,
    { by, notification }: { by: TaskActor; notification: string },
  ): Promise<StoredTask | undefined> {
    const { project } = task;
    const log = logFor(project, decision.agent);
    const records = recordsOf(decision.facts, { task: task.id, version: task.version, by });
    const changed = this.#after(task, records, project);
    const moved = changed.assignee !== task.assignee;
    const after: StoredTask = moved ? { ...changed, handover: { from: task.assignee, by } } : changed;
    const { tells, takesBack } = decision;
    const drafts: Draft[] = [
      ...records,
      ...(takesBack === undefined ? [] : await this.#takingBack(log, task, { by: by.name, reason: takesBack })),
      ...(tells === undefined
        ? []
        : [
            await this.#inbox.prepare(
              log,
              tellingOf(changed, tells, { id: notification, by }),
              tells.conversation === null ? undefined : (tells.conversation as ConversationId),
            ),
          ]),
    ];
    const swaps: Swap[] = [{ key: taskKey(project, task.id), from: json(task), to: json(after) }];
    if (isClosed(task) !== isClosed(after)) {
      const board = (await this.#board(project)) ?? EMPTY;
      const open = board.open.filter((one) => one !== task.id);
      swaps.push({ key: boardKey(project), from: json(board), to: json({ ...board, open }) });
    }
    const appended = await this.#inbox.store.append(log, drafts, { swaps });
    if (appended.kind !== 'appended') return undefined;
    return moved ? this.#handOver(after) : after;
  }

  /** Writes the second half of a reassignment, if it is missing: the record in the log of the new assignee. */
  async #handOver(task: StoredTask): Promise<StoredTask> {
    const { handover, ...whole } = task;
    if (handover === undefined) return task;
    const { id, project, version, assignee } = task;
    const received: Fact = { type: 'task_received', from: handover.from, snapshot: shown(task) };
    const records = recordsOf([received], { task: id, version, by: handover.by });
    const after = this.#after(whole, records, project);
    const swaps = [{ key: taskKey(project, id), from: json(task), to: json(after) }];
    const appended = await this.#inbox.store.append(logFor(project, assignee), records, { swaps });
    return appended.kind === 'appended' ? after : this.#load(project, id);
  }

  async #load(project: string, id: string): Promise<StoredTask> {
    const task = await this.#stored(project, id);
    if (task !== undefined) return this.#handOver(task);
    throw new EarpieceError('not_found', await this.#whyNone(project, id), { data: { task: id } });
  }

  async #whyNone(project: string, id: string): Promise<string> {
    const none = `there is no task ${JSON.stringify(id.slice(0, 80))} in project ${project}`;
    const [, number] = /^[tT]?([1-9]\d{0,8})$/u.exec(id) ?? [];
    if (number === undefined) return `${none}; task ids look like t7; to see the open tasks, run: earpiece tasks list`;
    const near = idOf(Number(number));
    if (id !== near && (await this.#stored(project, near)) !== undefined) return `${none}; did you mean ${near}?`;
    if (id === near && isGone((await this.#board(project)) ?? EMPTY, Number(number)))
      return `task ${id} of project ${project} has ended and was removed; tasks.retention sets how long ended tasks are kept`;
    return `${none}; to see the open tasks, run: earpiece tasks list`;
  }

  async #stored(project: string, id: string): Promise<StoredTask | undefined> {
    return (await this.#inbox.store.setting(taskKey(project, id))) as StoredTask | undefined;
  }

  /**
   * Makes the records that withdraw open notifications about the task. Delivered notifications that hold the gate up are marked
   * as read.
   */
  async #takingBack(log: LogKey, task: Task, why: { by: string; reason: string }): Promise<Draft[]> {
    const key = keyOf(task);
    const { store } = this.#inbox;
    const found = [...(await store.items(log, { kind: 'key', key })), ...(await store.items(log, { kind: 'gate' }))];
    const about = new Map(
      found
        .filter(({ notification }) => notification.key === key && notification.kind.source === 'task')
        .map((item): [string, Item] => [`${item.id} ${item.audience}`, item]),
    );
    return [...about.values()].map((item): Draft => {
      const whose = item.audience === '' ? {} : { conversation: item.audience };
      return item.state === 'closed'
        ? { type: 'notification_read', ids: [item.id], by: `${why.by}: ${why.reason}`, ...whose }
        : { type: 'notification_closed', ids: [item.id], outcome: 'withdrawn', ...why, ...whose };
    });
  }

  async #wasTold(project: string, task: Task, agent: string | null): Promise<boolean> {
    const id = runningOf(task, agent)?.interrupted?.notification;
    if (id === undefined) return false;
    const items = await this.#inbox.store.items(logFor(project, agent), { kind: 'ids', ids: [id as NotificationId] });
    // A request to stop that was pruned from the log closed long ago, and counts as read.
    return items.length === 0 || items.some((item) => item.offers > 0);
  }

  async #active(project: string, agent: string | null): Promise<ReadonlySet<string>> {
    if (agent === null) return new Set();
    return new Set((await this.#inbox.active({ log: logFor(project, agent) })).map((p) => p.conversation));
  }

  #after(task: StoredTask | undefined, records: ReturnType<typeof recordsOf>, project: string): StoredTask {
    const at = this.#inbox.store.now();
    let after: StoredTask | undefined = task;
    for (const record of records) after = evolve(after, record, { project, at });
    return after as StoredTask;
  }

  async #board(project: string): Promise<Board | undefined> {
    return (await this.#inbox.store.setting(boardKey(project))) as Board | undefined;
  }
}

const logFor = (project: string, agent: string | null): LogKey => `${project}/${agent ?? '*'}` as LogKey;
const json = (value: object): Json => value as Json;

function shown({ handover: _handover, once: _once, ...task }: StoredTask): Task {
  return task;
}

const busy = (what: string): EarpieceError =>
  new EarpieceError('store_unavailable', `${what} keeps changing; try again`, { retryable: true });
