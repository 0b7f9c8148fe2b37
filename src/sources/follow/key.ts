/**
 * The key of the setting that holds a project's list of followers. The function has its own file, because hooks only check whether
 * a project has a list, and load nothing else of this folder.
 */
export const listKey = (project: string): string => `followers of ${project}`;
