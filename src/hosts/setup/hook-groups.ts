/** Makes the hooks of a host for its settings or for a plugin, with a group for each event. */
import { defined } from '../../core/defined.ts';
import type { HookHost } from '../host.ts';
import type { Ending } from '../quiet-mark.ts';
import type { Group } from './hook-settings.ts';
import { HOOK_TOOL, SERVER_NAME } from './ours.ts';

export type Lines = {
  /** Makes a line for a POSIX shell. If the condition `ending` is true, the shell ends the hook without starting Earpiece. */
  line(words: readonly string[], ending?: Ending): string;
  /** Converts seconds to the host's unit, milliseconds or seconds. */
  timeout(seconds: number): number;
  /** The host's name for Earpiece's MCP server, whose tool the host can call as a hook. */
  readonly server?: string;
};

export const hookGroups = (host: HookHost, lines: Lines): Readonly<Record<string, Group>> =>
  Object.fromEntries(
    Object.entries(host.events).map(
      ([event, { matcher, timeoutS, waits, marked, served, standsIn, onlyIf }]): [string, Group] => {
        const timeout = lines.timeout(timeoutS);
        const variable = host.sessionVariable;
        const ending = marked === undefined || variable === undefined ? undefined : { mark: marked, variable };
        const words = ['hook', host.name, ...(standsIn && lines.server !== undefined ? ['--served'] : [])];
        const hooks: Group['hooks'] = [
          ...(served !== undefined && lines.server !== undefined
            ? [toolHook({ host: host.name, event, server: lines.server, served, timeout })]
            : (onlyIf ?? [undefined]).map((rule) => ({
                type: 'command',
                command: lines.line(words, ending),
                timeout,
                ...defined({ name: host.showsName ? SERVER_NAME : undefined, if: rule }),
              }))),
          ...(waits ? [waiter(lines.line(['hook', host.name, '--wait']), lines)] : []),
        ];
        return [event, { ...defined({ matcher }), hooks }];
      },
    ),
  );

/**
 * The time limit of the waiting command: 7 days. After the host has ended this command, the hook of the next session or turn
 * starts a new command.
 */
const WAITS_S = 7 * 24 * 3_600;

const waiter = (command: string, lines: Lines): Group['hooks'][number] => ({
  type: 'command',
  command,
  timeout: lines.timeout(WAITS_S),
  asyncRewake: true,
});

type ToolHook = {
  readonly host: string;
  readonly event: string;
  readonly server: string;
  readonly served: Readonly<Record<string, string>>;
  readonly timeout: number;
};

/** Makes a hook without a command. The host replaces each `${field}` by its value and calls the running server. */
const toolHook = ({ host, event, server, served, timeout }: ToolHook): Group['hooks'][number] => ({
  type: 'mcp_tool',
  server,
  tool: HOOK_TOOL,
  input: { host, hook_event_name: event, ...Object.fromEntries(CALLER.map((field) => [field, `\${${field}}`])), ...served },
  timeout,
});

/** The caller's fields, by the names of the common format. */
const CALLER = ['session_id', 'cwd', 'agent_id', 'transcript_path'];
