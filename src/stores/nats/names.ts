/** Subjects of the two streams of a store. */
import { createHash } from 'node:crypto';
import { type LogKey, splitLog } from '../../core/address.ts';

/** A longer token is a digest: a subject must fit into one line of the protocol. */
const LONGEST = 120;

/** A token for any text. Different texts have different tokens. */
export function token(text: string): string {
  if (/^[A-Za-z0-9_-]{1,120}$/u.test(text)) return text;
  // JSON, because a text may hold half of a surrogate pair.
  const bytes = Buffer.from(JSON.stringify(text));
  const encoded = bytes.toString('base64url');
  return encoded.length > LONGEST ? `~${createHash('sha256').update(bytes).digest('base64url')}` : `=${encoded}`;
}

export const logTokens = (log: LogKey): string => {
  const { project, agent } = splitLog(log);
  return `${token(project)}.${token(agent)}`;
};

/** The subjects of one log. `id` and `rest` begin subjects. */
export type LogSubjects = {
  readonly all: string;
  /** Appends that are decided here, one after the other. */
  readonly decided: string;
  /** Single notifications, each on the subject of its id. */
  readonly queued: (id: string) => string;
  /** The further records of a decided append. */
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

/** The subjects of one project, or of all projects. */
export const projectSubjects = (root: string, project: string | undefined): string =>
  project === undefined ? `${root}.log.>` : `${root}.log.${token(project)}.>`;
