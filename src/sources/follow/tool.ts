/**
 * Answers calls of the tool `follow`, with which an agent follows things. Unlike `earpiece follow`, the tool follows only things
 * that the agent could read anyway.
 */
import { logOf, parseAddress, type Address } from '../../core/address.ts';
import { defined, withoutNulls } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Emitter } from '../../core/event.ts';
import type { Inbox } from '../../inbox/index.ts';
import { checkKnown } from '../../talk/index.ts';
import { globProblem, withSlash } from '../files/index.ts';
import { CannotLook } from './follower.ts';
import { add, following, groupOf, isFollowed, stateOf, type What } from './list.ts';
import { patternOf } from './log.ts';
import { nameOf } from './look-after.ts';
import { permittedLog, permittedUrl } from './permitted.ts';
import { isKnownBranch } from './pr/branch.ts';
import { findPr } from './pr/pr.ts';
import { FOLLOW_TOOL } from './tool-shape.ts';
import { checkRepository } from './repository.ts';
import { unfollow } from './unfollow.ts';

export type FollowCall = {
  readonly args: unknown;
  /** The agent's log, and the folder in which the agent works. */
  readonly log: string;
  readonly folder: string;
  readonly project: string;
  readonly inbox: Inbox;
  readonly emitter: Emitter;
  /** Starts the process that runs the followers. */
  readonly start: () => Promise<unknown>;
};

/** Answers a call with JSON. If the agent made a mistake, throws an error that names the mistake. */
export async function answerFollow(call: FollowCall): Promise<object> {
  const { stop, ...asked } = argumentsIn(call.args);
  const { inbox, project, log } = call;
  if (stop !== undefined && Object.keys(asked).length > 0)
    throw new EarpieceError('bad_argument', `stop ends a follower by its id; leave ${Object.keys(asked).join(' and ')} out`);
  if (stop !== undefined) return ended(call, stop);
  if (Object.keys(asked).length === 0) return { success: true, following: await listOf(call) };
  const { followed, known } = await add(inbox.store, project, {
    uid: inbox.ids.make('f'),
    what: await whatOf(call, asked),
    to: log,
    by: log,
  });
  await call.start();
  return {
    success: true,
    id: followed.id,
    follows: nameOf(followed),
    message: known ? 'You already follow this; a new check runs now.' : 'Changes arrive as notifications.',
  };
}

async function listOf({ inbox, project }: FollowCall): Promise<readonly object[]> {
  const list = await following(inbox.store, project);
  return Promise.all(
    list.map(async (followed) => {
      const { summary, trouble } = await stateOf(inbox.store, groupOf(followed));
      const says = trouble?.says ?? summary;
      return { id: followed.id, follows: nameOf(followed), for: followed.to, ...defined({ saw: says }) };
    }),
  );
}

async function ended({ inbox, project, log, emitter }: FollowCall, id: string): Promise<object> {
  const found = (await following(inbox.store, project)).find((each) => each.id === id);
  if (found === undefined)
    throw new EarpieceError(
      'bad_argument',
      `stop ${JSON.stringify(id.slice(0, 40))} is not the id of a follower; follow without arguments lists the ids`,
    );
  if (found.by !== log)
    throw new EarpieceError(
      'not_trusted',
      `stop ${id} is a follower that you did not add; a person can end it: earpiece unfollow ${id}`,
    );
  await unfollow({ store: inbox.store, project, emitter }, id);
  return { success: true, id, message: 'The follower has ended.' };
}

type Asked = Readonly<Partial<Record<'pull_request' | 'log' | 'match' | 'url' | 'files' | 'agent' | 'stop', string>>> & {
  readonly git?: true;
};

function argumentsIn(args: unknown): Asked {
  const known = Object.keys(FOLLOW_TOOL.inputSchema.properties);
  const given = withoutNulls((args ?? {}) as Readonly<Record<string, unknown>>);
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key))
      throw new EarpieceError(
        'bad_argument',
        `follow has no argument ${JSON.stringify(key.slice(0, 80))}; use ${known.join(', ')}`,
      );
    if (key === 'git') {
      if (value !== true)
        throw new EarpieceError('bad_argument', `git must be true, got ${shown(value)}; stop ends a follower by its id`);
    } else if (typeof value !== 'string' || value.trim() === '' || value.length > MAX_CHARS)
      throw new EarpieceError('bad_argument', `${key} must be a text of 1 to ${MAX_CHARS} characters, got ${gotText(value)}`);
  }
  return given;
}

const MAX_CHARS = 1_000;

const shown = (value: unknown): string => (JSON.stringify(value) ?? typeof value).slice(0, 80);

const gotText = (value: unknown): string =>
  typeof value === 'string' && value.length > MAX_CHARS ? `${value.length} characters` : shown(value);

async function whatOf(call: FollowCall, { pull_request: pr, log, match, url, files, git, agent }: Asked): Promise<What> {
  const { folder } = call;
  if ([pr, log, url, files, git, agent].filter((each) => each !== undefined).length !== 1)
    throw new EarpieceError('bad_argument', 'follow takes one of pull_request, log, url, files, git and agent at a time');
  if (match !== undefined && log === undefined)
    throw new EarpieceError('bad_argument', 'match works only with log; leave match out');
  if (pr !== undefined && pr !== 'current' && !(await isOfThisRepository(folder, pr)))
    throw new EarpieceError(
      'not_trusted',
      `pull_request ${JSON.stringify(pr.slice(0, 80))} is neither a number nor a known branch of this repository; a person can follow other repositories: earpiece follow pr <url>`,
    );
  if (pr !== undefined)
    return findPr(folder, pr === 'current' ? undefined : pr, {
      isFollowed: (what) => isFollowed(call.inbox.store, call.project, what),
    }).catch((error: unknown) => {
      if (!(error instanceof CannotLook)) throw error;
      throw new EarpieceError('not_found', `pull_request ${shown(pr)}: ${error.message}`);
    });
  if (log !== undefined) {
    if (match === undefined)
      throw new EarpieceError('bad_argument', 'log needs match, a regular expression for the lines, such as ERROR');
    patternOf(match, 'match');
    return { kind: 'log', file: permittedLog(folder, log), match };
  }
  if (files !== undefined) return { kind: 'files', folder, globs: [withSlash(folder, usable(files))] };
  if (git !== undefined) {
    await checkRepository(folder, 'git');
    return { kind: 'git', folder };
  }
  if (agent !== undefined) return { kind: 'agent', log: await otherAgent(call, agent), until: 'blocked' };
  return { kind: 'url', url: permittedUrl(url ?? '') };
}

/**
 * Whether a word names a pull request of the repository of this folder, or may name one because `git` does not answer. `gh` also
 * reads URLs and `owner/repo#12`, which may name other repositories.
 */
const isOfThisRepository = async (folder: string, word: string): Promise<boolean> =>
  /^#?\d+$/u.test(word) || (!/[:#]/u.test(word) && (await isKnownBranch(folder, word)) !== false);

function usable(glob: string): string {
  const problem = glob.startsWith('!') ? 'excludes files; name the files to follow' : globProblem(glob);
  if (problem === undefined) return glob;
  throw new EarpieceError('bad_argument', `files ${JSON.stringify(glob.slice(0, 200))} ${problem}`);
}

/** Returns the log of another agent of this project. */
async function otherAgent({ project, log: own, inbox }: FollowCall, name: string): Promise<string> {
  const address = addressOf(name.includes('/') ? name : `${project}/${name}`);
  if (address === undefined)
    throw new EarpieceError(
      'bad_address',
      `agent ${shown(name)} is not the name of an agent; write the agent's name, which list_agents shows`,
    );
  if (address.kind === 'project')
    throw new EarpieceError('bad_address', `agent ${shown(name)} is a whole project; name one agent`);
  if (address.project !== project)
    throw new EarpieceError(
      'not_trusted',
      `agent ${shown(name)} belongs to another project; you can follow only agents of ${project}`,
    );
  const log = logOf(address);
  if (log === own) throw new EarpieceError('bad_argument', `agent ${shown(name)} is you; list_agents shows the other agents`);
  await checkKnown(inbox, log, project, { shown: shown(name) });
  return log;
}

function addressOf(text: string): Address | undefined {
  try {
    return parseAddress(text);
  } catch {
    return undefined;
  }
}
