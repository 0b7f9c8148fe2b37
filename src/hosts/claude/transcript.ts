/**
 * Reads Claude Code's transcript of a session, `projects/<folder>/<session>.jsonl`. Measured with 2.1.330: a hook's context, a
 * refusal and a wake are in the file at most 50 ms after the request that contains them. Before the request, a wake is a
 * `queue-operation` in the file.
 */
import { dirname, join } from 'node:path';
import { transcriptOf } from '../transcript.ts';

/** The types of entries that the model does not read, or that it wrote itself. */
const NOT_GIVEN: ReadonlySet<unknown> = new Set(['assistant', 'queue-operation', 'summary', 'file-history-snapshot']);

export const transcript = transcriptOf({
  isGiven: ({ type }) => !NOT_GIVEN.has(type),
  ofSession: (file, session) => join(dirname(file), `${session}.jsonl`),
});
