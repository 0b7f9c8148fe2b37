import { LEVELS } from '../notification.ts';
import { adopted, neutralizeKind } from './body.ts';
import { ending, opening, type Layout } from './layout.ts';
import { attribution, indent, indentedBody, isListItem } from './wording.ts';

const ITEM = new RegExp(`^[^ ]+ (?:${LEVELS.join('|')})[:,] `);

/**
 * The default view: one line for each item, in words. Indented lines belong to the item above them. The view has no dashes before
 * items, because each dash would cost one token.
 *
 *     [ep k7f3] 2 notifications, automatic, no human typed this
 *     tool error: Tool `cargo_check` failed with exit code 101.
 *     file info: `src/lib.rs` changed 14 times, last 10:32
 *     [/ep k7f3]
 */
export const plain: Layout = {
  item(line, how) {
    const who = attribution(line);
    const source = neutralizeKind(line.kind.source);
    return `${source} ${line.level}${who === undefined ? '' : `, ${who}`}: ${indentedBody(line, how)}`;
  },
  owns: (text) => isListItem(text, ITEM),
  adopt: (text, about) => `${neutralizeKind(about.source)} ${about.level}: ${indent(adopted(text))}`,
  page: ({ mark, lead, items, more }) =>
    [opening(mark, lead), ...items.map(({ text }) => text), ...(more ? [more.text] : []), ending(mark)].join('\n'),
};
