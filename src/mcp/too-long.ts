/** Frames that are too long to hold. */
import { MAX_FRAME_BYTES } from './frames/framing.ts';

export function tooLongMessage(who: string, bytes: number): string {
  const mib = (count: number): string => `${Math.round(count / 1024 / 1024)} MiB`;
  return `${who} sent a frame of ${mib(bytes)}; more than ${mib(MAX_FRAME_BYTES)} is not passed on`;
}

/** The id of a frame whose middle was dropped: with the known SDKs, the id is near one of its ends. */
export function idIn(head: Buffer, tail: Buffer): string | undefined {
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/;
  const start = head.toString('latin1');
  // Inside params or result, an "id" belongs to something else.
  const first = id.exec(start.split(/"(?:params|result|error)"/)[0]!);
  return first?.[1] ?? /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*\}\s*$/.exec(tail.toString('latin1'))?.[1];
}
