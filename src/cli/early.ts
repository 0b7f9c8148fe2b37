/**
 * Starts the server that `earpiece gateway -- <command>` wraps before the gateway's own code is loaded, because a client waits
 * for both. This file must not import other modules of Earpiece.
 */
import { Spawned } from '../mcp/spawned.ts';

/** With only these options, the gateway wraps one server over stdio. Each takes a value. */
const VALUES = new Set(['--name', '--as', '--purpose', '--view', '--profile', '--db']);

let started: Spawned | undefined;

/** `words`: the words after `gateway` on the command line. Starts nothing unless the command line is simple. */
export function startEarly(words: readonly string[]): void {
  const at = words.indexOf('--');
  const [command, ...args] = at === -1 ? [] : words.slice(at + 1);
  if (command === undefined || !onlyValues(words.slice(0, at))) return;
  try {
    started = new Spawned({ command, args });
  } catch {
    // The gateway tries again, and reports the reason.
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

/** The started server. The caller must end it. */
export function takeEarly(): Spawned | undefined {
  const taken = started;
  started = undefined;
  return taken;
}
