/** The views that `takeApart` parses. Tests parse TOON and JSON with standard parsers. */
export const LISTS = ['default', 'markdown', 'xml', 'xml_batch'] as const;
export type ListView = (typeof LISTS)[number];
export const isList = (format: string): format is ListView => (LISTS as readonly string[]).includes(format);

export type Parts = { readonly opening: string; readonly items: readonly string[]; readonly ending: string };

/**
 * Parses a view for tests, and accepts only the exact form of this view. Returns the text of each item, and the lines around the
 * items. Throws if the form is broken.
 */
export function takeApart(format: ListView, mark: string, text: string): Parts {
  const rows = text.split('\n');
  const opening = `[ep ${mark}] `;
  const ending = `[/ep ${mark}]`;
  switch (format) {
    case 'default': {
      check(rows[0]?.startsWith(opening) && rows.at(-1) === ending, 'frame');
      return { opening: rows[0] ?? '', items: grouped(rows.slice(1, -1), (row) => !/^(?: {2}|$)/.test(row)), ending };
    }
    case 'markdown': {
      check(rows[0] === '---' && rows[1] === '**System Notifications**' && rows[2]?.startsWith(opening), 'opening');
      check(rows.at(-2) === ending && rows.at(-1) === '---', 'ending');
      const headings = /^\*\*(?:Critical|Error|Warning|Info):\*\*$/;
      const body = rows.slice(5, -2);
      const sections = grouped(['', ...body], (row) => headings.test(row)).slice(1);
      const items = sections.flatMap((section) => {
        const [heading = '', ...list] = section.split('\n');
        check(headings.test(heading) && list[0]?.startsWith('- '), 'section');
        return grouped(list, (row) => row.startsWith('- '));
      });
      return { opening: rows[2] ?? '', items: items.map((item) => item.trimEnd()), ending };
    }
    case 'xml': {
      check(rows[0]?.startsWith(opening) && rows.at(-1) === ending, 'frame');
      const inside = rows.slice(1, -1).join('\n');
      const items = inside.split(/(?<=^<\/notification>)\n\n(?=<notification )/m);
      for (const item of items) {
        const [, content] = /^<notification(?: [a-z]+="[^"<>]*")*>\n([^]*)\n<\/notification>$/.exec(item) ?? [];
        check(content !== undefined, `element ${item}`);
        const text = content?.replace(/\n<instruction(?: from="[^"<>]*")?>([^<>]*)<\/instruction>$/, '$1') ?? '';
        check(!/[<>]|&(?!(?:amp|lt|gt);)/.test(text), `content ${text}`);
      }
      return { opening: rows[0] ?? '', items, ending };
    }
    case 'xml_batch': {
      check(rows[0]?.startsWith(opening) && rows.at(-1) === ending, 'frame');
      check(/^<notifications count="\d+">$/.test(rows[1] ?? '') && rows.at(-2) === '</notifications>', 'element');
      const inside = rows.slice(2, -2);
      check(!/[<>]/.test(inside.join('\n')), 'content');
      return { opening: rows[0] ?? '', items: grouped(inside, (row) => row.startsWith('- [')), ending };
    }
  }
}

/** Groups each row that starts an item or a section with the rows after it. */
function grouped(rows: readonly string[], starts: (row: string) => boolean): string[] {
  const groups: string[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last === undefined || starts(row)) groups.push([row]);
    else last.push(row);
  }
  return groups.map((group) => group.join('\n'));
}

function check(holds: boolean | undefined, what: string): void {
  if (!holds) throw new Error(`not in form: ${what}`);
}
