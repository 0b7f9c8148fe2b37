/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** By its brackets, without building anything: what nests a million deep may be read, but not written again. */
export function nestsDeeper(text: string, limit: number): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inText) {
      if (char === BACKSLASH) at++;
      else if (char === QUOTE) inText = false;
    } else if (char === QUOTE) inText = true;
    else if (char === BRACE || char === BRACKET) {
      if (++depth > limit) return true;
    } else if (char === BRACE + 2 || char === BRACKET + 2) depth--;
  }
  return false;
}

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const BRACE = 0x7b;
const BRACKET = 0x5b;
