import type { Bug } from './roles.ts';

/** The problem that the checker reports for each deliberate fault. */
export const FOUND: Readonly<Record<Bug, RegExp>> = {
  ack_before_commit: /was acknowledged and is lost$/u,
  close_without_condition: /carried \d+ times in the transcripts that our workers saw$/u,
  forget_release: /the lease of a dead process was never released$/u,
  unmarked_repeat: /showed \S+ again in \S+ without a flag$/u,
  read_past: /the reader missed record \d+ of /u,
};
