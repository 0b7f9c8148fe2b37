import { hookRow } from '../hook-row.ts';

export const row = hookRow('hook', 'claude', { agent: 'claude-code', event: 'PreToolUse' });
