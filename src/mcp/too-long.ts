/** Frames that are too long to hold. */
import { MAX_FRAME_BYTES } from './frames/framing.ts';

export function tooLongMessage(who: string, bytes: number): string {
  const mib = (count: number): string => `${Math.round(count / 1024 / 1024)} MiB`;
  return `${who} sent a frame of ${mib(bytes)}; more than ${mib(MAX_FRAME_BYTES)} is not passed on`;
}

/** The id of a frame of which only the ends are left: it stands at one of them with the SDKs we know. */
export function idIn(head: Buffer, tail: Buffer): string | undefined {
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/;
  const start = head.toString('latin1');
  // Inside params or result an "id" is somebody else's.
  const first = id.exec(start.split(/"(?:params|result|error)"/)[0]!);
  return first?.[1] ?? /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*\}\s*$/.exec(tail.toString('latin1'))?.[1];
}
