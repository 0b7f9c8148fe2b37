/**
 * Returns the key of the setting with a project's list of followers. This function has a separate file, because hooks only check
 * whether a project has a list, and load nothing else of this folder.
 */
export const listKey = (project: string): string => `followers of ${project}`;
