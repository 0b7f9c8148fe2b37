/** The tasks of agents. Taking a task from an agent interrupts the agent. The page shows the state of that interrupt. */
import { useCallback, useEffect, useRef, useState, type ReactElement } from 'react';
import { Empty, Problem, Skeleton } from '../parts/empty.tsx';
import { useFocusStays } from '../parts/focus.ts';
import { Assignee, NewTask } from '../parts/new-task.tsx';
import { Folded } from '../parts/said.tsx';
import { EditTask } from '../parts/task-words.tsx';
import { Ago } from '../parts/time.tsx';
import { change, to, type Query } from '../route.ts';
import { listen } from '../state/live.ts';
import { messageOf, useLoaded } from '../state/loaded.ts';
import { useProjects } from '../state/projects.ts';
import { useOwnAgent } from '../state/rights.ts';
import { client } from '../state/server.ts';
import { soon } from '../state/soon.ts';
import { word } from '../state/text.ts';
import type { TaskExecution, TaskStatus, TaskView } from '../types.ts';

/** Tasks that need a person come first. */
const ORDER: readonly TaskStatus[] = ['blocked', 'in_progress', 'todo', 'backlog', 'done', 'cancelled'];
const SAYS: Readonly<Record<TaskStatus, string>> = {
  backlog: 'backlog',
  todo: 'to do',
  in_progress: 'in progress',
  blocked: 'blocked',
  done: 'done',
  cancelled: 'cancelled',
};
/** The maximum number of tasks on the page. */
const LISTED = 200;
const OVER: ReadonlySet<TaskStatus> = new Set(['done', 'cancelled']);

export function TasksPage({ query }: { readonly query: Query }): ReactElement {
  const { own, all } = useProjects();
  const agent = useOwnAgent();
  const project = query['project'] ?? own;
  const over = query['over'] === 'yes';
  const tasks = useLoaded(`${project} ${over}`, (signal) =>
    client.tasks({ project, limit: LISTED, signal, ...(over ? {} : { open: true }) }),
  );
  const { again } = tasks;
  useEffect(() => {
    const asking = soon(async () => again(), 60);
    const end = listen((records) => {
      if (
        records.some(
          ({ log, body }) =>
            log.startsWith(`${project}/`) &&
            (body.type.startsWith('task_') || body.type.startsWith('notification_') || body.type.startsWith('carrier_')),
        )
      )
        asking.ask();
    });
    return () => {
      end();
      asking.end();
    };
  }, [again, project]);
  const show = (next: { readonly project?: string; readonly over?: boolean }): void =>
    change(to.tasks({ project: next.project ?? project, ...((next.over ?? over) ? { over: 'yes' } : {}) }));
  const { held, onWriting } = useHeld();
  const { doings, run } = useDoings(again);
  const page = useRef<HTMLDivElement>(null);
  useFocusStays(page, 'task');
  const listed = tasks.value?.items ?? [];
  // Rows with unsaved text stay, even if the list no longer contains them.
  const gone = [...held.values()].filter((task) => task.project === project && !listed.some(({ id }) => id === task.id));
  const groups = ORDER.map((status) => ({
    status,
    items: [...listed, ...gone].filter((task) => (held.get(task.id) ?? task).status === status),
  })).filter(({ items }) => items.length > 0);
  return (
    <div className="page tasks" ref={page}>
      <header className="page-head">
        <h1>Tasks</h1>
        <div className="filters">
          <select aria-label="Project" value={project} onChange={(event) => show({ project: event.target.value })}>
            {all.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
          <label className="inline">
            <input type="checkbox" checked={over} onChange={(event) => show({ over: event.target.checked })} />
            <span>show finished tasks</span>
          </label>
        </div>
      </header>
      {agent === null ? (
        <NewTask key={project} project={project} onMade={again} />
      ) : (
        <p className="muted words no-changes">{`This browser is logged in with the token of an agent. The page shows only the tasks of ${agent}, and you cannot change them. To create or change tasks, log in with an admin or project token.`}</p>
      )}
      {tasks.problem !== null && <Problem text={tasks.problem} again={again} />}
      {tasks.value === undefined && tasks.problem === null && <Skeleton rows={4} label="reading tasks" />}
      {tasks.value !== undefined && groups.length === 0 && (
        <Empty title={`${agent ?? project} has no ${over ? 'tasks' : 'unfinished tasks'}`}>
          <p>
            {agent === null && 'Create a task above and assign it to an agent. '}
            An agent gets its next task with the tool get_next_action, and reports the result with report_completed.
          </p>
          {!over && (
            <button type="button" onClick={() => show({ over: true })}>
              Show finished tasks
            </button>
          )}
        </Empty>
      )}
      {groups.map(({ status, items }) => (
        <section key={status} className="group" aria-label={SAYS[status]}>
          <h2>{`${SAYS[status]} · ${items.length}`}</h2>
          <ul className="rows">
            {items.map((task) => (
              <li key={task.id}>
                <TaskRow
                  task={task}
                  under={status}
                  fixed={agent !== null || OVER.has(task.status)}
                  doing={doings.get(nameOf(task)) ?? NOTHING}
                  run={(work) => run(nameOf(task), work)}
                  onChanged={again}
                  onWriting={onWriting}
                />
              </li>
            ))}
          </ul>
        </section>
      ))}
      {tasks.value !== undefined && tasks.value.next !== null && (
        <p className="muted words">{`The list has the newest ${LISTED} tasks. To list all tasks: earpiece tasks list --project ${word(project)} --limit 10000`}</p>
      )}
    </div>
  );
}

type OnWriting = (id: string, task: TaskView | undefined) => void;

/**
 * Remembers each task with unsaved text as it was when the person began to type. The row of such a task keeps its place until the
 * text is saved or dropped, even if the task changes.
 */
function useHeld(): { readonly held: ReadonlyMap<string, TaskView>; readonly onWriting: OnWriting } {
  const [held, setHeld] = useState<ReadonlyMap<string, TaskView>>(new Map());
  const onWriting = useCallback<OnWriting>(
    (id, task) =>
      setHeld((before) => {
        const after = new Map(before);
        if (task === undefined) after.delete(id);
        else after.set(id, task);
        return after;
      }),
    [],
  );
  return { held, onWriting };
}

/** Whether a change of a task is running, and the error of the last change. */
type Doing = { readonly busy: boolean; readonly problem: string | null };
const NOTHING: Doing = { busy: false, problem: null };
const nameOf = ({ project, id }: TaskView): string => `${project} ${id}`;

/**
 * Tracks the running changes, one for each task. The key is the task, because its row may have moved to another section when the
 * answer arrives.
 */
function useDoings(onChanged: () => void): {
  readonly doings: ReadonlyMap<string, Doing>;
  readonly run: (name: string, work: () => Promise<unknown>) => void;
} {
  const [doings, setDoings] = useState<ReadonlyMap<string, Doing>>(new Map());
  const running = useRef(new Set<string>());
  const run = (name: string, work: () => Promise<unknown>): void => {
    if (running.current.has(name)) return;
    running.current.add(name);
    const is = (doing: Doing): void => setDoings((before) => new Map(before).set(name, doing));
    is({ busy: true, problem: null });
    work()
      .then(
        () => is(NOTHING),
        (error: unknown) => is({ busy: false, problem: messageOf(error) }),
      )
      .finally(() => {
        running.current.delete(name);
        onChanged();
      });
  };
  return { doings, run };
}

function TaskRow({
  task,
  under,
  fixed,
  doing: { busy, problem },
  run,
  onChanged,
  onWriting,
}: {
  readonly task: TaskView;
  /** The status of the section in which the row is. A row with unsaved text may be in the section of an earlier status. */
  readonly under: TaskStatus;
  /** Whether nobody may edit or assign the task with this login. */
  readonly fixed: boolean;
  readonly doing: Doing;
  readonly run: (work: () => Promise<unknown>) => void;
  readonly onChanged: () => void;
  readonly onWriting: OnWriting;
}): ReactElement {
  /** The new status that still needs the person's reason. */
  const [asked, setAsked] = useState<TaskStatus | null>(null);
  const [reason, setReason] = useState('');
  const [editing, setEditing] = useState(false);
  const { id, project, execution } = task;
  const writing = editing || asked !== null;
  const seen = useRef(task);
  seen.current = task;
  useEffect(() => {
    if (!writing) return undefined;
    onWriting(id, seen.current);
    return () => onWriting(id, undefined);
  }, [writing, id, onWriting]);
  const move = (status: TaskStatus, why: string): void => {
    setAsked(null);
    run(async () => {
      await client.moveTask(
        id,
        { status, expected: task.status, ...(why.trim() === '' ? {} : { reason: why.trim() }) },
        { project },
      );
      setReason('');
    });
  };
  const takes = execution !== null && execution.endedAt === null;
  // Each status except `in_progress` takes the task from its agent, and so interrupts the agent.
  const asks = (status: TaskStatus): boolean => takes && status !== 'in_progress';
  return (
    <div className={`row task status-${task.status}`} data-row="" tabIndex={-1} data-task={id}>
      <div className="task-what">
        {editing ? (
          <EditTask
            task={task}
            onDone={() => {
              setEditing(false);
              onChanged();
            }}
          />
        ) : (
          <>
            <span className="muted task-id">{id}</span> <b className="words">{task.title}</b>{' '}
            {task.priority !== 'normal' && (
              <span className={`badge priority-${task.priority === 'urgent' ? 'critical' : task.priority}`}>{task.priority}</span>
            )}
            {!fixed && (
              <button
                type="button"
                className="quiet small"
                data-deed="edit"
                aria-label={`${task.description === '' ? 'Describe' : 'Edit'} ${id}`}
                onClick={() => setEditing(true)}
              >
                {task.description === '' ? 'Describe' : 'Edit'}
              </button>
            )}
            {task.description !== '' && <Folded text={task.description} />}
          </>
        )}
        {task.status !== under && (
          <p className="words">
            <span className="badge">{SAYS[task.status]}</span>
            {' The row moves when you close your text.'}
          </p>
        )}
        {task.blockedReason !== null && <p className="words blocked-why">{`blocked: ${task.blockedReason}`}</p>}
        {execution !== null && <Work execution={execution} project={project} />}
      </div>
      <Assignee
        task={task}
        fixed={fixed}
        busy={busy}
        onAssign={(assignee) => run(() => client.editTask(id, { assignee, expected: task.version }, { project }))}
      />
      <span className="muted task-since">
        <Ago at={task.statusChangedAt} />
      </span>
      <div className="task-deeds">
        {asked === null ? (
          (fixed ? [] : task.mayBecome).map((status) => (
            <button
              key={status}
              type="button"
              className={`small ${status === 'cancelled' || status === 'backlog' ? 'quiet' : ''}`}
              aria-busy={busy}
              onClick={({ detail }) => {
                // After the first click of a double click, the list may change, so the second click could hit another row or
                // button.
                if (detail > 1) return;
                if (asks(status)) setAsked(status);
                else move(status, '');
              }}
            >
              {MOVES[task.status === 'blocked' && status === 'in_progress' ? 'unblock' : status]}
            </button>
          ))
        ) : (
          <form
            className="task-ask"
            onSubmit={(event) => {
              event.preventDefault();
              move(asked, reason);
            }}
          >
            <label>
              <span>{asksWhy(execution)}</span>
              <input
                autoFocus
                value={reason}
                onChange={(event) => setReason(event.target.value)}
                placeholder="a reason that the agent reads"
              />
            </label>
            <button type="submit" className="danger small">
              {MOVES[asked]}
            </button>
            <button type="button" className="quiet small" onClick={() => setAsked(null)}>
              Do not interrupt
            </button>
          </form>
        )}
      </div>
      <p className={`row-said words ${problem === null ? '' : 'bad'}`} role="status">
        {busy ? 'pending …' : problem}
      </p>
    </div>
  );
}

/** Names the agents that a change of status interrupts, and asks for the reason. */
const asksWhy = (execution: TaskExecution | null): string =>
  execution?.conversation == null
    ? `${execution?.agent ?? 'The agent'} has not started this task yet. Its active conversations are interrupted. Why?`
    : `${execution.agent} works on this task and is interrupted. Why?`;

const MOVES: Readonly<Record<TaskStatus | 'unblock', string>> = {
  backlog: 'To the backlog',
  todo: 'To do',
  in_progress: 'Start',
  blocked: 'Block',
  done: 'Done',
  cancelled: 'Cancel',
  unblock: 'Unblock',
};

/** Shows the state of the work with a link to its conversation, and an interruption with a link to its notification. */
function Work({ execution, project }: { readonly execution: TaskExecution; readonly project: string }): ReactElement {
  const { agent, conversation, interrupted, endedAt, result, startedAt } = execution;
  const log = `${project}/${agent}`;
  return (
    <p className="task-work muted">
      <a href={to.conversation(log, conversation ?? 'main')}>{`${agent}${conversation === null ? '' : `#${conversation}`}`}</a>
      {endedAt === null ? (
        <>
          {conversation === null ? ' has not started this task yet' : ' started '}
          {conversation !== null && <Ago at={startedAt} />}
        </>
      ) : (
        <span className="words">
          {` reported ${result ?? 'nothing'} `}
          <Ago at={endedAt} />
          {execution.message !== null && `: ${execution.message}`}
        </span>
      )}
      {interrupted !== null && endedAt === null && (
        <>
          {` · was asked to stop (${interrupted.why} by ${interrupted.by.name}) and has not answered yet: `}
          <a href={to.conversation(log, conversation ?? 'main', interrupted.notification)}>why</a>
        </>
      )}
    </p>
  );
}
