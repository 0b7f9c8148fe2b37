/**
 * Distinguishes errors with the same message in one file. An error keeps its key when lines above it are added or removed. Two
 * errors at different places of one build have different keys.
 */
import { fingerprintOf, placeOf, type Problem } from './problem.ts';

/** A problem at its place. `text` is the line of the file, and `made` is the stamp of the file when the problem was printed. */
export type Occurrence = { readonly problem: Problem; readonly text?: string; readonly made?: string };

type Known = ReadonlyMap<string, Occurrence>;

/**
 * Returns the key of a problem. `round` contains the problems of this round, and `open` also contains open problems of earlier
 * rounds. `has` says whether the file still has a line.
 */
export function keyOf(found: Occurrence, round: Known, open: Known, has: (line: string) => boolean): string {
  const base = fingerprintOf(found.problem);
  // A failing test has one problem, which its name identifies.
  if (found.problem.test !== undefined || found.problem.line === undefined) return base;
  const place = placeOf(found.problem);
  const isHere = ({ problem }: Occurrence): boolean => placeOf(problem) === place;
  // A problem with another stamp of the file is from an earlier build, even if the tool does not show where its rounds begin.
  const isNow = ([, each]: readonly [string, Occurrence]): boolean => each.made === found.made;
  const isAlike = ([key]: readonly [string, Occurrence]): boolean => key === base || key.startsWith(`${base}${SEPARATOR}`);
  const now = [...round].filter(isAlike).filter(isNow);
  const repeated = now.find(([, each]) => isHere(each));
  if (repeated !== undefined) return repeated[0];
  const taken = new Set(now.map(([key]) => key));
  const alike = [...open].filter(isAlike);
  const free = alike.filter(([key]) => !taken.has(key));
  const sameText = free.filter(([, { text }]) => text !== undefined && text === found.text);
  const known =
    sameText.find(([, each]) => isHere(each)) ??
    sameText[0] ??
    // The line of the earlier problem was edited, and still has the problem.
    free.find(([, each]) => isHere(each) && (each.text === undefined || found.text === undefined || !has(each.text))) ??
    (found.text === undefined ? free[0] : undefined);
  if (known !== undefined) return known[0];
  const used = new Set([...taken, ...alike.map(([key]) => key)]);
  for (let n = 1; ; n++) {
    const key = n === 1 ? base : `${base}${SEPARATOR}${n}`;
    if (!used.has(key)) return key;
  }
}

const SEPARATOR = '\0#';
