/** Commands for cures that this page cannot carry out. */
import type { Verdict } from '../../../src/wire/client/index.ts';
import { word } from './text.ts';

/**
 * Returns the command that changes or explains a setting, to run in the project's folder. Returns undefined if a variable or a
 * flag sets the setting, because a command can change neither.
 */
export function settingCommand(key: string, verdict: Verdict): string | undefined {
  // A budget without a value in a file has its default, so there is nothing to unset.
  if (verdict.kind === 'budget') {
    const { kind, limit } = verdict.cause;
    const most = kind === 'max_items' ? MOST_ITEMS : Number.MAX_SAFE_INTEGER;
    return `earpiece config set ${word(key)} ${Math.min(limit * 2, most)} --project`;
  }
  const { file, scope } = verdict.kind === 'filtered' ? verdict : { file: null };
  if (file !== null && scope === undefined) return undefined;
  // No file sets the key, so there is nothing to unset. By default, only the content of a tool is filtered.
  if (file === null)
    return key.endsWith('.content') ? `earpiece config set ${word(key)} true --project` : `earpiece config explain ${word(key)}`;
  return `earpiece config unset ${word(key)}${scope === 'user' ? '' : ' --project'}`;
}

const MOST_ITEMS = 1_000;
