/**
 * Policy belongs to the conversation's project, not to the folder of whichever process asks. So each process notes where
 * its project's configuration is, and others that are asked about that project find it there.
 */
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Policy } from '../core/policy.ts';
import type { Config } from './load.ts';
import { projectPlace, stateFolder, userConfigFile, type Surroundings } from './places.ts';
import type { Problem } from './problems.ts';
import { readState, writeState } from './state-file.ts';
import { stateOf, watchConfig, type ConfigWatch, type WatchOptions } from './watch.ts';

/** Cheap enough to be asked at each contact point. */
export type PolicySource = { readonly policy: (project: string) => Policy };

export const projectsFile = (at: Surroundings): string => join(stateFolder(at), 'projects.json');

/**
 * The own folder's policy for the own project; for another one that of the first folder that was seen to be it and still
 * is there; for one that nobody has seen, what the user's file says. Variables and flags of this process count for all.
 */
/** `remember: false` leaves no note of where this project is: for programs whose log nobody else reads. */
export function policySource(
  options: WatchOptions & { readonly remember?: boolean },
): PolicySource & { readonly own: ConfigWatch; readonly rootOf: (project: string) => string | undefined } {
  const at: Surroundings = { env: options.env, home: options.home };
  const own = watchConfig(options);
  const noted = notedProjects(at);
  const others = new Map<string, ConfigWatch>();
  const watched = (folder: string | undefined): ConfigWatch => {
    const known = others.get(folder ?? '');
    if (known) return known;
    const where = folder === undefined ? { withoutProject: true as const } : { cwd: folder };
    // The rest was reported for the own project already.
    const onProblem: WatchOptions['onProblem'] = (problems) => {
      const news = problems.filter(({ file }) => file !== undefined && file !== userConfigFile(at));
      if (news.length > 0) options.onProblem?.(news);
    };
    const watch = watchConfig({ ...options, ...where, onProblem });
    others.set(folder ?? '', watch);
    return watch;
  };
  let noticed: string | undefined;
  const folderOf = (project: string): string | undefined =>
    noted().find(([name, folder]) => name === project && isFolder(folder))?.[1];
  return {
    own,
    /** Where a project's files are; undefined for one that nobody has seen. */
    rootOf: (project) => {
      const config = own.current();
      if (config.project === project) return config.projectRoot;
      const folder = folderOf(project);
      return folder === undefined ? undefined : projectPlace(folder).root;
    },
    policy: (project) => {
      const config = own.current();
      if (noticed !== config.project && options.remember !== false) {
        noticed = config.project;
        rememberProject(config, at, options.onProblem);
      }
      if (config.project === project) return config.policy;
      return watched(folderOf(project)).current().policy;
    },
  };
}

/** Notes where a project's configuration is, and forgets folders that are gone. A state folder that cannot be written to is reported and nothing more. */
export function rememberProject(config: Config, at: Surroundings, onProblem?: (problems: readonly Problem[]) => void): void {
  const file = projectsFile(at);
  const folder = homeOfProject(config);
  const known = readState(file, isProjects) ?? { version: 1, projects: [] };
  if (known.projects.some(([name, other]) => name === config.project && other === folder)) return;
  try {
    writeState(file, {
      version: 1,
      projects: [...known.projects.filter(([, other]) => isFolder(other)), [config.project, folder]],
    } satisfies Projects);
  } catch (error) {
    onProblem?.([{ message: (error as Error).message }]);
  }
}

/** Where a process has to stand to find the same configuration. */
function homeOfProject(config: Config): string {
  const file = config.files.find((each) => each.scope === 'project')?.file;
  return file === undefined ? config.projectRoot : dirname(file);
}

/** In the order in which they were seen; two folders may have one name. */
type Projects = { readonly version: 1; readonly projects: readonly (readonly [project: string, folder: string])[] };

const isProjects = (value: unknown): value is Projects =>
  typeof value === 'object' &&
  value !== null &&
  'projects' in value &&
  Array.isArray(value.projects) &&
  value.projects.every((pair) => Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'string');

/** Reads the file again only when it has changed. */
function notedProjects(at: Surroundings): () => Projects['projects'] {
  const file = projectsFile(at);
  let state = '';
  let projects: Projects['projects'] = [];
  return () => {
    const now = stateOf([file]);
    if (now !== state) [state, projects] = [now, readState(file, isProjects)?.projects ?? []];
    return projects;
  };
}

const isFolder = (folder: string): boolean => {
  try {
    return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
};
