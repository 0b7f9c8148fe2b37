import { claude } from './claude/hooks.ts';
import type { HookHost } from './host.ts';

export { attend, conversationOf, logOfHost, type Place } from './attend.ts';
export { SILENT, type Heard, type HookEvent, type HookHost, type Printed } from './host.ts';
export type { Answer, Attended, Caller, Moment } from './moment.ts';
export { passesGate } from './own-tools.ts';

/** The hosts whose hooks `earpiece hook <host>` answers. */
export const HOOK_HOSTS: readonly HookHost[] = [claude];

export const HOOK_HOST_NAMES = HOOK_HOSTS.map(({ name }) => name);

export { noteState, stateIn, TERMINAL_VARIABLE, type TerminalState } from './terminal-state.ts';
