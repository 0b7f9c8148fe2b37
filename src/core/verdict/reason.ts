/** Describes why records ended a notification or lowered a gate, inside the sentences of Earpiece. */
import { causeIn, sayCause, type Explained } from '../cause.ts';
import { PLAN_STEPS } from '../plan.ts';
import type { GateLiftedRecord } from '../records.ts';
import { quoted } from './quoted.ts';

/** Whether the plan closed a notification, and not a person or a program. */
export const isPlanStep = (by: string): boolean => PLAN_STEPS.some((step) => step === by);

/** The end of a notification, as a closing record tells it. */
type Ended = Explained & { readonly outcome: string; readonly by: string };

/** Describes why a record closed a notification. Quotes words that others chose, and words of the plan without a cause. */
export const sayReason = ({ outcome, by, ...explained }: Ended): string =>
  said(explained, outcome === 'withdrawn' || isPlanStep(by));

/** Describes why a record lowered a gate. `expiry`: the process that ends expired interrupts. */
export const sayLift = ({ by, ...explained }: GateLiftedRecord, expiry: string): string => said(explained, by !== expiry);

function said(explained: Explained, foreign: boolean): string {
  const cause = causeIn(explained);
  if (cause !== undefined) return sayCause(cause);
  return foreign ? quoted(explained.reason) : explained.reason;
}
