/**
 * Reads Claude Code's file of a session, `projects/<folder>/<session>.jsonl`. Measured with 2.1.330: the file has a hook's
 * context, a refusal and a wake at most 50 ms after the request that contains them; until then, a waiting wake is a
 * `queue-operation`.
 */
import { dirname, join } from 'node:path';
import { transcriptOf } from '../transcript.ts';

/** Entries that the model does not read, or that it wrote itself. */
const NOT_GIVEN: ReadonlySet<unknown> = new Set(['assistant', 'queue-operation', 'summary', 'file-history-snapshot']);

export const transcript = transcriptOf({
  isGiven: ({ type }) => !NOT_GIVEN.has(type),
  ofSession: (file, session) => join(dirname(file), `${session}.jsonl`),
});
