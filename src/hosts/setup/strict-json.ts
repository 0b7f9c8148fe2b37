/** Finds what Gemini CLI does not accept in a settings file, although the file is JSON with comments. */
import { formatProblem } from '../../config/index.ts';
import { positionIn } from '../../config/jsonc.ts';
import { readSettings } from './read-settings.ts';
import type { Disabled } from './setup.ts';

/** Texts and comments, which may contain commas, or a comma before the end of a list or an object. */
const TOKENS = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|,(?=(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*[}\]])/gu;

/** With such a file, Gemini CLI ends at once with exit code 52. Gemini CLI accepts comments. */
export function unreadableForGemini(file: string): readonly Disabled[] {
  const { text } = readSettings(file);
  if (text === undefined) return [];
  const refused = ', so Gemini CLI does not start';
  if (text.startsWith('\ufeff'))
    return [
      { why: `${file} begins with a byte order mark${refused}`, advice: `save ${file} as UTF-8 without a byte order mark` },
    ];
  const comma = [...text.matchAll(TOKENS)].find(([token]) => token === ',');
  if (comma === undefined) return [];
  const message = `has a comma before the end of a list or an object${refused}`;
  return [{ why: formatProblem({ file, ...positionIn(text, comma.index), message }), advice: `remove this comma from ${file}` }];
}
