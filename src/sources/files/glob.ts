/**
 * Matches paths against patterns: `*`, `?`, `[a-z]` and `[!a]` inside a name, `**` for any folders, `\` before a literal
 * character. Names that begin with a dot are ordinary names. The comparison does not use regular expressions, because a hostile
 * `.gitignore` pattern such as `*a*a*a*a*b` would keep a regular expression busy for hours.
 */
type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'class'; readonly has: (char: string) => boolean }
  | { readonly kind: 'star' };

/** A part of a pattern that matches one name of a path. `over` is a `**`, which matches any number of names. */
type Segment =
  | { readonly kind: 'over' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'parts'; readonly parts: readonly Part[] };

export type Pattern = readonly Segment[];

export const parsePattern = (pattern: string): Pattern =>
  pattern
    .split('/')
    .filter((name) => name !== '')
    .map(parseSegment);

/** Parses a glob as people write paths: `./a` means `a`, and a folder with a slash at its end, as in `a/`, means `a/**`. */
export function parseGlob(glob: string): Pattern {
  const names = glob.split('/');
  const isFolder = ['', '.'].includes(names.at(-1) ?? '');
  return parsePattern([...names.filter((name) => name !== '.'), ...(isFolder ? ['**'] : [])].join('/'));
}

/** Whether the pattern matches a path. `names` are the names of the path, without empty names. */
export function matches(pattern: Pattern, names: readonly string[]): boolean {
  return wildcard(pattern, names, (segment) => segment.kind === 'over', nameMatches);
}

/** Whether a path below this folder may match. The check ends at the first `**` of the pattern. */
export function mayMatchBelow(pattern: Pattern, folder: readonly string[]): boolean {
  for (const [i, name] of folder.entries()) {
    const segment = pattern[i];
    if (segment === undefined) return false;
    if (segment.kind === 'over') return true;
    if (!nameMatches(segment, name)) return false;
  }
  return pattern.length > folder.length;
}

const MOST = 256;

/** Expands `{a,b}`; returns undefined for more than 256 results. */
export function expandBraces(pattern: string): readonly string[] | undefined {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (done.length + open.length >= MOST) return undefined;
    const braces = innermost(next);
    if (braces === undefined) done.push(next);
    else
      for (const choice of next
        .slice(braces.from + 1, braces.to)
        .split(',')
        .reverse())
        open.push(`${next.slice(0, braces.from)}${choice}${next.slice(braces.to + 1)}`);
  }
  return [...new Set(done)];
}

/** Finds the first braces that contain a comma and no other braces. */
function innermost(pattern: string): { readonly from: number; readonly to: number } | undefined {
  let from = -1;
  let comma = false;
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === '\\') at++;
    else if (char === '{') [from, comma] = [at, false];
    else if (char === ',') comma = true;
    else if (char === '}' && from >= 0) {
      if (comma) return { from, to: at };
      from = -1;
    }
  }
  return undefined;
}

/**
 * Whether `items` match `pattern`, in which a star matches any number of items. After a mismatch, only the last star is extended,
 * so the number of steps is at most the product of both lengths.
 */
function wildcard<P, I>(
  pattern: readonly P[],
  items: readonly I[],
  isStar: (part: P) => boolean,
  fits: (part: P, item: I) => boolean,
): boolean {
  let p = 0;
  let i = 0;
  let star = -1;
  let taken = 0;
  while (i < items.length) {
    const part = pattern[p];
    if (part !== undefined && isStar(part)) [star, taken] = [p++, i];
    else if (part !== undefined && fits(part, items[i] as I)) [p, i] = [p + 1, i + 1];
    else if (star >= 0) [p, i] = [star + 1, ++taken];
    else return false;
  }
  return pattern.slice(p).every(isStar);
}

function nameMatches(segment: Segment, name: string): boolean {
  switch (segment.kind) {
    case 'over':
      return true;
    case 'text':
      return segment.text === name;
    case 'parts':
      return wildcard(segment.parts, [...name], (part) => part.kind === 'star', fits);
  }
}

function fits(part: Part, char: string): boolean {
  switch (part.kind) {
    case 'star':
    case 'any':
      return true;
    case 'text':
      return part.text === char;
    case 'class':
      return part.has(char);
  }
}

function parseSegment(name: string): Segment {
  if (name === '**') return { kind: 'over' };
  const parts: Part[] = [];
  const chars = [...name];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] as string;
    if (char === '*') parts.push({ kind: 'star' });
    else if (char === '?') parts.push({ kind: 'any' });
    else if (char === '\\' && at + 1 < chars.length) parts.push({ kind: 'text', text: chars[++at] as string });
    else {
      const found = char === '[' ? parseClass(chars, at) : undefined;
      parts.push(found === undefined ? { kind: 'text', text: char } : { kind: 'class', has: found.has });
      at = found?.end ?? at;
    }
  }
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return texts.length === parts.length ? { kind: 'text', text: texts.join('') } : { kind: 'parts', parts };
}

/** Whether a name in the pattern has a `[` without its `]`. */
export const hasOpenClass = (pattern: string): boolean =>
  pattern.split('/').some((name) => {
    const chars = [...name];
    for (let at = 0; at < chars.length; at++) {
      if (chars[at] === '\\') at++;
      else if (chars[at] === '[') {
        const found = parseClass(chars, at);
        if (found === undefined) return true;
        at = found.end;
      }
    }
    return false;
  });

/** Parses a `[…]`. A `[` without its `]` is literal. */
function parseClass(
  chars: readonly string[],
  from: number,
): { readonly has: (char: string) => boolean; readonly end: number } | undefined {
  const negated = chars[from + 1] === '!' || chars[from + 1] === '^';
  const first = from + (negated ? 2 : 1);
  const ranges: (readonly [string, string])[] = [];
  for (let at = first; at < chars.length; at++) {
    if (chars[at] === ']' && at > first)
      return { has: (char) => ranges.some(([low, high]) => low <= char && char <= high) !== negated, end: at };
    if (chars[at] === '\\' && at + 1 < chars.length) at++;
    const low = chars[at] as string;
    const high = chars[at + 1] === '-' && chars[at + 2] !== undefined && chars[at + 2] !== ']' ? (chars[at + 2] as string) : low;
    if (high !== low) at += 2;
    ranges.push([low, high]);
  }
  return undefined;
}
