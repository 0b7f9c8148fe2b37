/** The texts of a TypeScript file that people read: comments, prose in strings, titles of tests. */
export type Text = { readonly line: number; readonly text: string; readonly kind: 'comment' | 'string' | 'title' };

/** A regular expression may follow these. Behind anything else `/` divides. */
const BEFORE_REGEX = /(?:^|[([{,;:=!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|throw|await|yield))\s*$/u;
const TITLE = /\b(?:test|it|describe|verifies)(?:\.\w+)*(?:\([^()]*\))?\(\s*(?:'[a-z]+:[^'\n]*',\s*)?$/u;

const TOKENS =
  /(?<comment>\/\/[^\n]*|\/\*[^]*?\*\/)|(?<string>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[^])*`)|(?<slash>\/)/gu;
const REGEX = /\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/uy;

/** @param strings which strings to include: all prose, or only the titles of tests. */
export function textsOfCode(code: string, strings: 'prose' | 'titles'): Text[] {
  const found: Text[] = [];
  let line = 1;
  let counted = 0;
  const lineAt = (index: number): number => {
    for (; counted < index; counted++) if (code[counted] === '\n') line++;
    return line;
  };
  TOKENS.lastIndex = 0;
  for (let match = TOKENS.exec(code); match; match = TOKENS.exec(code)) {
    const { comment, string } = match.groups ?? {};
    const before = code.slice(Math.max(0, match.index - 120), match.index);
    if (comment !== undefined) found.push(...commentTexts(code, match.index, comment, lineAt(match.index)));
    else if (string !== undefined) {
      const text = string
        .slice(1, -1)
        .replaceAll(/\\n/gu, '\n')
        .replaceAll(/\\(.)/gu, '$1')
        .replaceAll(/\$\{[^{}]*\}/gu, '`x`');
      if (TITLE.test(before)) found.push({ line: lineAt(match.index), text, kind: 'title' });
      else if (strings === 'prose' && isProse(text)) found.push({ line: lineAt(match.index), text, kind: 'string' });
    } else if (BEFORE_REGEX.test(before)) {
      REGEX.lastIndex = match.index;
      const regex = REGEX.exec(code);
      if (regex) TOKENS.lastIndex = REGEX.lastIndex;
    }
  }
  return joined(found);
}

function commentTexts(code: string, index: number, comment: string, line: number): Text[] {
  if (/^\/[/*]\s*(?:#(?:end)?region|oxlint|eslint|@ts-|v8 )/u.test(comment) || code.slice(index - 1, index) === ':') return [];
  const text = comment
    .replaceAll(/^\/\*+|\*+\/$|^\/\/ ?/gu, '')
    .replaceAll(/^[ \t]*\*(?: |$)/gmu, '')
    .replaceAll(/^@\w+(?: \w+)?/gmu, '');
  return text.trim() === '' ? [] : [{ line, text, kind: 'comment' }];
}

/** Line comments that follow each other are one text. */
function joined(all: readonly Text[]): Text[] {
  const found: Text[] = [];
  for (const each of all) {
    const last = found.at(-1);
    const next = last && last.line + last.text.split('\n').length === each.line;
    if (last && next && last.kind === 'comment' && each.kind === 'comment' && !last.text.startsWith('\n'))
      found[found.length - 1] = { ...last, text: `${last.text}\n${each.text}` };
    else found.push(each);
  }
  return found;
}

/** At least four words with blanks between them, most of which are letters only: not a path, SQL, or a list of names. */
const isProse = (text: string): boolean => {
  const words = text.trim().split(/\s+/u);
  return (
    words.length >= 4 &&
    words.filter((word) => /^[\p{Ll}"'(`]?[\p{L}'’-]+["')`]?[.,;:!?]*$/u.test(word)).length * 2 > words.length &&
    !/^(?:SELECT|INSERT|UPDATE|DELETE|CREATE|PRAGMA|WITH)\b/u.test(text.trim())
  );
};
