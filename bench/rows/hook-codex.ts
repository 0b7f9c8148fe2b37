import { hookRow } from '../hook-row.ts';

export const row = hookRow('hook-codex', 'codex', { agent: 'codex', event: 'PreToolUse' });
