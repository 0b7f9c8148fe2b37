/** Shows the planned changes to a person before they agree. */
import { structuredPatch } from 'diff';
import { veiled } from '../../config/veiled.ts';
import { changes, type FilePlan, type Place } from '../../hosts/setup/index.ts';
import { paint, plain } from '../terminal.ts';
import { short } from './here.ts';

/** The maximum number of changed lines. More lines would take long to compare, and a person would not read them. */
const MAX_LINES = 500;

export function diffOf({ file, before = '', after = '' }: FilePlan): readonly string[] {
  const patch = structuredPatch('', '', before, after, '', '', { context: 2, maxEditLength: MAX_LINES });
  if (patch === undefined) return ['  (the change has too many lines to show)'];
  // The comparison uses the texts with their secrets, but the output hides the secrets.
  const [old, now] = [before, after].map((text) => veiled(text, file).split('\n')) as [string[], string[]];
  return patch.hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => {
    let [oldAt, newAt] = [oldStart - 1, newStart - 1];
    const told = lines.map((line) => {
      const sign = line.slice(0, 1);
      if (sign === '\\') return line;
      const hidden = sign === '+' ? now[newAt] : old[oldAt];
      if (sign !== '-') newAt++;
      if (sign !== '+') oldAt++;
      // A person reads a tab as indentation, and a terminal could read a control character as a command.
      return plain(`${sign}${(hidden ?? '').replace(/\r$/u, '').replaceAll('\t', '  ')}`);
    });
    return [`@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`, ...told];
  });
}

export function shown(plan: FilePlan, place: Place): string {
  const { problem, unrestored } = plan;
  const file = plain(short(plan.file, place));
  if (problem !== undefined) return `  ${paint('red', '✗')} ${file}\n    ${plain(problem)}`;
  const note = unrestored === undefined ? [] : [`  ${paint('yellow', '!')} ${plain(unrestored)}`];
  if (!changes(plan)) return note[0] ?? `  ${paint('green', '✓')} ${file}: nothing to change`;
  const lines = diffOf(plan).map(
    (line) => `    ${line.startsWith('+') ? paint('green', line) : line.startsWith('-') ? paint('red', line) : line}`,
  );
  return [headline(plan, place), ...lines, ...note].join('\n');
}

/** Returns one line with the file and what an installation adds or removes there. */
export function headline({ file, what, before, after }: FilePlan, place: Place): string {
  const how = before === undefined ? 'is made' : after === undefined ? 'is removed' : 'is changed';
  return `  ${paint('bold', plain(short(file, place)))} ${how}${what.length === 0 ? '' : `: ${what.join('; ')}`}`;
}
