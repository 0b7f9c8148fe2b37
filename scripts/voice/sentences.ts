/** Splits pages and other texts into sentences. */
export type Sentence = {
  readonly line: number;
  readonly text: string;
  /** Whether the text is a heading, or another short text without punctuation, such as a table cell. */
  readonly label: boolean;
};

/** The word that replaces code. */
const CODE = '⟨code⟩';

/**
 * Returns the sentences of a page, without code blocks, HTML comments and URLs of links. `read` makes a text plain before the
 * text is split. By default, one word replaces code.
 */
export function sentencesOfPage(page: string, read: (text: string) => string = plain): Sentence[] {
  const found: Sentence[] = [];
  let block: { line: number; text: string } | undefined;
  let fence: string | undefined;
  let comment = false;
  const end = (): void => {
    if (block) found.push(...sentencesOf(block.text, block.line, read));
    block = undefined;
  };
  for (const [i, raw] of page.split('\n').entries()) {
    const line = i + 1;
    const mark = /^\s*(```+|~~~+)/u.exec(raw)?.[1];
    if (mark !== undefined || fence !== undefined) {
      end();
      if (fence === undefined) fence = mark;
      else if (mark === fence) fence = undefined;
      continue;
    }
    if (comment || /^\s*<!--/u.test(raw)) {
      end();
      comment = !raw.includes('-->');
      continue;
    }
    if (/^\s*$/u.test(raw) || /^\s*\|?[\s|:-]+\|?$/u.test(raw)) end();
    else if (raw.startsWith('|')) {
      end();
      for (const cell of read(raw).replaceAll('\\|', '/').split('|')) found.push(...sentencesOf(cell, line, read));
    } else if (/^#+ /u.test(raw)) {
      end();
      found.push({ line, text: read(raw.replace(/^#+ /u, '')), label: true });
    } else if (/^\s*(?:[-*]|\d+\.) /u.test(raw)) {
      end();
      block = { line, text: raw.replace(/^\s*(?:[-*]|\d+\.) /u, '') };
    } else if (block) block = { line: block.line, text: `${block.text}\n${raw.trim()}` };
    else block = { line, text: raw.trim() };
  }
  end();
  return found;
}

/** Makes Markdown plain: a link becomes its text, and code becomes one word. */
const plain = (text: string): string =>
  text
    .replaceAll(/(`+)(?!`)[^]*?[^`]\1(?!`)/gu, (code) => CODE + '\n'.repeat(code.split('\n').length - 1))
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, '$1')
    .replaceAll(/<[^>]+>/gu, ' ')
    .replaceAll(/\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)/gu, '');

/** Returns each sentence with its line. `first` is the line on which the text begins. */
export function sentencesOf(text: string, first: number, read: (text: string) => string = plain): Sentence[] {
  const found: Sentence[] = [];
  let line = first;
  for (const part of read(text).split(/(?<=[.!?][)"'”’]*)(?=\s+[^\s\p{Ll}])/u)) {
    const lead = /^\s*/u.exec(part)?.[0] ?? '';
    line += lead.split('\n').length - 1;
    const said = part.trim().replaceAll(/\s+/gu, ' ');
    if (said !== '') found.push({ line, text: said, label: !/[.!?:;,]/u.test(said) && wordsOf(said) <= 6 });
    line += part.slice(lead.length).split('\n').length - 1;
  }
  return found;
}

export const wordsOf = (sentence: string): number => sentence.split(/\s+/u).filter((word) => /[\p{L}\p{N}⟨]/u.test(word)).length;

/**
 * Returns the number of words that a reader must hold in mind at once. A list of three or more entries after a colon counts as
 * its longest entry.
 */
export function wordsToHold(sentence: string): number {
  const [lead = '', list] = sentence.split(/: (.*)/u);
  const entries = list?.split(/[,;] /u) ?? [];
  return entries.length < 3 ? wordsOf(sentence) : wordsOf(lead) + Math.max(...entries.map(wordsOf));
}

/**
 * Returns a comment without examples: indented lines after an empty line, such as usages and diagrams. Their lines become empty.
 * An indented list is not an example.
 */
export function proseOf(comment: string): string {
  let example = false;
  let after = '';
  const lines = comment.split('\n').map((line) => {
    const indented = /^ {2,}\S/u.test(line);
    if (line.trim() !== '') example = indented && (example || (after === '' && !/^ *(?:[-*]|\d+\.) /u.test(line)));
    after = line.trim();
    return example ? '' : line;
  });
  return lines.join('\n');
}
