/** Marks the promises that a test proves. A wrong id does not compile. The ids are in `requirements.ts`. */
import { it } from 'vitest';
import { REQUIREMENTS, type RequirementId } from './requirements.ts';

type Body = () => Promise<void> | void;

/** Registers a test of one promise. An optional `detail` names the part or the case. */
export function verifies(id: RequirementId, body: Body, timeoutMs?: number): void;
export function verifies(id: RequirementId, detail: string, body: Body, timeoutMs?: number): void;
export function verifies(id: RequirementId, first: string | Body, second?: Body | number, third?: number): void {
  proves(id);
  const [detail, body, timeoutMs] =
    typeof first === 'string'
      ? [first, second as Body, third]
      : [REQUIREMENTS[id].behaviour, first, second as number | undefined];
  it(`[${id}] ${detail}`, body, timeoutMs);
}

/**
 * Records that a test proves these promises. The call is the first line of the test, or of a `describe` whose tests prove these
 * promises together.
 */
export function proves(...ids: readonly RequirementId[]): void {
  for (const id of ids) if (!(id in REQUIREMENTS)) throw new Error(`${id} is no promise of e2e/requirements.ts`);
}
