import type { ClientName } from '../pins.ts';
import { claude } from './claude.ts';
import type { Client } from './client.ts';
import { codex } from './codex.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

export const clients: Readonly<Record<ClientName, Client>> = { claude, codex, gemini, opencode, pi, qwen };
