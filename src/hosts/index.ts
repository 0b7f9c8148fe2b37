import { claude } from './claude/hooks.ts';
import { cline } from './cline/hooks.ts';
import { codex } from './codex/hooks.ts';
import { copilot } from './copilot/hooks.ts';
import { cursor } from './cursor/hooks.ts';
import { gemini } from './gemini/hooks.ts';
import { goose } from './goose/hooks.ts';
import { kimi } from './kimi/hooks.ts';
import { letta } from './letta/hooks.ts';
import { qwen } from './qwen/hooks.ts';
import type { Host, HookHost } from './host.ts';
import { opencode } from './opencode/host.ts';
import { pi } from './pi/host.ts';

export { attend, conversationOf, logOfHost, type Place } from './attend.ts';
export type { HookCall, HookHost, Host, Printed } from './host.ts';
export type { Attended, Caller, Moment } from './moment.ts';
export { wake, type Woken } from './wake.ts';

/** The hosts whose hooks `earpiece hook <host>` answers. */
export const HOOK_HOSTS: readonly HookHost[] = [claude, codex, gemini, qwen, cursor, copilot, cline, goose, letta, kimi];

export const HOOK_HOST_NAMES = HOOK_HOSTS.map(({ name }) => name);

export { noteWork } from './claude/working.ts';
export { forgetMarks, noteServer, serverLives } from './quiet-mark.ts';
export { stateIn, TERMINAL_VARIABLE } from './terminal-state.ts';

/** The hosts with plugins for `earpiece bridge <host>`. */
export const PLUGIN_HOSTS: readonly Host[] = [opencode, pi];

/** Whether Earpiece wakes an idle agent of this host through its hooks or its plugin. */
export const isWoken = (host: Host | HookHost): boolean =>
  !('events' in host) || host.waker !== undefined || Object.values(host.events).some(({ waits }) => waits);

export { isWaitedFor, waitFor } from './waiter.ts';
export { NUDGE, wakesOf } from './wakes.ts';
