import { hookRow } from '../hook-row.ts';

export const row = hookRow('hook-qwen', 'qwen', { agent: 'qwen-code', event: 'PreToolUse' });
