/** The setting that keeps a project's list. Separate, for hooks that only ask whether there is one. */
export const listKey = (project: string): string => `followers of ${project}`;
