/**
 * Lists every command with its row in the help. The module of a command is loaded when a user runs the command or reads its help.
 */
import type { Answer, CommandLine } from './command-line.ts';

/** Defines the command: description, options, work. */
type Define = (command: CommandLine, answer: Answer) => void;

export type Entry = {
  /** The name and the arguments of the command. */
  readonly term: string;
  readonly summary: string;
  readonly load: () => Promise<Define>;
};

/** The commands by the headings of the help. */
export const COMMANDS: Readonly<Record<string, readonly Entry[]>> = {
  'Work with an agent:': [
    {
      term: 'chat [message...]',
      summary: 'talk with the agent of Earpiece',
      load: async () => (await import('./commands/chat.ts')).chat,
    },
    {
      term: 'run [prompt...]',
      summary: 'run one turn of the agent of Earpiece',
      load: async () => (await import('./commands/run.ts')).task,
    },
    {
      term: 'in <command...>',
      summary: 'run a coding agent in a terminal that wakes it',
      load: async () => (await import('./commands/in.ts')).inTerminal,
    },
    {
      term: 'tasks',
      summary: 'list and change the tasks of agents',
      load: async () => (await import('./commands/tasks.ts')).tasks,
    },
  ],
  'Notify an agent:': [
    { term: 'send [message...]', summary: 'queue a notification', load: async () => (await import('./commands/send.ts')).send },
    {
      term: 'remind [when] [message...]',
      summary: 'remind an agent later',
      load: async () => (await import('./commands/remind.ts')).remind,
    },
    {
      term: 'run-and-tell <command...>',
      summary: 'run a command, and notify an agent of its result',
      load: async () => (await import('./commands/run-and-tell.ts')).runAndTell,
    },
    {
      term: 'follow [what...]',
      summary: 'notify an agent of outside changes',
      load: async () => (await import('./commands/follow.ts')).follow,
    },
    {
      term: 'following',
      summary: 'list followed things and their state',
      load: async () => (await import('./commands/following.ts')).following,
    },
    {
      term: 'unfollow <id>',
      summary: 'stop following something',
      load: async () => (await import('./commands/unfollow.ts')).unfollow,
    },
    {
      term: 'emit <file>',
      summary: 'emit events, and see which subscribers match',
      load: async () => (await import('./commands/emit.ts')).emit,
    },
    {
      term: 'withdraw [id]',
      summary: 'withdraw a notification',
      load: async () => (await import('./commands/change.ts')).withdraw,
    },
    { term: 'resume [address]', summary: 'lift a pause', load: async () => (await import('./commands/resume.ts')).resume },
    {
      term: 'requeue <id>',
      summary: 'queue a closed notification again',
      load: async () => (await import('./commands/change.ts')).requeue,
    },
    {
      term: 'mute [pattern] [address]',
      summary: 'silence a kind of notification',
      load: async () => (await import('./commands/change.ts')).mute,
    },
  ],
  'See what happened:': [
    {
      term: 'inbox [address]',
      summary: 'list open notifications; in an agent, read them',
      load: async () => (await import('./commands/inbox.ts')).inbox,
    },
    { term: 'log [address]', summary: 'list the newest records', load: async () => (await import('./commands/log.ts')).log },
    {
      term: 'watch [address]',
      summary: 'show records as they are written',
      load: async () => (await import('./commands/log.ts')).watch,
    },
    {
      term: 'why <id> [address]',
      summary: 'explain what happened to a notification',
      load: async () => (await import('./commands/why.ts')).why,
    },
    { term: 'agents', summary: 'list the agents', load: async () => (await import('./commands/agents.ts')).agents },
  ],
  'Set up:': [
    {
      term: 'install [agents...]',
      summary: 'connect the coding agents of this machine',
      load: async () => (await import('./commands/install.ts')).install,
    },
    {
      term: 'uninstall [agents...]',
      summary: 'undo the changes of earpiece install',
      load: async () => (await import('./commands/uninstall.ts')).uninstall,
    },
    {
      term: 'gateway [command...]',
      summary: 'run Earpiece between MCP clients and servers',
      load: async () => (await import('./commands/gateway.ts')).gateway,
    },
    {
      term: 'statusline',
      summary: "show open notifications in an agent's status line",
      load: async () => (await import('./commands/statusline.ts')).statusline,
    },
    {
      term: 'mcp',
      summary: 'serve the tools of Earpiece to a coding agent',
      load: async () => (await import('./commands/mcp.ts')).mcp,
    },
    {
      term: 'hook <host>',
      summary: 'answer one hook call of a coding agent',
      load: async () => (await import('./commands/hook.ts')).hook,
    },
    {
      term: 'bridge <host>',
      summary: 'serve the plugin of a coding agent',
      load: async () => (await import('./commands/bridge.ts')).bridge,
    },
    {
      term: 'serve',
      summary: 'run the web console and the HTTP API',
      load: async () => (await import('./commands/serve.ts')).serve,
    },
    {
      term: 'token',
      summary: 'manage the tokens of the HTTP API',
      load: async () => (await import('./commands/token.ts')).token,
    },
    { term: 'doctor', summary: 'check the installation', load: async () => (await import('./commands/doctor.ts')).doctor },
    {
      term: 'config',
      summary: 'check, explain and change the configuration',
      load: async () => (await import('./commands/config.ts')).config,
    },
    {
      term: 'sources',
      summary: 'list the event sources, and whether each is on',
      load: async () => (await import('./commands/sources.ts')).sources,
    },
    {
      term: 'subscribers',
      summary: 'manage rules that turn events into notifications',
      load: async () => (await import('./commands/subscribers.ts')).subscribers,
    },
    {
      term: 'trust [file]',
      summary: 'trust the settings and subscribers of a project',
      load: async () => (await import('./commands/trust.ts')).trust,
    },
    { term: 'db', summary: 'check, prune or back up the database', load: async () => (await import('./commands/db.ts')).db },
    {
      term: 'migrate',
      summary: 'move the database to another engine',
      load: async () => (await import('./commands/migrate.ts')).migrate,
    },
    {
      term: 'forget <address>',
      summary: 'erase all data of an agent',
      load: async () => (await import('./commands/forget.ts')).forget,
    },
    {
      term: 'import',
      summary: 'import conversations of other programs',
      load: async () => (await import('./commands/import.ts')).importing,
    },
  ],
  'Help:': [
    {
      term: 'help [topic...]',
      summary: 'explain a command or the exit codes',
      load: async () => (await import('./commands/help.ts')).help,
    },
    {
      term: 'completion <shell>',
      summary: 'print a script for shell completion',
      load: async () => (await import('./commands/completion.ts')).completion,
    },
  ],
};

export const nameOf = ({ term }: Entry): string => term.split(' ')[0] ?? '';

/** Finds a command by its name; undefined if no command has this name. */
export const entryOf = (name: string): Entry | undefined =>
  Object.values(COMMANDS)
    .flat()
    .find((entry) => nameOf(entry) === name);
