/**
 * Starts the server that `earpiece gateway -- <command>` wraps. The server starts before the gateway's code is loaded, because
 * the client waits for both. So this file must import as few modules of Earpiece as possible.
 */
import { Spawned } from '../mcp/spawned.ts';

/** The options of a simple command line, each with a value. With any other option, the server does not start early. */
const VALUES = new Set(['--name', '--as', '--purpose', '--view', '--profile', '--db']);

let started: Spawned | undefined;

/** Starts the wrapped server, but only if the command line is simple. `words` are the words after `gateway`. */
export function startEarly(words: readonly string[]): void {
  const at = words.indexOf('--');
  const [command, ...args] = at === -1 ? [] : words.slice(at + 1);
  if (command === undefined || !onlyValues(words.slice(0, at))) return;
  try {
    started = new Spawned({ command, args });
  } catch {
    // The gateway starts the server again later, and reports the error.
  }
}

function onlyValues(options: readonly string[]): boolean {
  for (let at = 0; at < options.length; at++) {
    const [name = '', value] = (options[at] ?? '').split('=', 2);
    if (!VALUES.has(name)) return false;
    if (value === undefined && ++at === options.length) return false;
  }
  return true;
}

/**
 * Returns the MCP server that was started before the gateway's code was loaded; undefined if there is none. The caller must end
 * the server.
 */
export function takeEarly(): Spawned | undefined {
  const taken = started;
  started = undefined;
  return taken;
}
