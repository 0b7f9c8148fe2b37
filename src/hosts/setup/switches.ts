/**
 * Finds the settings that make an agent ignore an installation: hooks, plugins and servers that are switched off, and other
 * servers with Earpiece's name. The project and the administrator of the machine can also make such settings. So this code checks
 * the settings files and variables of the user, the project and the machine, in the agent's order of precedence.
 */
import type { Disabled, Place } from './setup.ts';
import { claude } from './switches-claude.ts';
import { codex } from './switches-codex.ts';
import { gemini, qwen } from './switches-gemini.ts';
import { opencode, pi } from './switches-plugins.ts';

const SWITCHES: Readonly<Record<string, (user: Place, project: Place) => readonly Disabled[]>> = {
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  pi,
};

/** Returns the settings that make this host ignore Earpiece in this project. */
export function switchedOff(host: string, place: Place): readonly Disabled[] {
  const disabled = SWITCHES[host]?.({ ...place, scope: 'user' }, { ...place, scope: 'project' }) ?? [];
  // If the project is the home folder, both scopes have the same files, so each finding is listed once.
  return [...new Map(disabled.map((each) => [each.why, each])).values()];
}
