/** The names of the settings in which the store keeps a project's tasks, in addition to their records. */
import type { Store } from '../core/ports.ts';

export const boardKey = (project: string): string => `tasks ${project}`;
export const taskKey = (project: string, id: string): string => `task ${project}/${id}`;
export const onceKey = (project: string, once: string): string => `task of ${project}/${once}`;

/** Whether the project has or had tasks. */
export const hasTasks = async (store: Pick<Store, 'setting'>, project: string): Promise<boolean> =>
  (await store.setting(boardKey(project))) !== undefined;
