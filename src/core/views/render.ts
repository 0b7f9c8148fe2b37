import { isRepeated, type Line } from '../plan.ts';
import type { SentView, ViewName } from '../records.ts';
import { estimateTokens } from '../tokens.ts';
import { json } from './json.ts';
import type { Layout, Page } from './layout.ts';
import { markdown } from './markdown.ts';
import { plain } from './plain.ts';
import { signalText } from './signal.ts';
import type { Render, ViewInput } from './view.ts';
import { dataText, leadOf, MEANING_OF_MARK, placeOfWhole, restOf, totalOf, type How } from './wording.ts';
import { xml, xmlBatch } from './xml.ts';

type LayoutName = Exclude<ViewName, 'signal_en' | 'signal_ja'>;

const LAYOUTS: Readonly<Record<Exclude<LayoutName, 'toon'>, Layout>> = {
  default: plain,
  markdown,
  xml,
  xml_batch: xmlBatch,
  json,
};

/**
 * Makes a `Render`. Without lines and `rest`, its text is empty. The signal views, however, always have a text, and never deliver
 * items. A `sent` text of another view stays unchanged in `items`, and is embedded in the text as a body. Pass `toon` only for
 * conversations with the TOON view, because its encoder is larger than all other views together.
 */
export const renderer =
  (toon?: Layout): Render =>
  (format, input) => {
    if (format === 'signal_en' || format === 'signal_ja') return signal(format, input);
    const { maxTokens = Number.POSITIVE_INFINITY, maxItemChars, lines } = input;
    const how: How = {
      maxItemChars,
      // `timeZone` is a getter, because finding the system's zone takes 20 ms and few lines show a time.
      get timeZone() {
        return input.timeZone;
      },
      whole: placeOfWhole(input),
    };
    const layout = format === 'toon' ? toon : LAYOUTS[format];
    if (layout === undefined) throw new TypeError('the TOON encoder is not loaded; pass the encoder to renderer(toon)');
    let view = show(layout, format, input, how);
    if (lines.length !== 1 || lines[0]?.sent !== undefined) return view;
    // At least one item is always delivered. An item that is too long for the carrier is cut, and says where to find the whole
    // text.
    let chars = Math.min(maxItemChars, charsIn(lines, maxItemChars));
    for (let tokens = estimateTokens(view.text); tokens > maxTokens && chars > LEAST_CHARS; tokens = estimateTokens(view.text)) {
      chars = Math.max(LEAST_CHARS, Math.floor(chars * Math.min(0.9, maxTokens / tokens)));
      view = show(layout, format, input, { ...how, maxItemChars: chars, tight: true });
    }
    return view;
  };

/** The minimum number of characters of a shown item's text, even if the budget is smaller. */
const LEAST_CHARS = 40;

const charsIn = (lines: readonly Line[], maxItemChars: number): number =>
  lines
    .flatMap((line) => [...line.messages, line.rendered ?? '', line.instruction ?? '', dataText(line, maxItemChars)])
    .reduce((sum, text) => sum + text.length, 0);

function show(layout: Layout, format: LayoutName, input: ViewInput, how: How): SentView {
  const { lines, rest, mark, tellMark } = input;
  const items = lines.map((line) => ({
    ids: line.ids,
    text: line.sent ?? layout.item(line, how, lines.length === 1),
    ...(isRepeated(line) ? { repeated: true as const } : {}),
  }));
  const repeated = lines.filter(isRepeated).length;
  const more = restOf(rest, input);
  const page: Page = {
    mark,
    lead: leadOf(lines, rest) + (tellMark ? MEANING_OF_MARK : ''),
    asks: lines.some(
      (line) =>
        line.person !== undefined || line.sender !== undefined || line.action !== undefined || line.instruction !== undefined,
    ),
    repeated: repeated === 0 ? undefined : repeated === lines.length ? 'all' : 'some',
    items: lines.map((line, at) => {
      const about = { source: line.kind.source, name: line.kind.name, level: line.level };
      const text = items[at]?.text ?? '';
      return { about, text: line.sent === undefined || layout.owns(text) ? text : layout.adopt(text, about) };
    }),
    more: more === undefined ? undefined : { text: more, count: totalOf(rest) },
  };
  const text = lines.length === 0 && more === undefined ? '' : layout.page(page);
  return { format, items, text, ...(repeated > 0 ? { repeated: true as const } : {}) };
}

function signal(format: 'signal_en' | 'signal_ja', { lines, rest, pulls }: ViewInput): SentView {
  return { format, items: [], text: signalText(format, lines.length > 0 || totalOf(rest) > 0, pulls || undefined) };
}
