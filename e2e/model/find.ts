import type { Recorded } from './tap.ts';
import { textsOf, type Text } from './texts.ts';

/** One text of a request that contains a marker. */
export interface Place extends Omit<Text, 'text'> {
  readonly times: number;
  /** The text's position among the tool results, in words. */
  readonly relation: string;
}

export interface Found {
  readonly marker: string;
  /** The index of the first request with the marker, or -1. */
  readonly first: number;
  /** The number of times that the model reads the marker, for each request. */
  readonly counts: readonly number[];
  readonly inLast: number;
  /** The places of the marker in the last request. */
  readonly places: readonly Place[];
}

/** Returns the places of a marker in a conversation. `requests` are all requests of the conversation, in order. */
export function find(requests: readonly Recorded[], marker: string): Found {
  const perRequest = requests.map((request) => locate(request, marker));
  const counts = perRequest.map((places) => places.reduce((sum, place) => sum + place.times, 0));
  return {
    marker,
    first: counts.findIndex((count) => count > 0),
    counts,
    inLast: counts.at(-1) ?? 0,
    places: perRequest.at(-1) ?? [],
  };
}

export const describePlace = (place: Place | undefined): string =>
  place
    ? `message ${place.message} ${place.role}/${place.type}[${place.part}]${place.path && `.${place.path}`}, ${place.relation}`
    : 'absent';

function locate(request: Recorded, marker: string): readonly Place[] {
  const texts = textsOf(request);
  const results = texts.filter((text) => text.result);
  return texts.flatMap((entry) => {
    const times = entry.text.split(marker).length - 1;
    if (!times) return [];
    const { text: _text, ...place } = entry;
    return [{ ...place, times, relation: relationOf(entry, results) }];
  });
}

function relationOf(entry: Text, results: readonly Text[]): string {
  if (entry.result) return `inside result ${entry.result.no} (${entry.result.tool || entry.result.id})`;
  const before = results.findLast((other) => isBefore(other, entry));
  const after = results.find((other) => isBefore(entry, other));
  const words = [
    before?.result && `after result ${before.result.no} by ${entry.message - before.message} messages`,
    after?.result && `before result ${after.result.no} by ${after.message - entry.message} messages`,
  ].filter(Boolean);
  return words.join(', ') || 'no tool result yet';
}

const isBefore = (a: Text, b: Text): boolean => a.message < b.message || (a.message === b.message && a.part < b.part);
