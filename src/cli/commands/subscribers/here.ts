/** Finds the subscribers that apply in the working folder, and the files that a user names. */
import { join } from 'node:path';
import {
  formatSubscriberProblem,
  projectFolder,
  readSubscriber,
  shippedFolder,
  subscriberFolders,
  subscriberTrust,
  type Subscriber,
  type SubscriberFile,
  type SubscriberProblem,
  type SubscriberSource,
  type Toggled,
  type ToggleScope,
} from '../../../bus/index.ts';
import { readConfig, userSubscribersFolder } from '../../../config/index.ts';
import { didYouMean, EarpieceError } from '../../../core/errors.ts';
import { openLoadedInbox, type LoadedInbox } from '../../../loaded-inbox.ts';
import { checkNamed, readOnly, type GlobalOptions } from '../../context.ts';
import { complain, plain } from '../../terminal.ts';

/** Finds the folders that apply here. Their problems are not written to stderr, because the command itself reports them. */
export function here(): {
  readonly project: string;
  readonly paths: Readonly<Record<'shipped' | 'user' | 'project', string>>;
  readonly source: SubscriberSource;
} {
  const { config } = readConfig({ cwd: process.cwd(), env: process.env });
  const { project, projectRoot } = config;
  const paths = {
    shipped: shippedFolder(),
    user: userSubscribersFolder({ env: process.env }),
    project: projectFolder(projectRoot),
  };
  const source = subscriberFolders({
    ...paths,
    projectRoot: (name) => (name === project ? projectRoot : undefined),
    projectTrust: subscriberTrust({ env: process.env }),
  });
  return { project, paths, source };
}

/** Runs `work` with the open database and the subscribers of this folder. */
export async function withSubscribers<T>(
  options: GlobalOptions,
  work: (ear: LoadedInbox) => Promise<T>,
  { reads = false }: { readonly reads?: boolean } = {},
): Promise<T> {
  checkNamed(options);
  await using ear = await openLoadedInbox({
    ...(options.db === undefined ? {} : { flags: { db: options.db } }),
    ...(reads ? readOnly(options) : {}),
    subscribers: here().source,
    onProblem: complain,
  });
  return await work(ear);
}

export function fileAt(path: string): SubscriberFile {
  const file = readSubscriber(path);
  if (file === undefined)
    throw new EarpieceError('not_found', `${path} does not exist; name the file of a subscriber, or a folder of subscribers`);
  return file;
}

/** Finds a subscriber by the path of its file, or by its id in this project. */
export function named(which: string): Pick<SubscriberFile, 'subscriber' | 'problems'> {
  return /[./\\]/.test(which) ? fileAt(which) : { subscriber: counting(which), problems: [] };
}

/** Finds the subscriber with this id among the subscribers that apply here. */
export function counting(which: string): Subscriber {
  const { project, source } = here();
  const { subscribers: all } = source.of(project);
  const subscriber = all.find(({ id }) => id === which);
  if (subscriber !== undefined) return subscriber;
  checkCopied(which, all);
  const near = didYouMean(
    which,
    [...all, ...others()].map(({ id }) => id),
  );
  throw new EarpieceError(
    'not_found',
    `there is no subscriber ${JSON.stringify(which.slice(0, 80))}; ${near === undefined ? 'to list the ids: earpiece subscribers list' : `did you mean ${near}?`}`,
  );
}

/** Lists the shipped subscribers that take effect only after the user copies them. */
export const others = (): readonly Subscriber[] =>
  subscriberFolders({ shipped: join(shippedFolder(), 'more') }).of('').subscribers;

/**
 * Finds the shipped subscriber with this id that takes effect only as a copy. Returns undefined if the project has a subscriber
 * with the id.
 */
export function moreOf(which: string): Subscriber | undefined {
  const { project, source } = here();
  if (source.of(project).subscribers.some(({ id }) => id === which)) return undefined;
  return others().find(({ id }) => id === which);
}

/** Throws `not_found` for the id of a shipped subscriber that takes effect only as a copy, if no subscriber here has the id. */
export function checkCopied(which: string, counting: readonly Subscriber[]): void {
  if (counting.some(({ id }) => id === which) || others().every(({ id }) => id !== which)) return;
  throw new EarpieceError(
    'not_found',
    `${which} takes effect only as a copy; to make the copy: earpiece subscribers copy ${which}`,
  );
}

/** Lists the scopes in which a subscriber is switched off. */
export const offFor = (id: string, off: Toggled): readonly ToggleScope['kind'][] =>
  (['user', 'project'] as const).filter((scope) => off[scope].includes(id));

export const problemLine = (problem: SubscriberProblem): string => plain(formatSubscriberProblem(problem));
