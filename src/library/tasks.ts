/** Creates, lists and changes the tasks of one project. */
import { TASK_PRIORITIES, TASK_STATUSES, type Task, type TaskActor, type TaskStatus } from '../core/task.ts';
import type { LoadedInbox } from '../loaded-inbox.ts';
import { agentOfCommand, Tasks as Inner, type TaskEdit, type TaskInput, type TaskQuery } from '../tasks/index.ts';
import { check, type Table } from './arguments.ts';
import { mustBeOpen } from './inner.ts';

/**
 * `by` is the person or agent that changes a task, and `expected` the status or version that you saw. If the task has another
 * status or version now, the call throws `conflict`.
 */
export type TaskChange = { readonly by: TaskActor; readonly expected?: TaskStatus | number };

const ACTOR = { keys: { kind: ['person', 'agent'], name: 'text' } } as const;
const TASK: Table<TaskInput> = {
  title: { needed: 'text' },
  description: 'text',
  priority: TASK_PRIORITIES,
  // Null means that no agent is assigned.
  assignee: 'any',
  status: ['backlog', 'todo'],
};
const EDIT: Table<TaskEdit> = { title: 'text', description: 'text', priority: TASK_PRIORITIES, assignee: 'any' };
const CHANGE: Table<TaskChange> = { by: { needed: ACTOR }, expected: 'any' };

export class Tasks {
  readonly #project: string;
  readonly #inbox: LoadedInbox;
  readonly #inner: Inner;

  /** Programs use `Earpiece.tasks`, and not this constructor. */
  constructor(inbox: object) {
    this.#inbox = inbox as LoadedInbox;
    this.#project = this.#inbox.project;
    this.#inner = new Inner(this.#inbox);
  }

  /**
   * Creates a task. `once` is your own name for the task. A second call with the same name returns the first task. In a command
   * of an agent, this method and each method that changes a task throw `not_trusted` if `by` is a person. The name of the
   * command's agent replaces another agent in `by`.
   */
  async create(task: TaskInput, options: { readonly by: TaskActor; readonly once?: string }): Promise<Task> {
    check('create', task, TASK, 'the task');
    check('create', options, { by: { needed: ACTOR }, once: 'text' });
    return this.#tasks.create(this.#project, task, this.#actor(options.by), options.once);
  }

  /** Returns one task. Throws `not_found` for an unknown id. */
  async get(id: string): Promise<Task> {
    return this.#tasks.get(this.#project, id);
  }

  /** Lists tasks, newest first. Pass `next` as `before` to get the next page. */
  async list(query: TaskQuery = {}): Promise<{ readonly tasks: readonly Task[]; readonly next: string | null }> {
    check('list', query, { statuses: { listOf: TASK_STATUSES }, assignee: 'text', before: 'text', limit: 'count' });
    return this.#tasks.list(this.#project, query);
  }

  async edit(id: string, edit: TaskEdit, change: TaskChange): Promise<Task> {
    check('edit', edit, EDIT);
    check('edit', change, CHANGE);
    return this.#tasks.edit(this.#project, id, edit, this.#changed(change));
  }

  /**
   * Assigns a task to an agent, or to no agent if `assignee` is null. If another agent works on the task, Earpiece asks that
   * agent to stop. This method and `move` throw `not_trusted` if `by` is an agent and would stop the work of another agent.
   */
  async assign(id: string, assignee: string | null, change: TaskChange): Promise<Task> {
    check('assign', change, CHANGE);
    return this.#tasks.assign(this.#project, id, assignee, this.#changed(change));
  }

  /** Changes the status of a task. Throws `conflict` if the task cannot change to this status. */
  async move(id: string, to: TaskStatus, change: TaskChange & { readonly reason?: string }): Promise<Task> {
    check('move', change, { ...CHANGE, reason: 'text' });
    return this.#tasks.move(this.#project, id, to, this.#changed(change));
  }

  /** Returns the agent whose command makes the change, instead of the agent in `by`. A person in `by` is refused later. */
  #actor(by: TaskActor): TaskActor {
    const { speaker } = this.#inbox;
    if (speaker === undefined || by.kind === 'person') return by;
    return { kind: 'agent', name: agentOfCommand(this.#project, speaker) };
  }

  #changed<Change extends TaskChange>(change: Change): Change {
    return { ...change, by: this.#actor(change.by) };
  }

  get #tasks(): Inner {
    mustBeOpen(this.#inbox);
    return this.#inner;
  }
}

export type { Task, TaskActor, TaskEdit, TaskInput, TaskQuery, TaskStatus };
