/** Shows open notifications after a person's own status line in Claude Code. */
import { isDeepStrictEqual } from 'node:util';
import { jsonAt, jsonProblem, removeJson, setJson } from '../../config/edit-json.ts';
import type { Edited } from '../../config/edit.ts';
import { shellLine, type Ours } from './ours.ts';
import type { Part } from './setup.ts';

const OWN = ['statusLine'];
/**
 * Matches a command that runs two commands on the same input. The line break in the pattern ends a possible comment in the first
 * command.
 */
const BOTH = /^i=\$\(cat\); printf %s "\$i" \| \(([^]*)\n\); printf %s "\$i" \| \([^]* statusline[^]*\)$/u;
const ALONE = /(?:earpiece(?:@[\w.+-]+)?|cli[/\\]main\.[jt]s)['"]? statusline/u;

type Line = { readonly type?: unknown; readonly command?: unknown };

export const hasStatusLine = (text: string): boolean => ALONE.test(String((jsonAt(text, OWN) as Line | undefined)?.command));

export function statusLinePart(file: string, ours: Ours): Part {
  const alone = shellLine(ours, ['statusline']);
  return {
    file,
    what: 'the open notifications in the status line',
    add(text) {
      const problem = jsonProblem(text, file);
      if (problem !== undefined) return problem;
      const there = jsonAt(text, OWN) as Line | undefined;
      const before = theirs(there);
      const command = before === undefined ? alone : `i=$(cat); printf %s "$i" | (${before}\n); printf %s "$i" | (${alone})`;
      const wanted = { ...(there ?? { type: 'command' }), command };
      return isDeepStrictEqual(there, wanted) ? { kind: 'text', text } : setJson(text, OWN, wanted, file);
    },
    remove(text): Edited {
      if (jsonProblem(text, file) !== undefined || !hasStatusLine(text)) return { kind: 'text', text };
      const there = jsonAt(text, OWN) as Line;
      const before = theirs(there);
      return before === undefined ? removeJson(text, OWN, file) : setJson(text, [...OWN, 'command'], before, file);
    },
  };
}

/** Returns the person's own command in the status line's setting. */
function theirs(line: Line | undefined): string | undefined {
  const command = line?.command;
  if (typeof command !== 'string') return undefined;
  const both = BOTH.exec(command)?.[1];
  if (both !== undefined) return both;
  return ALONE.test(command) ? undefined : command;
}
