/** Explains a frame that is too long to pass on, and finds its id. */
import { MAX_FRAME_BYTES } from './frames/framing.ts';

export function tooLongMessage(who: string, bytes: number): string {
  const mib = (count: number): string => `${Math.round(count / 1024 / 1024)} MiB`;
  return `${who} sent a frame of ${mib(bytes)}; frames above ${mib(MAX_FRAME_BYTES)} are not passed on; use smaller requests`;
}

/** Finds the id of a frame whose middle was dropped. The known SDKs write the id near the beginning or the end of a frame. */
export function idIn(head: Buffer, tail: Buffer): string | undefined {
  const id = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)/;
  const start = head.toString('latin1');
  // An "id" inside params or result belongs to another value.
  const first = id.exec(start.split(/"(?:params|result|error)"/)[0]!);
  return first?.[1] ?? /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*\}\s*$/.exec(tail.toString('latin1'))?.[1];
}
