/**
 * Claude Code's file of a session, `projects/<folder>/<session>.jsonl`. Measured with 2.1.330: a hook's context, a refusal and a
 * wake are in it at most 50 ms after the request that holds them; a wake that waits is a `queue-operation` until then.
 */
import { dirname, join } from 'node:path';
import { transcriptOf } from '../transcript.ts';

/** Entries that are not given to the model, or come from it. */
const NOT_GIVEN: ReadonlySet<unknown> = new Set(['assistant', 'queue-operation', 'summary', 'file-history-snapshot']);

export const transcript = transcriptOf({
  isGiven: ({ type }) => !NOT_GIVEN.has(type),
  ofSession: (file, session) => join(dirname(file), `${session}.jsonl`),
});
