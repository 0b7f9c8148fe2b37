/**
 * Reads Qwen Code's transcript of a session, `projects/<folder>/chats/<session>.jsonl`. Measured with 0.24.4: a hook's context is
 * in the entry of the prompt or of the result. Only `<` and `>` are escaped, and not `&`.
 */
import { dirname, join } from 'node:path';
import { transcriptOf } from '../transcript.ts';

const GIVEN: ReadonlySet<unknown> = new Set(['user', 'tool_result']);

export const transcript = transcriptOf({
  asKept: (text) => text.replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
  isGiven: ({ type }) => GIVEN.has(type),
  ofSession: (file, session) => join(dirname(file), `${session}.jsonl`),
});
