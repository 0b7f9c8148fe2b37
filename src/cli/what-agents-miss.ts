/**
 * Collects the findings of `doctor` about MCP servers that do not work, and about agents that get notifications only through
 * wrapped tools.
 */
import type { LogKey } from '../core/address.ts';
import type { Item } from '../core/item.ts';
import type { Presence } from '../core/ports.ts';
import { isFailure, saidOfServers } from '../gateway/riding/tell-upstream.ts';
import type { Inbox } from '../inbox/index.ts';
import { ago } from './terminal.ts';

export type Finding = { readonly what: string; readonly value: string; readonly ok: boolean; readonly advice?: string };

/** The maximum age of a failure. A server that failed longer ago most likely belongs to a session that has ended. */
const RECENT_MS = 3_600_000;

/** Finds the servers of a project's agents that failed in the last hour and have not worked since. */
export async function brokenServers(inbox: Inbox, logs: readonly LogKey[], now: number): Promise<Finding[]> {
  const newest = new Map<string, Item>();
  for (const log of logs)
    for (const [server, item] of await saidOfServers(inbox, log))
      if (item.at > (newest.get(server)?.at ?? now - RECENT_MS)) newest.set(server, item);
  return [...newest.values()].filter(isFailure).map(({ notification, at }) => ({
    what: 'server',
    value: `${notification.message} (${ago(at, now)})`,
    ok: false,
    advice: 'start the command of the MCP server by itself, and read its output; then restart the agent',
  }));
}

/** The built-in tools that each host calls most. No gateway sees calls of these tools. */
const OWN_TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, 'Bash, Read, Edit, Write, Grep and Task'],
  [/^codex/i, 'shell commands and apply_patch'],
  [/^gemini/i, 'run_shell_command, read_file, replace and write_file'],
  [/^qwen/i, 'run_shell_command, read_file, edit and write_file'],
  [/^opencode/i, 'bash, read, edit, write and grep'],
  [/^cursor/i, 'its terminal, its edits and its searches'],
];

/** Warns about an agent that gets notifications only when it calls a wrapped tool. */
export function missed({ log, conversation, carriers, host }: Presence): Finding[] {
  const names = Object.keys(carriers);
  if (names.length === 0 || !names.every((name) => name.startsWith('gateway'))) return [];
  const tools = OWN_TOOLS.find(([pattern]) => pattern.test(host ?? ''))?.[1] ?? "the host's own tools";
  return [
    {
      what: 'reach',
      value: `${log}#${conversation} gets notifications only when it calls a wrapped tool: ${tools} carry no notifications, and no pause or critical notification stops these tools`,
      ok: true,
      advice: 'if an agent must be stopped at once, let the agent work through wrapped tools, or keep a person at its terminal',
    },
  ];
}
