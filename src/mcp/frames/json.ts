/**
 * Finds positions in JSON bytes. Parsing and printing would change the bytes (1.0, big integers, duplicate keys, escapes,
 * order). So the gateway finds byte ranges, and changes only these ranges.
 *
 * The search skips strings, so it does not detect a broken escape. A check of each byte in JavaScript would cost more than the
 * rest of a call. Before bytes are changed, `isJson` checks the whole document.
 */
/** The bytes from `start` to `end`, without the byte at `end`. */
export type Range = { readonly start: number; readonly end: number };

/** One `"key": value`. The range of the value excludes the white space around it. The range of the key includes its quotes. */
export type Member = Range & { readonly keyStart: number; readonly keyEnd: number };

/** An object or array with its brackets, and its entries in their order. */
export type ObjectAt = Range & { readonly members: readonly Member[] };
export type ArrayAt = Range & { readonly elements: readonly Range[] };

/** Whether `JSON.parse` accepts the bytes as one value. Strings need not be valid UTF-8, because they are not changed. */
export function isJson(json: Buffer): boolean {
  try {
    JSON.parse(json.toString('latin1'));
    return true;
  } catch {
    return false;
  }
}

/** Returns the object that starts at `start`. Undefined if there is no object, or if it is malformed. */
export function objectAt(json: Buffer, start: number): ObjectAt | undefined {
  if (json[start] !== OPEN_BRACE) return undefined;
  const members: Member[] = [];
  let at = skipSpace(json, start + 1);
  if (json[at] === CLOSE_BRACE) return { start, end: at + 1, members };
  for (;;) {
    const keyEnd = skipString(json, at);
    if (keyEnd === -1) return undefined;
    const colon = skipSpace(json, keyEnd);
    if (json[colon] !== COLON) return undefined;
    const valueStart = skipSpace(json, colon + 1);
    const valueEnd = skipValue(json, valueStart);
    if (valueEnd === -1) return undefined;
    members.push({ keyStart: at, keyEnd, start: valueStart, end: valueEnd });
    at = skipSpace(json, valueEnd);
    if (json[at] === CLOSE_BRACE) return { start, end: at + 1, members };
    if (json[at] !== COMMA) return undefined;
    at = skipSpace(json, at + 1);
  }
}

/** Returns the array that starts at `start`. Undefined if there is no array, or if it is malformed. */
export function arrayAt(json: Buffer, start: number): ArrayAt | undefined {
  if (json[start] !== OPEN_BRACKET) return undefined;
  const elements: Range[] = [];
  let at = skipSpace(json, start + 1);
  if (json[at] === CLOSE_BRACKET) return { start, end: at + 1, elements };
  for (;;) {
    const end = skipValue(json, at);
    if (end === -1) return undefined;
    elements.push({ start: at, end });
    at = skipSpace(json, end);
    if (json[at] === CLOSE_BRACKET) return { start, end: at + 1, elements };
    if (json[at] !== COMMA) return undefined;
    at = skipSpace(json, at + 1);
  }
}

/** Returns the value of a member. If several members have the name, the last member counts, as with `JSON.parse`. */
export function member(json: Buffer, object: ObjectAt, name: string): Range | undefined {
  for (let index = object.members.length - 1; index >= 0; index -= 1) {
    const candidate = object.members[index]!;
    if (keyIs(json, candidate, name)) return candidate;
  }
  return undefined;
}

/** Returns the value at a path of member names below the object that starts at `start`. */
export function valueAt(json: Buffer, start: number, path: readonly string[]): Range | undefined {
  let range: Range | undefined = { start, end: start };
  for (const name of path) {
    const object: ObjectAt | undefined = objectAt(json, range.start);
    range = object && member(json, object, name);
    if (range === undefined) return undefined;
  }
  return range;
}

export function textOf(json: Buffer, range: Range): string {
  return json.toString('utf8', range.start, range.end);
}

/** Returns the string at a range. Undefined if the range contains another value. */
export function stringAt(json: Buffer, range: Range | undefined): string | undefined {
  if (range === undefined || json[range.start] !== QUOTE) return undefined;
  const inner = json.toString('utf8', range.start + 1, range.end - 1);
  if (!inner.includes('\\')) return inner;
  const text = parsed(json, range);
  return typeof text === 'string' ? text : undefined;
}

/** Returns the value at a range, as far as JavaScript can represent the value. Undefined if the bytes are malformed. */
export function parsed(json: Buffer, range: Range): unknown {
  try {
    return JSON.parse(textOf(json, range)) as unknown;
  } catch {
    return undefined;
  }
}

export function isObject(json: Buffer, range: Range): boolean {
  return json[range.start] === OPEN_BRACE;
}

/** An edit that replaces the bytes of `at`, or inserts if `at` is empty. */
export type Edit = { readonly at: Range; readonly put: string | Buffer };

export function insert(position: number, put: string | Buffer): Edit {
  return { at: { start: position, end: position }, put };
}

/**
 * Returns `json` with all edits applied. The edits must not overlap. Insertions at the same position are applied in the given
 * order.
 */
export function edited(json: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return json;
  const ordered = edits.toSorted((a, b) => a.at.start - b.at.start || a.at.end - b.at.end);
  const parts: Buffer[] = [];
  let from = 0;
  for (const { at, put } of ordered) {
    if (at.start < from) throw new Error(`edits overlap at byte ${at.start}`);
    parts.push(json.subarray(from, at.start), typeof put === 'string' ? Buffer.from(put) : put);
    from = at.end;
  }
  parts.push(json.subarray(from));
  return Buffer.concat(parts);
}

/** Makes the edit that adds a member after the last member. */
export function addMember(object: ObjectAt, name: string, value: string): Edit {
  const last = object.members.at(-1);
  const entry = `${JSON.stringify(name)}:${value}`;
  return last === undefined ? insert(object.start + 1, entry) : insert(last.end, `,${entry}`);
}

/** Makes the edit that adds elements after the last element. */
export function addElements(array: ArrayAt, values: readonly string[]): Edit {
  const last = array.elements.at(-1);
  const text = values.join(',');
  return last === undefined ? insert(array.start + 1, text) : insert(last.end, `,${text}`);
}

/** Makes the edits that remove every member of that name, each with one comma. */
export function removeMembers(json: Buffer, object: ObjectAt, name: string): Edit[] {
  const kept = object.members.filter((candidate) => !keyIs(json, candidate, name));
  if (kept.length === object.members.length) return [];
  const first = kept[0];
  if (first === undefined) return [{ at: { start: object.start + 1, end: object.end - 1 }, put: '' }];
  const edits: Edit[] = [];
  const firstKept = object.members.indexOf(first);
  if (firstKept > 0) edits.push({ at: { start: object.members[0]!.keyStart, end: first.keyStart }, put: '' });
  for (let index = firstKept + 1; index < object.members.length; index += 1) {
    const one = object.members[index]!;
    if (keyIs(json, one, name)) edits.push({ at: { start: object.members[index - 1]!.end, end: one.end }, put: '' });
  }
  return edits;
}

function keyIs(json: Buffer, { keyStart, keyEnd }: Member, name: string): boolean {
  const length = keyEnd - keyStart - 2;
  if (length === name.length) {
    let index = 0;
    while (index < length && json[keyStart + 1 + index] === name.charCodeAt(index)) index += 1;
    if (index === length) return true;
  }
  // A longer spelling can have the same meaning, because it has escapes or because the name is not ASCII. Only such names are
  // decoded.
  return length > name.length && stringAt(json, { start: keyStart, end: keyEnd }) === name;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

export function skipSpace(json: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = json[at];
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
    at += 1;
  }
}

/** Returns the end of the value that starts at `from`, or -1. */
export function skipValue(json: Buffer, from: number): number {
  const byte = json[from];
  return byte === OPEN_BRACE || byte === OPEN_BRACKET ? skipContainer(json, from) : skipScalar(json, from);
}

/**
 * Returns the end of an object or array, or -1. Uses an explicit stack, because a frame of a million brackets would overflow the
 * call stack.
 */
function skipContainer(json: Buffer, from: number): number {
  const open: number[] = [];
  let at = from;
  for (;;) {
    const byte = json[at];
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const inside = skipSpace(json, at + 1);
      if (json[inside] !== byte + 2) {
        open.push(byte);
        at = byte === OPEN_BRACE ? skipKey(json, inside) : inside;
        if (at === -1) return -1;
        continue;
      }
      at = inside + 1;
    } else {
      at = skipScalar(json, at);
      if (at === -1) return -1;
    }
    // At the end of a value, the loop closes the containers that end here, or continues after a comma.
    for (;;) {
      const container = open.at(-1);
      if (container === undefined) return at;
      at = skipSpace(json, at);
      if (json[at] === COMMA) {
        at = skipSpace(json, at + 1);
        if (container === OPEN_BRACE) at = skipKey(json, at);
        if (at === -1) return -1;
        break;
      }
      if (json[at] !== container + 2) return -1;
      open.pop();
      at += 1;
    }
  }
}

/** Returns the start of the value that follows the key at `from`, or -1. */
function skipKey(json: Buffer, from: number): number {
  const end = skipString(json, from);
  if (end === -1) return -1;
  const colon = skipSpace(json, end);
  return json[colon] === COLON ? skipSpace(json, colon + 1) : -1;
}

function skipScalar(json: Buffer, from: number): number {
  switch (json[from]) {
    case QUOTE:
      return skipString(json, from);
    case 0x74:
      return skipWord(json, from, 'true');
    case 0x66:
      return skipWord(json, from, 'false');
    case 0x6e:
      return skipWord(json, from, 'null');
    // NaN and Infinity are not JSON, but Python writes and reads them. For Python, a frame with such a value is a valid call or
    // answer.
    case 0x4e:
      return skipWord(json, from, 'NaN');
    case 0x49:
      return skipWord(json, from, 'Infinity');
    case undefined:
      return -1;
    default:
      return skipNumber(json, from);
  }
}

function skipWord(json: Buffer, from: number, word: string): number {
  for (let index = 0; index < word.length; index += 1) {
    if (json[from + index] !== word.charCodeAt(index)) return -1;
  }
  return from + word.length;
}

/** How many bytes of a string are checked one by one before a search for the next quote is faster. */
const SHORT = 32;

function skipString(json: Buffer, from: number): number {
  if (json[from] !== QUOTE) return -1;
  let at = from + 1;
  for (;;) {
    for (const short = at + SHORT; at < short;) {
      const byte = json[at];
      if (byte === QUOTE) return at + 1;
      if (byte === undefined) return -1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = json.indexOf(QUOTE, at);
    if (quote === -1) return -1;
    // A quote after an odd number of backslashes is escaped. Backslashes that were skipped above do not count.
    let backslash = quote;
    while (backslash > at && json[backslash - 1] === BACKSLASH) backslash -= 1;
    if ((quote - backslash) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}

function skipNumber(json: Buffer, from: number): number {
  let at = json[from] === MINUS ? from + 1 : from;
  if (json[at] === 0x49 && at > from) return skipWord(json, at, 'Infinity');
  if (json[at] === ZERO) at += 1;
  else {
    const whole = skipDigits(json, at);
    if (whole === at) return -1;
    at = whole;
  }
  if (json[at] === DOT) {
    const fraction = skipDigits(json, at + 1);
    if (fraction === at + 1) return -1;
    at = fraction;
  }
  if (json[at] === 0x65 || json[at] === 0x45) {
    const signed = json[at + 1] === 0x2b || json[at + 1] === MINUS ? at + 2 : at + 1;
    const exponent = skipDigits(json, signed);
    if (exponent === signed) return -1;
    at = exponent;
  }
  return at;
}

function skipDigits(json: Buffer, from: number): number {
  let at = from;
  for (;;) {
    const byte = json[at];
    if (byte === undefined || byte < ZERO || byte > NINE) return at;
    at += 1;
  }
}
