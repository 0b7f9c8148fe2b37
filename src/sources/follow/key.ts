/**
 * The key of the setting with a project's list of followers. The key has a separate file for hooks, which only check whether the
 * list exists.
 */
export const listKey = (project: string): string => `followers of ${project}`;
