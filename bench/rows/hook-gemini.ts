import { hookRow } from '../hook-row.ts';

export const row = hookRow('hook-gemini', 'gemini', { agent: 'gemini-cli', event: 'BeforeTool' });
