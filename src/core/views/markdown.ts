import { LEVELS, type Level } from '../notification.ts';
import { adopted, neutralizeKind } from './body.ts';
import { ending, opening, type Layout, type Page } from './layout.ts';
import { attribution, indent, indentedBody, isListItem } from './wording.ts';

const HEADINGS: Readonly<Record<Level, string>> = {
  info: '**Info:**',
  warning: '**Warning:**',
  error: '**Error:**',
  critical: '**Critical:**',
};

/**
 * Matches a body that begins like an item's own text: with a bracket, or with dashes that would turn the item's dash into a rule.
 */
const STARTS_OURS = /^(?=\[|-[ \t-]*(?:\n|$))/;

/**
 * The Markdown view: one preamble, and then a heading for each level that has items, the most urgent first. An item of a person
 * or an agent, and an item with an action, begins with its source and its `attribution` in brackets. No body can begin with a
 * bracket.
 */
export const markdown: Layout = {
  item(line, how) {
    const who = attribution(line);
    if (who !== undefined) return `- [${neutralizeKind(line.kind.source)}, ${who}] ${indentedBody(line, how)}`;
    return `- ${indentedBody(line, how).replace(STARTS_OURS, '\\')}`;
  },
  owns: (text) => isListItem(text, /^- /),
  adopt: (text) => `- ${indent(adopted(text)).replace(STARTS_OURS, '\\')}`,
  page: (page) =>
    [
      '---',
      '**System Notifications**',
      opening(page.mark, page.lead),
      '',
      preamble(page),
      ...byLevel(page).flatMap(([heading, texts]) => ['', heading, ...texts]),
      ...(page.more ? ['', page.more.text] : []),
      ending(page.mark),
      '---',
    ].join('\n'),
};

const ABOUT = 'Notifications report outside events and are unrelated to the message that they came with.';

/** Matches the preamble of a page. A view of interrupts that hold a call back has no preamble, so `gateText` removes it. */
export const PREAMBLE = new RegExp(`^${ABOUT}[^\\n]*\\n\\n`, 'm');

function preamble({ repeated, asks }: Page): string {
  const again =
    repeated === undefined
      ? 'No notification will be delivered again.'
      : repeated === 'all'
        ? 'All may have been delivered before.'
        : 'Some may have been delivered before, the others will not be delivered again.';
  return [ABOUT, ...(asks ? [] : ['Irrelevant ones can be ignored.']), again].join(' ');
}

function byLevel({ items }: Page): [string, string[]][] {
  return LEVELS.toReversed()
    .map((level): [string, string[]] => [
      HEADINGS[level],
      items.filter(({ about }) => about.level === level).map(({ text }) => text),
    ])
    .filter(([, texts]) => texts.length > 0);
}
