/** Makes the subjects of the two streams of a store. */
import { createHash } from 'node:crypto';
import { type LogKey, splitLog } from '../../core/address.ts';

/**
 * The maximum length of an encoded text, in characters. A longer text is replaced by a digest, because a subject must fit into
 * one line of the protocol.
 */
const LONGEST = 120;

/** Makes a token from any text. Different texts get different tokens. */
export function token(text: string): string {
  if (/^[A-Za-z0-9_-]{1,120}$/u.test(text)) return text;
  // The text is written as JSON, because it may contain half of a surrogate pair.
  const bytes = Buffer.from(JSON.stringify(text));
  const encoded = bytes.toString('base64url');
  return encoded.length > LONGEST ? `~${createHash('sha256').update(bytes).digest('base64url')}` : `=${encoded}`;
}

export const logTokens = (log: LogKey): string => {
  const { project, agent } = splitLog(log);
  return `${token(project)}.${token(agent)}`;
};

/** The subjects of one log. `all` is a pattern that matches the other subjects. */
export type LogSubjects = {
  readonly all: string;
  /**
   * The subject of decided appends. A writer settles such an append first, and the server stores it only if no other one came
   * first.
   */
  readonly decided: string;
  /** The subject of a single notification, by its id. */
  readonly queued: (id: string) => string;
  /** The subject of the n-th further record of a decided append. */
  readonly rest: (first: number, n: number) => string;
};

export function logSubjects(root: string, log: LogKey): LogSubjects {
  const of = `${root}.log.${logTokens(log)}`;
  return {
    all: `${of}.>`,
    decided: `${of}.a`,
    queued: (id) => `${of}.q.${token(id)}`,
    rest: (first, n) => `${of}.c.${first}.${n}`,
  };
}

/** Returns the pattern for the subjects of one project, or of all projects. */
export const projectSubjects = (root: string, project: string | undefined): string =>
  project === undefined ? `${root}.log.>` : `${root}.log.${token(project)}.>`;
