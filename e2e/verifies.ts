/** How a test says which promise it proves; a typo does not compile. The ids are in `requirements.ts`. */
import { it } from 'vitest';
import { requirement, type RequirementId } from './requirements.ts';

type Ids = RequirementId | readonly RequirementId[];
type Body = () => Promise<void> | void;

/** A test of one or more promises. `detail`, where there is one, says which part of them or in which case. */
export function verifies(ids: Ids, body: Body, timeoutMs?: number): void;
export function verifies(ids: Ids, detail: string, body: Body, timeoutMs?: number): void;
export function verifies(ids: Ids, first: string | Body, second?: Body | number, third?: number): void {
  const [body, timeoutMs] = typeof first === 'string' ? [second as Body, third] : [first, second as number | undefined];
  it(promise(ids, typeof first === 'string' ? first : undefined), body, timeoutMs);
}

/** The title for a `describe` or a `test.each` whose tests prove these promises together. */
export function promise(ids: Ids, detail?: string): string {
  const all = typeof ids === 'string' ? [ids] : ids;
  for (const id of all) {
    const { deferred } = requirement(id);
    if (deferred !== undefined) throw new Error(`${id} is deferred (${deferred}); if this test proves it, take that out`);
  }
  return `[${all.join(' ')}] ${detail ?? all.map((id) => requirement(id).behaviour).join(' ')}`;
}
