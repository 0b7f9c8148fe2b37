import fs from 'node:fs';
import path from 'node:path';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { NativeCall } from '../../model/script.ts';

export type McpServer =
  | { readonly command: string; readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> }
  | { readonly url: string; readonly headers?: Readonly<Record<string, string>> };

export interface Hooks {
  /** The command for each event, by neutral name or by the client's event name. */
  readonly commands?: Readonly<Record<string, string>>;
  /** Plugins of opencode (`.js`) and extensions of pi (`.ts`): source by file name. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The input of a run. */
export interface Session {
  readonly home: string;
  /** The model's base URL. */
  readonly url: string;
  readonly prompt: string;
  /** Whether to resume the newest session of the home. */
  readonly resume: boolean;
  readonly mcpServers: Readonly<Record<string, McpServer>>;
  /** Whether Claude Code also uses the servers of its settings and plugins. */
  readonly ownServers?: boolean;
  readonly hooks: Hooks;
  /** Settings that are merged into the client's own settings file, or passed to Codex as `-c key=value`. */
  readonly settings: JsonObject;
}

export interface Launch {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The names that one real CLI uses, and its command for a single turn without a terminal. */
export interface Client {
  /** The model's name for an MCP server's tool. */
  tool(server: string, tool: string): NativeCall;
  /** The call of the built-in shell tool. */
  shell(command: string): NativeCall;
  /** Writes the client's settings inside `home` and nowhere else. */
  prepare(session: Session): Launch;
}

export function write(home: string, file: string, content: string | JsonObject): string {
  const target = path.join(home, file);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, typeof content === 'string' ? content : JSON.stringify(content, null, 1));
  return target;
}

const claudeEvents = {
  afterTool: 'PostToolUse',
  beforeTool: 'PreToolUse',
  prompt: 'UserPromptSubmit',
  stop: 'Stop',
  start: 'SessionStart',
};

/** Returns hook settings in the form of Claude Code, which other clients copied with other event names. */
export function commandHooks(hooks: Hooks, matcher: string, events: Readonly<Record<string, string>> = claudeEvents): JsonObject {
  return Object.fromEntries(
    Object.entries(hooks.commands ?? {}).map(([name, command]) => {
      const event = events[name] ?? name;
      const rule: JsonObject = { hooks: [{ type: 'command', command }] };
      return [event, [event.includes('Tool') ? { matcher, ...rule } : rule]];
    }),
  );
}

export function toml(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(toml).join(', ')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, item]) => `${JSON.stringify(key)} = ${toml(item)}`)
    .join(', ')} }`;
}
