/** Returns or replaces the mark in the frames of an agent. */
import { splitLog, type LogKey } from '../../core/address.ts';
import type { Context } from '../context.ts';
import { markOf } from '../ids.ts';

export async function markFor({ store }: Context, log: LogKey): Promise<string> {
  const generation = await store.setting(settingOf(splitLog(log).project));
  return markOf(await store.secret(), log, typeof generation === 'string' ? generation : '');
}

export async function newMark({ store, ids }: Context, project: string): Promise<void> {
  await store.setSetting(settingOf(project), ids.make('mark'));
}

const settingOf = (project: string): string => `mark ${project}`;
