/** Where the store keeps the tasks of a project, beside their records. */
export const boardKey = (project: string): string => `tasks ${project}`;
export const taskKey = (project: string, id: string): string => `task ${project}/${id}`;
export const onceKey = (project: string, once: string): string => `task of ${project}/${once}`;
