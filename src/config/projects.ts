/**
 * Finds the policy of a conversation by its project, and not by the working folder of the process that reads the policy. Each
 * process stores the place of its project's configuration for other processes.
 */
import { dirname } from 'node:path';
import type { FileScope } from '../core/cause.ts';
import type { Policy } from '../core/policy.ts';
import { deciderOf } from './explain.ts';
import { formatSource } from './layers.ts';
import type { Config } from './load.ts';
import { projectPlace, userConfigFile, type Surroundings } from './places.ts';
import type { Problem } from './problems.ts';
import { claimName, folderOf, holderOf, projectsFile, readEntries, takeName, withRoots, type Entry } from './registry.ts';
import { stateOf, watchConfig, type ConfigWatch, type WatchOptions } from './watch.ts';

/** Returns policies. The functions are fast enough for a call at each contact point. */
export type PolicySource = {
  readonly policy: (project: string) => Policy;
  /**
   * Returns the place of a setting's value, for people: `/home/me/shop/earpiece.toml:3`, a variable or a flag. Undefined means
   * the default. `scope`: the kind of the file.
   */
  readonly decidedBy: (project: string, key: string) => { readonly file: string; readonly scope?: FileScope } | undefined;
};

/**
 * Makes the source of the policies of all projects. This process's project has the policy of the working folder. Another project
 * has the policy of its stored folder, or of its root if that folder is gone. An unknown project has the policy of the user's
 * file. Variables and flags of this process apply to all projects. `remembered` is a name that the caller has already claimed.
 * With `remember: false`, the place of this project is not stored, for programs with a private store.
 */
export function policySource(
  options: WatchOptions & { readonly remember?: boolean; readonly remembered?: string },
): PolicySource & { readonly own: ConfigWatch; readonly rootOf: (project: string) => string | undefined } {
  const at: Surroundings = { env: options.env, home: options.home };
  const own = watchConfig(options);
  const noted = notedProjects(at);
  const others = new Map<string, ConfigWatch>();
  const watched = (folder: string | undefined): ConfigWatch => {
    const known = others.get(folder ?? '');
    if (known) return known;
    const where = folder === undefined ? { withoutProject: true as const } : { cwd: folder };
    // Problems of variables, flags and the user's file were already reported for this process's project.
    const onProblem: WatchOptions['onProblem'] = (problems) => {
      const news = problems.filter(({ file }) => file !== undefined && file !== userConfigFile(at));
      if (news.length > 0) options.onProblem?.(news);
    };
    const watch = watchConfig({ ...options, ...where, onProblem });
    others.set(folder ?? '', watch);
    return watch;
  };
  let noticed = options.remembered;
  // A variable or a flag may name the project of another root. In this case, the files of that root apply, and not the files of
  // the working folder.
  const isOwn = ({ project, root }: Config, asked: string): boolean =>
    project === asked && holderOf(noted(), asked, root)?.gone !== false;
  const configOf = (project: string): Config => {
    const config = own.current();
    return isOwn(config, project) ? config : watched(folderOf(noted(), project)).current();
  };
  return {
    own,
    /** Returns the root of a project's repository or folder; undefined for an unknown project. */
    rootOf: (project) => {
      const config = own.current();
      if (isOwn(config, project)) return config.projectRoot;
      const folder = folderOf(noted(), project);
      return folder === undefined ? undefined : projectPlace(folder).root;
    },
    policy: (project) => {
      const config = own.current();
      if (noticed !== config.project && options.remember !== false) {
        noticed = config.project;
        rememberProject(config, at, options.onProblem);
      }
      return configOf(project).policy;
    },
    decidedBy: (project, key) => {
      const source = deciderOf(configOf(project), key);
      if (source === undefined || source.kind === 'default') return undefined;
      return source.kind === 'file'
        ? { file: `${source.file}:${source.line}`, scope: source.scope }
        : { file: formatSource(source) };
    },
  };
}

/**
 * Claims the project's name and stores the place of its configuration. `onProblem` gets an error of the state folder, and a line
 * if another root has the name that this project would have.
 */
export function rememberProject(config: Config, at: Surroundings, onProblem?: (problems: readonly Problem[]) => void): void {
  const place = { folder: homeOfProject(config), root: config.root };
  try {
    // If a variable, a flag or a trusted file gives this folder the name of a removed root, that root has moved here.
    if (config.layers.has('project') && holderOf(readEntries(at), config.project, config.root)?.gone)
      return takeName(at, config.project, place);
    const isNews = claimName(at, config.project, place);
    if (isNews && config.wanted !== undefined) onProblem?.([{ message: nameTold(config) ?? '' }]);
  } catch (error) {
    onProblem?.([{ message: (error as Error).message }]);
  }
}

/** Returns one line for the user if another root has the name that this root would have. */
export function nameTold({ project, wanted }: Pick<Config, 'project' | 'wanted'>): string | undefined {
  if (wanted === undefined) return undefined;
  const name = JSON.stringify(wanted.name);
  const here = `this project is called ${JSON.stringify(project)}`;
  return wanted.gone
    ? `${here}: ${name} belonged to ${wanted.folder}, which no longer exists; if you moved that project here, run earpiece trust`
    : `${here}: ${name} belongs to ${wanted.folder}; to choose another name, write project = "…" into earpiece.toml`;
}

/** Returns a folder in which another process finds the same configuration. */
export function homeOfProject(config: Config): string {
  const file = config.files.find((each) => each.scope === 'project')?.file;
  return file === undefined ? config.projectRoot : dirname(file);
}

/** Makes a function that returns the stored projects, and that reads their file again only after a change. */
function notedProjects(at: Surroundings): () => readonly Entry[] {
  const file = projectsFile(at);
  let state = '';
  let projects: readonly Entry[] = [];
  return () => {
    const now = stateOf([file]);
    if (now !== state) [state, projects] = [now, withRoots(readEntries(at))];
    return projects;
  };
}
