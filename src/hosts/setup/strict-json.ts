/** Finds syntax that Gemini CLI does not accept in a settings file, although other readers of JSON with comments do. */
import { formatProblem } from '../../config/index.ts';
import { positionIn } from '../../config/jsonc.ts';
import { readSettings } from './read-settings.ts';
import type { Disabled } from './setup.ts';

/** Matches strings, comments, blanks and single characters. Each match takes time in proportion to its length. */
const TOKENS = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|\s+|[\s\S]/gu;

/** Returns the position of a comma before the end of a list or an object. */
function uselessComma(text: string): number | undefined {
  const tokens = [...text.matchAll(TOKENS)].filter(([token]) => !/^(?:\s|\/[/*])/u.test(token));
  return tokens.find(([token], at) => token === ',' && /^[}\]]$/u.test(tokens[at + 1]?.[0] ?? ''))?.index;
}

/**
 * Finds an error that makes Gemini CLI end at once with exit code 52. Gemini CLI accepts comments, but not a byte order mark or
 * a needless comma.
 */
export function unreadableForGemini(file: string): readonly Disabled[] {
  const { text } = readSettings(file);
  if (text === undefined) return [];
  const refused = ', so Gemini CLI does not start';
  if (text.startsWith('\ufeff'))
    return [
      { why: `${file} begins with a byte order mark${refused}`, advice: `save ${file} as UTF-8 without a byte order mark` },
    ];
  const comma = uselessComma(text);
  if (comma === undefined) return [];
  const message = `has a comma before the end of a list or an object${refused}`;
  return [{ why: formatProblem({ file, ...positionIn(text, comma), message }), advice: `remove this comma from ${file}` }];
}
