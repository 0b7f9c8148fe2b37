/** Checks the rules for a talk after any number of kills. Returns one line for each broken rule. */
import { isType, type Draft } from '../../../src/core/records.ts';
import type { Recorded } from '../../model/tap.ts';
import { textsOf } from '../../model/texts.ts';
import { validate } from '../../wire/validate.ts';
import { changes } from '../prefix.ts';

export type Lived = {
  readonly records: readonly Draft[];
  /** The requests of all processes, in the order of their arrival. */
  readonly requests: readonly Recorded[];
  /** The ids of the notifications that were acknowledged to their producers. The message of each is its id and a full stop. */
  readonly queued: readonly string[];
};

export function problemsOf({ records, requests, queued }: Lived): readonly string[] {
  return [
    ...delivered(records, queued),
    ...paired(records),
    ...read(requests.at(-1), queued),
    ...changes(requests).map(
      (change) => `request ${change.to + 1} has part ${change.at} otherwise: ${change.was} → ${change.is}`,
    ),
    ...requests.flatMap((request) => validate(request).map(({ rule, what }) => `request ${request.n} breaks ${rule}: ${what}`)),
  ];
}

function delivered(records: readonly Draft[], queued: readonly string[]): string[] {
  const times = countOf(
    records.flatMap((record) =>
      isType(record, 'chat_request') || isType(record, 'tool_call_response')
        ? (record.notifications ?? []).map(({ id }) => id)
        : [],
    ),
  );
  return queued.flatMap((id) => (times.get(id) === 1 ? [] : [`${id} is ${times.get(id) ?? 0} times in the transcript`]));
}

function paired(records: readonly Draft[]): string[] {
  const calls = countOf(records.flatMap((record) => (isType(record, 'tool_call_request') ? [record.id] : [])));
  const results = countOf(records.flatMap((record) => (isType(record, 'tool_call_response') ? [record.id] : [])));
  return [...new Set([...calls.keys(), ...results.keys()])].flatMap((id) =>
    calls.get(id) === 1 && results.get(id) === 1
      ? []
      : [`${id} is called ${calls.get(id) ?? 0} and answered ${results.get(id) ?? 0} times`],
  );
}

function read(last: Recorded | undefined, queued: readonly string[]): string[] {
  const all =
    last === undefined
      ? ''
      : textsOf(last)
          .map(({ text }) => text)
          .join('\n');
  return queued.flatMap((id) => {
    const times = all.split(`${id}.`).length - 1;
    return times === 1 ? [] : [`the model reads ${id} ${times} times`];
  });
}

function countOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const id of ids) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
}
