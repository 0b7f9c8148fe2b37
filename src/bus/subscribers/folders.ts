/**
 * Finds subscribers in three folders: the package's, the user's and the project's. A file in a later folder replaces the file
 * with the same id in an earlier folder. A new, changed or removed file of the user or the project takes effect at the next
 * event.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatProblem } from '../../config/problems.ts';
import { matchesType } from '../matching.ts';
import type { Subscriber, SubscriberProblem, SubscriberSet, SubscriberSource } from '../subscriber.ts';
import { Folder, type FolderState } from './folder.ts';

export type SubscriberFoldersOptions = {
  /**
   * The package's folder, see `shippedFolder`. The folder is read once, so a running process keeps the shipped subscribers that
   * it read first.
   */
  readonly shipped: string;
  readonly user?: string;
  /** Returns the project's root folder. Undefined if the folder is unknown. */
  readonly projectRoot?: (project: string) => string | undefined;
  /**
   * Decides which of a project's own subscribers may be used. Default: all. The value of `state` changes when the decision may
   * change.
   */
  readonly projectTrust?: ProjectTrust;
  /** Gets the new problems, once for each state of a folder. Exceptions of this function are ignored. */
  readonly onProblem?: (problems: readonly SubscriberProblem[]) => void;
  /** The shortest time between two checks of a folder. Default 10 ms. */
  readonly checkEveryMs?: number;
};

export type ProjectTrust = { readonly state: () => string; readonly allows: (subscriber: Subscriber) => boolean };

/** Formats a problem with its file, line and column, and with "warning" for a warning. */
export const formatSubscriberProblem = ({ severity, message, ...place }: SubscriberProblem): string =>
  formatProblem({ ...place, message: severity === 'warning' ? `warning: ${message}` : message });

export const projectFolder = (root: string): string => join(root, '.earpiece', 'subscribers');

const MAX_PROJECTS = 1_000;

export function subscriberFolders(options: SubscriberFoldersOptions): SubscriberSource {
  const { shipped, user, projectRoot, projectTrust, checkEveryMs = 10 } = options;
  const ours = new Folder({ path: shipped, name: 'shipped', optional: false, checkEveryMs: Number.POSITIVE_INFINITY });
  const theirs = user === undefined ? undefined : new Folder({ path: user, name: 'user', optional: true, checkEveryMs });
  const roots = new Map<string, Folder>();
  const projects = new Map<string, Project>();
  const reporter = new Reporter(options.onProblem);

  const folderOf = (project: string): Folder | undefined => {
    const root = quiet(() => projectRoot?.(project));
    if (root === undefined) return undefined;
    const path = projectFolder(root);
    let folder = roots.get(path);
    if (folder === undefined) roots.set(path, (folder = new Folder({ path, name: 'project', optional: true, checkEveryMs })));
    return folder;
  };

  return {
    of(project) {
      const now = performance.now();
      let known = projects.get(project);
      if (known === undefined || now >= known.nextLook) {
        const folder = folderOf(project);
        if (known === undefined) {
          if (projects.size >= MAX_PROJECTS) forget(projects, roots);
          known = { folder, nextLook: 0, trust: '', states: [], set: { subscribers: [], problems: [] } };
          projects.set(project, known);
        }
        known.folder = folder;
        known.nextLook = now + checkEveryMs;
        const trust = projectTrust?.state() ?? '';
        if (trust !== known.trust) known.states = [];
        known.trust = trust;
      }
      const states = [ours.check(now), theirs?.check(now), known.folder?.check(now)];
      if (known.states.length === states.length && states.every((state, i) => state === known.states[i])) return known.set;
      known.states = states;
      const { set, about } = merge(
        states.filter((state) => state !== undefined),
        projectTrust,
      );
      known.set = set;
      reporter.report(shipped, states[0]?.problems);
      reporter.report(user ?? '', states[1]?.problems);
      reporter.report(`of ${project}`, [...(states[2]?.problems ?? []), ...about]);
      return set;
    },
  };
}

const NOT_TRUSTED = 'has no effect until you trust it; read the file and its template, then run: earpiece trust';

type Project = {
  folder: Folder | undefined;
  nextLook: number;
  trust: string;
  states: readonly (FolderState | undefined)[];
  set: SubscriberSet;
};

/**
 * Drops the oldest project. Other programs choose the names of projects, so the number of cached projects is limited. A dropped
 * project is read again at its next use.
 */
function forget(projects: Map<string, Project>, roots: Map<string, Folder>): void {
  projects.delete(projects.keys().next().value ?? '');
  if (roots.size > MAX_PROJECTS) roots.delete(roots.keys().next().value ?? '');
}

/**
 * Merges the subscribers of all folders. A later folder replaces subscribers of an earlier folder. `about`: the warnings that
 * depend on the folder of a file, or on earlier folders.
 */
function merge(
  states: readonly FolderState[],
  trust: ProjectTrust | undefined,
): { set: SubscriberSet; about: readonly SubscriberProblem[] } {
  const byId = new Map<string, Subscriber>();
  const held: Subscriber[] = [];
  const about: SubscriberProblem[] = [];
  for (const { files } of states)
    for (const each of files) {
      const { subscriber, file, at } = each;
      if (subscriber.from.folder === 'project' && trust?.allows(subscriber) === false) {
        held.push(subscriber);
        about.push({ file, ...at.id, severity: 'warning', message: NOT_TRUSTED });
        continue;
      }
      const below = byId.get(subscriber.id);
      const warn = (place: typeof at.id, message: string): void =>
        void about.push({ file, ...place, severity: 'warning', message });
      let counts = subscriber;
      if (below?.output.core) {
        if (each.core === false)
          warn(
            at.core,
            `output.core is false, but ${subscriber.id} is a core subscriber (${below.from.file}) and cannot become a normal subscriber; remove core`,
          );
        const left = below.events.types.filter((type) => !subscriber.events.types.some((own) => matchesType(own, type)));
        if (left.length > 0)
          warn(
            at.types,
            `events.types lacks ${left.join(', ')}, which the core subscriber ${below.from.file} listens to; add ${left.length === 1 ? 'this type' : 'these types'}`,
          );
        counts = withCore(subscriber, true);
      } else if (subscriber.output.core && subscriber.from.folder === 'project') {
        warn(at.core, "output.core has no effect in a project's file, so the subscriber can still be disabled; remove core");
        counts = withCore(subscriber, false);
      }
      byId.set(subscriber.id, counts);
    }
  return {
    set: { subscribers: [...byId.values()], held, problems: [...states.flatMap(({ problems }) => problems), ...about] },
    about,
  };
}

/** Returns the same object for the same input, because the bus makes a new channel for a subscriber whose object changes. */
function withCore(subscriber: Subscriber, core: boolean): Subscriber {
  if (subscriber.output.core === core) return subscriber;
  let other = OTHERWISE.get(subscriber);
  if (other === undefined) OTHERWISE.set(subscriber, (other = { ...subscriber, output: { ...subscriber.output, core } }));
  return other;
}
const OTHERWISE = new WeakMap<Subscriber, Subscriber>();

/** Reports the new problems of each folder, compared with its previous state. */
class Reporter {
  readonly #onProblem: SubscriberFoldersOptions['onProblem'];
  readonly #reported = new Map<string, ReadonlySet<string>>();

  constructor(onProblem: SubscriberFoldersOptions['onProblem']) {
    this.#onProblem = onProblem;
  }

  report(place: string, problems: readonly SubscriberProblem[] = []): void {
    const reported = this.#reported.get(place);
    const now = new Set(problems.map((problem) => JSON.stringify(problem)));
    if (now.size > 0) this.#reported.set(place, now);
    else this.#reported.delete(place);
    const news = problems.filter((problem) => reported?.has(JSON.stringify(problem)) !== true);
    if (news.length > 0) quiet(() => this.#onProblem?.(news));
  }
}

function quiet<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // An event must not be lost because its project cannot be found.
    return undefined;
  }
}

/**
 * Returns the package's folder `subscribers`. This folder is next to `src` and `dist`. The search begins at this file, which may
 * be a nested chunk, and goes up.
 */
export function shippedFolder(from: string = dirname(fileURLToPath(import.meta.url))): string {
  for (let folder = from; ; folder = dirname(folder)) {
    const here = join(folder, 'subscribers');
    if (existsSync(join(folder, 'package.json')) || dirname(folder) === folder) return here;
  }
}
