/** Reads the text that a model was shown: the frames of notifications in tool results, and the answers of `get_notifications`. */

/** Matches the nonce that each message of the storm contains. No upstream server writes a nonce. */
export const NONCE = /nonce-[0-9a-f]{12}/g;

export const noncesIn = (text: string): string[] => [...new Set(text.match(NONCE) ?? [])];

/** One item of a frame, with one or more notifications. */
export type FrameItem = { readonly nonces: readonly string[]; readonly text: string; readonly level: string | undefined };

export type Frame = {
  readonly mark: string;
  readonly items: readonly FrameItem[];
  /** The number of notifications that the frame's first line states. `lists` is the number of listed notifications. */
  readonly says: number;
  readonly lists: number;
  /** The number of notifications that the first line marks as repeated. */
  readonly repeated: number;
  readonly refusal: boolean;
  readonly text: string;
};

const OPENING =
  /^\[ep ([^\]\s]+)\] (?:(this call was not made, an interrupt came first): )?(\d+) notifications?(?:, (?:(\d+) )?(repeated))?/;
const ITEM = /^\S+ (info|warning|error|critical)[:,] /;
const REFUSED = /^\[ep [^\]\s]+\] this call was not made/;

/** Returns the frame in this text, or the reason why the text is not a frame. */
export function frameOf(text: string): Frame | string {
  const opened = OPENING.exec(text);
  if (opened === null) return `the first line is no frame: ${JSON.stringify(text.slice(0, 100))}`;
  const [, mark = '', refused, count = '0', someRepeated, repeated] = opened;
  const lines = text.split('\n');
  const last = lines.pop();
  if (last !== `[/ep ${mark}]`) return `the frame does not end with its mark: ${JSON.stringify(last?.slice(0, 100))}`;
  const items: string[] = [];
  for (const line of lines.slice(1)) {
    if (/^(\s|$)/.test(line) && items.length > 0) items[items.length - 1] += `\n${line}`;
    else items.push(line);
  }
  const all = Number(count);
  return {
    mark,
    items: items
      .map((item) => ({ text: item, nonces: noncesIn(item), level: ITEM.exec(item)?.[1] }))
      .filter(({ nonces }) => nonces.length > 0),
    says: all,
    lists: items.filter((item) => ITEM.test(item)).length,
    repeated: repeated === undefined ? 0 : someRepeated === undefined ? all : Number(someRepeated),
    refusal: refused !== undefined,
    text,
  };
}

export const isRefusal = (text: string): boolean => REFUSED.test(text);

/** One entry of the answer of `get_notifications`. */
export type Entry = { readonly nonce: string; readonly repeated: boolean; readonly text: string };
/** `whole` says whether the answer left no notification out. */
export type Pulled = { readonly entries: readonly Entry[]; readonly whole: boolean };

export function pulledIn(text: string): Pulled | string {
  let answer: { count?: number; more?: number; notifications?: readonly Record<string, unknown>[] };
  try {
    answer = JSON.parse(text) as typeof answer;
  } catch {
    return `get_notifications did not answer JSON: ${JSON.stringify(text.slice(0, 100))}`;
  }
  const { notifications: all, count, more = 0 } = answer;
  if (!Array.isArray(all)) return 'get_notifications answered without a list of notifications';
  if (count !== all.length) return `get_notifications says ${count} notifications and lists ${all.length}`;
  const entries = all.flatMap((entry: Record<string, unknown>) =>
    noncesIn(JSON.stringify(entry)).map((nonce) => ({
      nonce,
      repeated: entry['repeated'] === true,
      text: String(entry['message']),
    })),
  );
  return { entries, whole: more === 0 };
}
