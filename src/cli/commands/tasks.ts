/**
 * `earpiece tasks`: lists and changes the tasks of agents. Changes are written directly to the store, so an agent's gateway sees
 * the changes at the agent's next call.
 */
import { logKey, splitLog } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import {
  NEXT_STATUSES,
  TASK_PRIORITIES,
  TASK_STATUSES,
  type Task,
  type TaskActor,
  type TaskExecution,
  type TaskPriority,
  type TaskStatus,
} from '../../core/task.ts';
import type { UserInbox } from '../../user-inbox.ts';
import type * as Room from '../../tasks/index.ts';
import { choice, type CommandLine } from '../command-line.ts';
import { countOption, onlyAPerson, personOption, readInbox, withInbox, type GlobalOptions } from '../context.ts';
import { readerOf } from '../reader.ts';
import { BAR, barred } from '../foreign.ts';
import { table } from '../table.ts';
import { ago, clock, nameOf, paint, plain, print, printJson } from '../terminal.ts';
import { whoAmI } from './change.ts';

type Options = GlobalOptions & { project?: string; as?: string };
type AddOptions = Options & { to?: string; priority: TaskPriority; description?: string; backlog?: boolean };
type StatusOptions = Options & { reason?: string; expect?: TaskStatus };

export function tasks(group: CommandLine): void {
  group.description('Assigns tasks to agents, and shows their results.');
  const command = (usage: string): CommandLine =>
    group.command(usage).option('--project <project>', 'the project (default: this project)');
  const changes = (usage: string): CommandLine =>
    command(usage).option(
      '--as <person>',
      'the person who makes the change (default: your user name, or the agent of this shell)',
    );

  command('list')
    .summary('list the open tasks')
    .description('Lists tasks, newest first: the open tasks, or the tasks with the given status.')
    .addOption(choice('--status <status>', TASK_STATUSES, 'only tasks with this status'))
    .option('--of <agent>', 'only the tasks of this agent')
    .option('--all', 'include finished tasks')
    .option('--limit <n>', 'maximum number of tasks', '50')
    .example(`earpiece tasks list
earpiece tasks list --of coder --status blocked --json`)
    .action(async (options: Options & { status?: TaskStatus; of?: string; all?: boolean; limit: string }) => {
      if (options.all && options.status !== undefined)
        throw new EarpieceError('bad_argument', `give either --all or --status ${options.status}, got both`);
      const limit = countOption('--limit', options.limit, { max: 10_000 });
      await withTasks(options, async ({ all, project, room }) => {
        const statuses = options.status === undefined ? TASK_STATUSES.filter(isOpen) : [options.status];
        const assignee = options.of === undefined ? undefined : room.agentName(project, options.of);
        const found = await all.list(project, {
          ...(options.all ? {} : { statuses }),
          ...defined({ assignee }),
          limit,
        });
        if (options.json) return found.tasks.forEach((task) => printJson(task));
        if (found.tasks.length === 0) {
          if (!(await all.any(project))) return print(paint('dim', `no tasks in ${nameOf(project)}; to add a task: ${ADD}`));
          const which = options.all ? '' : `${options.status ?? 'open'} `;
          const whose = assignee === undefined ? '' : ` of ${nameOf(assignee)}`;
          const more = options.all || options.status !== undefined ? '' : '; --all also lists finished tasks';
          return print(paint('dim', `no ${which}tasks${whose} in ${nameOf(project)}${more}`));
        }
        const now = Date.now();
        const rows = found.tasks.map((task) => [
          task.id,
          status(task.status),
          task.priority,
          nameOf(task.assignee ?? '-'),
          ago(task.statusChangedAt, now),
          plain(task.title),
        ]);
        const [id, since] = [{ head: 'id' }, { head: 'since', spare: 0 }];
        const columns = [id, { head: 'status' }, { head: 'priority', spare: 1 }, { head: 'agent' }, since, { head: 'title' }];
        print(table(rows, columns));
        if (found.next !== null) print(paint('dim', 'there are more tasks; --limit sets how many are shown'));
      });
    });

  changes('add <title...>')
    .summary('add a task')
    .description(
      'Adds a task. An agent gets its tasks from the tool get_next_action: tasks with a higher priority first, and within a priority the oldest task first.',
    )
    .option('--to <agent>', 'the agent that will work on the task (default: none yet)')
    .addOption(choice('--priority <priority>', TASK_PRIORITIES, 'the priority', { fallback: 'normal' }))
    .option('--description <text>', 'the description')
    .option('--backlog', 'put the task into the backlog, so that no agent starts it yet')
    .onMistake('put a title that begins with "-" after --')
    .example(`earpiece tasks add --to coder --priority high "Fix the login"
earpiece tasks add --backlog "Look at the slow query"`)
    .action(async (words: string[], options: AddOptions) => {
      await withTasks(
        options,
        async (at) => {
          const { all, project, by } = at;
          const { priority, description, backlog, to } = options;
          const input = {
            title: words.join(' '),
            priority,
            description,
            assignee: to,
            ...(backlog ? { status: 'backlog' as const } : {}),
          };
          say(options, await all.create(project, input, by), await unreachable(at, to));
        },
        withInbox,
      );
    });

  changes('assign <id> [agent]')
    .summary('give a task to an agent')
    .description(
      'Gives a task to an agent. If another agent works on the task, that agent is asked to stop, and the task returns to the status todo. No agent can stop the work of another agent.',
    )
    .option('--nobody', 'remove the assignee')
    .example(`earpiece tasks assign t7 tester
earpiece tasks assign t7 --nobody`)
    .action(async (id: string, agent: string | undefined, options: Options & { nobody?: boolean }) => {
      if ((agent === undefined) !== (options.nobody === true))
        throw new EarpieceError(
          'bad_argument',
          `tasks assign needs either an agent or --nobody, got ${agent === undefined ? 'neither' : 'both'}`,
        );
      await withTasks(options, async (at) => {
        const { all, project, by } = at;
        say(options, await all.assign(project, id, agent ?? null, { by }), await unreachable(at, agent));
      });
    });

  changes('status <id> <status>')
    .summary('change the status of a task')
    .description(
      "Sets the status of a task. If you block, cancel, put back or finish the task, its agent is interrupted: the agent's next tool call is refused, with instructions. " +
        `If the task is in_progress again, an unread interrupt is withdrawn. No agent can stop the work of another agent. A status is one of ${TASK_STATUSES.join(', ')}. To list the possible next statuses: earpiece tasks show.`,
    )
    .option('--reason <text>', 'the reason, which the agent reads')
    .addOption(choice('--expect <status>', TASK_STATUSES, 'change the task only if it has this status now'))
    .example(`earpiece tasks status t7 blocked --reason "legal has to agree first"
earpiece tasks status t7 in_progress --expect blocked`)
    .action(async (id: string, to: string, options: StatusOptions) => {
      await withTasks(options, async ({ all, project, by, room }) => {
        const { reason, expect: expected } = options;
        const task = await all.move(project, id, room.oneOf('status', to, TASK_STATUSES), { by, reason, expected });
        say(options, task);
      });
    });

  command('show <id>')
    .summary('show a task and the work on the task')
    .description('Shows a task, the agents that worked on the task, and their results.')
    .action(async (id: string, options: Options) => {
      await withTasks(options, async ({ all, project }) => {
        const task = await all.get(project, id);
        if (options.json) return printJson(task);
        print(`${paint('bold', task.id)}  ${plain(task.title)}`);
        const since = `since ${clock(task.statusChangedAt)} by ${whom(task.statusChangedBy)}`;
        print(`  ${status(task.status)} ${since}${task.blockedReason === null ? '' : ` ${BAR} ${plain(task.blockedReason)}`}`);
        print(`  priority ${task.priority}, assigned to ${nameOf(task.assignee ?? 'nobody')}`);
        const next = NEXT_STATUSES[task.status];
        if (next.length > 0) print(paint('dim', `  next statuses: ${next.join(', ')}`));
        if (task.description !== '') print(barred(task.description));
        for (const execution of task.executions) print(shown(execution));
      });
    });
}

/** The command that is suggested for a project without tasks. */
const ADD = 'earpiece tasks add --to <agent> "the title of the task"';

type Work = {
  readonly ear: UserInbox;
  readonly all: Room.Tasks;
  readonly project: string;
  readonly by: TaskActor;
  readonly room: typeof Room;
};

async function withTasks(
  options: Options,
  work: (at: Work) => Promise<void> | void,
  opened: typeof withInbox = readInbox,
): Promise<void> {
  const person = personOption(options.as, 'makes the change');
  // The code for tasks is loaded only when the command runs, so that other commands start faster.
  const room = await import('../../tasks/index.ts');
  await opened(options, async (ear) => {
    const project = options.project === undefined ? ear.project : projectName(options.project);
    await work({ ear, all: new room.Tasks(ear), project, by: await actor({ ear, project, room }, person), room });
  });
}

async function actor({ ear, project, room }: Pick<Work, 'ear' | 'project' | 'room'>, as: string | undefined): Promise<TaskActor> {
  if (as !== undefined) {
    onlyAPerson(`to speak as ${JSON.stringify(as.slice(0, 80))}`);
    return { kind: 'person', name: as };
  }
  // An agent whose name is unknown must not count as a person.
  if (ear.speaker !== undefined) return { kind: 'agent', name: room.agentOfCommand(project, ear.speaker) };
  const reader = await readerOf(ear, { project: ear.project, env: process.env, address: ear.config.address });
  if (reader !== undefined) return { kind: 'agent', name: splitLog(reader.log).agent };
  return { kind: 'person', name: whoAmI() };
}

function projectName(name: string): string {
  try {
    return splitLog(logKey(name, 'x')).project;
  } catch {
    throw new EarpieceError(
      'bad_address',
      `--project ${JSON.stringify(name.slice(0, 80))} is not a valid name of a project; use the part of an agent's address before the "/"`,
    );
  }
}

/**
 * Returns a warning if the agent is active, but none of its active conversations has the task tools; otherwise undefined. A
 * conversation whose tools are unknown counts as one with the task tools.
 */
async function unreachable({ ear, project, room }: Work, to: string | undefined): Promise<string | undefined> {
  if (to === undefined) return undefined;
  const agent = room.agentName(project, to);
  const there = (await ear.active({ log: logKey(project, agent) })).filter(({ purpose = 'task' }) => purpose === 'task');
  if (there.length === 0 || there.some(({ has }) => has === undefined || has.includes(room.REPORT_TOOL))) return undefined;
  return `the active conversations of ${nameOf(agent)} began without the task tools; new conversations get these tools, unless agent.tasks or gateway.tasks is false`;
}

function say(options: Options, task: Task, hint?: string): void {
  if (options.json) return printJson(task);
  const whose = task.assignee === null ? '' : ` of ${nameOf(task.assignee)}`;
  print(`${task.id}  ${status(task.status)}${whose}: ${plain(task.title)}`);
  if (hint !== undefined) print(paint('dim', hint));
}

const isOpen = (one: TaskStatus): boolean => NEXT_STATUSES[one].length > 0;

const STYLE: Readonly<Record<TaskStatus, Parameters<typeof paint>[0]>> = {
  backlog: 'dim',
  todo: 'reset',
  in_progress: 'cyan',
  blocked: 'yellow',
  done: 'green',
  cancelled: 'dim',
};

const status = (of: TaskStatus): string => paint(STYLE[of], of);

const whom = ({ kind, name }: TaskActor): string => `${kind} ${nameOf(name, 60)}`;

function shown({ id, agent, conversation, startedAt, endedAt, result, exitCode, message, interrupted }: TaskExecution): string {
  const where = `${nameOf(agent)}${conversation === null ? '' : `#${nameOf(conversation)}`}`;
  const cut = interrupted === null ? '' : `, ${interrupted.why} by ${whom(interrupted.by)} at ${clock(interrupted.at)}`;
  const begun = `  ${id}  ${where} since ${clock(startedAt)}${cut}`;
  if (endedAt !== null)
    return `${begun}\n    ${result} at ${clock(endedAt)} (exit code ${exitCode})${message ? ` ${BAR} ${plain(message)}` : ''}`;
  return `${begun}; ${interrupted !== null ? 'has not reported yet' : conversation === null ? 'not started yet' : 'runs'}`;
}
