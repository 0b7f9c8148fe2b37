/** Lists and changes tasks for a person. Taking a task away from an agent interrupts that agent. */
import type { LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import type { Page, TaskView } from '../../wire/api.ts';
import { NEXT_STATUSES, TASK_STATUSES, type Task, type TaskActor, type TaskExecution } from '../../core/task.ts';
import { oneOf, Tasks } from '../../tasks/index.ts';
import { mustLead, mustRead } from '../authority.ts';
import { answers, createRoute, flag, jsonBody, limitQuery, reply, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { onOnePage } from '../page-bytes.ts';
import { idempotency, idempotencyKey } from '../idempotency.ts';
import { ProblemError } from '../problems.ts';
import { executionsPage, nameParam, task, taskEdit, taskInput, taskMove, tasksPage } from '../../wire/schemas.ts';
import type { Principal } from '../tokens.ts';
import { personOf } from './conversations.ts';

const params = z.object({ id: z.string().min(1).max(20) });
const projectQuery = {
  project: nameParam
    .optional()
    .openapi({ description: "default: the token's project; for an admin token, the server's project" }),
};

export function taskRoutes(api: Api, { inbox, project: here }: Deps): void {
  const tasks = new Tasks(inbox);
  const projectOf = (who: Principal, asked: string | undefined): string => asked ?? who.project ?? here;
  const by = (who: Principal, author: string | undefined): TaskActor => ({ kind: 'person', name: author ?? personOf(who) });
  /** Returns a task if the caller may see it. An agent's token sees the tasks of that agent. */
  const seen = async (who: Principal, project: string, id: string): Promise<Task> => {
    if (who.kind !== 'agent') mustRead(who, { project });
    const found = who.project !== null && who.project !== project ? undefined : await tasks.get(project, id);
    if (who.kind === 'agent') mustRead(who, ofAgent(who, `${project}/${found?.assignee ?? '*'}`));
    if (found === undefined)
      throw new ProblemError(
        'not_found',
        `there is no task ${JSON.stringify(id)} in project ${project}; GET /api/tasks lists the tasks`,
      );
    return found;
  };

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/tasks',
      operationId: 'listTasks',
      tags: ['tasks'],
      summary: 'List the tasks of a project, newest first',
      request: {
        query: z.strictObject({
          ...projectQuery,
          status: z.string().max(200).optional().openapi({ description: 'only tasks with these statuses, separated by commas' }),
          assignee: nameParam.optional(),
          open: flag.optional().openapi({ type: 'boolean', description: 'only open tasks' }),
          before: z.string().max(20).optional(),
          limit: limitQuery(200, 50),
        }),
      },
      responses: answers(tasksPage, 'tasks'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { status, open, assignee, before, limit, ...asked } = c.req.valid('query');
      const project = projectOf(who, asked.project);
      const own = who.kind === 'agent' ? (who.agent ?? undefined) : assignee;
      if (who.kind === 'agent') mustRead(who, ofAgent(who, `${project}/${assignee ?? who.agent}`));
      else mustRead(who, { project });
      const named = (status ?? '')
        .split(',')
        .filter(Boolean)
        .map((one) => oneOf('status', one, TASK_STATUSES));
      const among = named.length === 0 ? TASK_STATUSES : named;
      const statuses = open ? among.filter((one) => NEXT_STATUSES[one].length > 0) : among;
      const found = await tasks.list(project, { statuses, ...defined({ assignee: own, before }), limit });
      const items = onOnePage(found.tasks.map(view));
      return reply<Page<TaskView>>(c, {
        items,
        next: items.length < found.tasks.length ? (items.at(-1)?.id ?? null) : found.next,
      });
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/tasks',
      operationId: 'createTask',
      tags: ['tasks'],
      summary: 'Create a task',
      ...idempotency,
      request: { body: jsonBody(taskInput) },
      responses: answers(task, 'the task', 201),
    }),
    async (c) => {
      const who = principalOf(c);
      const { project: asked, author, ...input } = c.req.valid('json');
      const project = projectOf(who, asked);
      mustLead(who, { project });
      const made = await tasks.create(project, input, by(who, author), idempotencyKey(c));
      return reply<TaskView>(c, view(made), 201);
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/tasks/{id}',
      operationId: 'getTask',
      tags: ['tasks'],
      summary: 'Read a task',
      request: { params, query: z.strictObject(projectQuery) },
      responses: answers(task, 'the task'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      return reply<TaskView>(c, view(await seen(who, project, c.req.valid('param').id)));
    },
  );

  api.openapi(
    createRoute({
      method: 'patch',
      path: '/api/tasks/{id}',
      operationId: 'editTask',
      tags: ['tasks'],
      summary: 'Change a task or its assignee; a reassignment interrupts the agent that works on the task',
      request: { params, query: z.strictObject(projectQuery), body: jsonBody(taskEdit) },
      responses: answers(task, 'the task after the change'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      mustLead(who, { project });
      const { expected, author, ...edit } = c.req.valid('json');
      return reply<TaskView>(
        c,
        view(await tasks.edit(project, c.req.valid('param').id, edit, { by: by(who, author), expected })),
      );
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/tasks/{id}/status',
      operationId: 'moveTask',
      tags: ['tasks'],
      summary: "Change a task's status. A change that stops the work interrupts the agent that works on the task",
      request: { params, query: z.strictObject(projectQuery), body: jsonBody(taskMove) },
      responses: answers(task, 'the task after the change'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      mustLead(who, { project });
      const { status, author, ...change } = c.req.valid('json');
      return reply<TaskView>(
        c,
        view(await tasks.move(project, c.req.valid('param').id, status, { ...change, by: by(who, author) })),
      );
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/tasks/{id}/executions',
      operationId: 'listTaskExecutions',
      tags: ['tasks'],
      summary: 'List the executions of a task, newest first: the last twenty, and all running executions',
      request: { params, query: z.strictObject(projectQuery) },
      responses: answers(executionsPage, 'executions'),
    }),
    async (c) => {
      const who = principalOf(c);
      const project = projectOf(who, c.req.valid('query').project);
      const { executions } = await seen(who, project, c.req.valid('param').id);
      return reply<Page<TaskExecution>>(c, { items: executions.toReversed(), next: null });
    },
  );
}

const ofAgent = (who: Principal, log: string): { log: LogKey; conversation?: string } => ({
  log: log as LogKey,
  ...(who.conversation === null ? {} : { conversation: who.conversation }),
});

const view = ({ executions, ...rest }: Task): TaskView => ({
  ...rest,
  execution: executions.at(-1) ?? null,
  mayBecome: NEXT_STATUSES[rest.status],
});
