/** Finds TOML that would take too long to read, in one pass over the text and before the parser sees it. */

/** The maximum number of parts of a key. The keys of Earpiece have at most 6 parts. */
export const MAX_PARTS = 16;
/** The maximum length of a dotted key or header, in characters. */
export const MAX_KEY = 512;
/** The maximum depth of nested lists and inline tables. */
export const MAX_LEVELS = 8;
/** The maximum total number of key parts, header parts and list elements in one file. */
export const MAX_ENTRIES = 10_000;

/** An exceeded limit: its offset in the text, and the message. */
export type Excess = { readonly at: number; readonly message: string };

/**
 * Finds the first exceeded limit; returns undefined for a text within the limits. The content of strings and comments does not
 * count. The pass assumes valid TOML, because the parser refuses any other text in linear time.
 */
export function excessOf(text: string): Excess | undefined {
  const open: string[] = [];
  let entries = 0;
  let inValue = false;
  let inHeader = false;
  /** The start of the current key (-1 before its first character), and the number of its parts so far. */
  let key = -1;
  let parts = 1;
  const newKey = (): void => {
    inValue = false;
    inHeader = false;
    key = -1;
    parts = 1;
  };

  for (let i = text.startsWith('\ufeff') ? 1 : 0; i < text.length; i++) {
    const char = text.charAt(i);
    const at = i;
    if (char === ' ' || char === '\t' || char === '\r') continue;
    if (char === '#') i = endOfLine(text, i) - 1;
    else if (char === '\n') {
      if (open.length === 0 || !inValue) newKey();
    } else if (char === '"' || char === "'") {
      if (key < 0) key = i;
      i = endOfString(text, i) - 1;
    } else if (inValue) {
      if (char === '[' || char === '{') {
        open.push(char);
        entries++;
        if (open.length > MAX_LEVELS)
          return { at, message: `nests lists and tables more than ${MAX_LEVELS} levels deep; use fewer levels` };
        if (char === '{') newKey();
      } else if (char === ']' || char === '}') open.pop();
      else if (char === ',') {
        entries++;
        if (open.at(-1) === '{') newKey();
      }
    } else if (char === '[' && key < 0 && open.length === 0) inHeader = true;
    else if (char === '}') {
      open.pop();
      inValue = true;
    } else if (char === '=' || (char === ']' && inHeader)) {
      const from = key < 0 ? i : key;
      const shown = (): string => `${JSON.stringify(text.slice(from, from + 40))}…`;
      if (parts > MAX_PARTS)
        return { at: from, message: `has a key of ${parts} parts, ${shown()}; a key may have at most ${MAX_PARTS} parts` };
      if (i - from > MAX_KEY)
        return {
          at: from,
          message: `has a key of ${i - from} characters, ${shown()}; a key may have at most ${MAX_KEY} characters`,
        };
      entries += parts;
      inValue = true;
    } else {
      if (key < 0) key = i;
      if (char === '.') parts++;
    }
    if (entries > MAX_ENTRIES)
      return { at, message: `has more than ${MAX_ENTRIES} keys and list elements; remove keys or elements that you do not need` };
  }
  return undefined;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/**
 * Returns the offset after the closing quotes. Without closing quotes, returns the offset of the next line break, or
 * in triple quotes the end of the text.
 */
function endOfString(text: string, from: number): number {
  const quote = text.charAt(from);
  const triple = text.startsWith(quote.repeat(3), from);
  for (let i = from + (triple ? 3 : 1); i < text.length; i++) {
    const char = text.charAt(i);
    if (char === '\\' && quote === '"') i++;
    else if (char === '\n' && !triple) return i;
    else if (char === quote) {
      if (!triple) return i + 1;
      if (text.charAt(i + 1) !== quote || text.charAt(i + 2) !== quote) continue;
      // TOML allows up to two quotes directly before the three closing quotes.
      let end = i + 3;
      while (end < i + 5 && text.charAt(end) === quote) end++;
      return end;
    }
  }
  return text.length;
}
