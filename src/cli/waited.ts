/** Says how a wait for a receipt ended, in the same words for the local database and for a server. */
import { formatDuration } from '../config/index.ts';
import type { Receipt, ReceiptName } from '../core/receipts.ts';
import type { ReceiptState } from '../inbox/index.ts';
import { EXIT } from './exit.ts';
import { plain } from './terminal.ts';

export type Waited = { readonly receipt: Receipt; readonly code: number; readonly said: string };

/** Formats the result of a wait. `state` is undefined if no agent has the notification. */
export function waited(
  state: ReceiptState | undefined,
  { until, timeoutMs }: { readonly until: ReceiptName; readonly timeoutMs: number },
): Waited {
  if (state === undefined)
    return { receipt: 'queued', code: EXIT.waited.code, said: `; not ${until}: no agent has the notification yet` };
  const { receipt, reached, settled } = state;
  if (reached) return { receipt: until, code: EXIT.ok.code, said: `; ${until}` };
  if (settled) return { receipt, code: EXIT.ended.code, said: `; the notification ended as ${plain(receipt)}, not ${until}` };
  return {
    receipt,
    code: EXIT.waited.code,
    said: `; not ${until} within ${formatDuration(timeoutMs)}: the notification is ${receipt === 'queued' ? 'still waiting' : plain(receipt)}`,
  };
}
