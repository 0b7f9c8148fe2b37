/** Commands for cures that this page cannot carry out. */
import type { Verdict } from '../../../src/wire/client/index.ts';
import { word } from './text.ts';

/** Returns the command that changes a setting, to run in the project's folder. */
export function settingCommand(key: string, verdict: Verdict): string {
  // A budget may have its default value, and then no file has a value to unset. So the command sets a value.
  if (verdict.kind === 'budget') {
    const now = Number(/ (\d+)/u.exec(verdict.reason)?.[1] ?? 10);
    const most = key.endsWith('max_items') ? MOST_ITEMS : Number.MAX_SAFE_INTEGER;
    return `earpiece config set ${word(key)} ${Math.min(now * 2, most)} --project`;
  }
  const file = verdict.kind === 'filtered' ? verdict.file : null;
  return `earpiece config unset ${word(key)}${file?.includes('/.config/earpiece/') === true ? '' : ' --project'}`;
}

const MOST_ITEMS = 1_000;
