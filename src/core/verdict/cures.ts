import type { NotificationId } from '../notification.ts';
import type { Verdict } from './kinds.ts';

/** An action of a person: one button in the console and, except for `mark_read`, one command in the CLI. */
export type Cure =
  | { readonly kind: 'unmute'; readonly log: string; readonly pattern: string }
  | { readonly kind: 'resume'; readonly log: string }
  | { readonly kind: 'requeue'; readonly log: string; readonly id: NotificationId }
  | { readonly kind: 'setting'; readonly key: string }
  | { readonly kind: 'mark_read'; readonly log: string; readonly id: NotificationId }
  | { readonly kind: 'withdraw'; readonly log: string; readonly id: NotificationId }
  /** Shows the history of the notification that causes the verdict. */
  | { readonly kind: 'show'; readonly log: string; readonly id: NotificationId }
  | { readonly kind: 'connect' };

export function curesOf(verdict: Verdict, { log, id }: { readonly log: string; readonly id: NotificationId }): readonly Cure[] {
  switch (verdict.kind) {
    case 'muted':
      return [
        ...(verdict.holds ? [{ kind: 'unmute', log, pattern: verdict.pattern } as const] : []),
        ...(verdict.over ? [{ kind: 'requeue', log, id } as const] : []),
      ];
    case 'filtered':
      return [
        ...(verdict.key === null ? [] : [{ kind: 'setting', key: verdict.key } as const]),
        ...(verdict.over ? [{ kind: 'requeue', log, id } as const] : []),
      ];
    case 'paused':
      return [
        { kind: 'resume', log },
        { kind: 'show', log, id: verdict.id },
      ];
    case 'gate':
      return verdict.action === 'pause'
        ? [{ kind: 'resume', log }]
        : [
            { kind: 'mark_read', log, id },
            { kind: 'withdraw', log, id },
          ];
    case 'behind_gate':
      return [
        { kind: 'show', log, id: verdict.id },
        { kind: 'withdraw', log, id: verdict.id },
      ];
    case 'budget':
      return verdict.cause.kind === 'max_items' || verdict.cause.kind === 'max_tokens'
        ? [{ kind: 'setting', key: `budget.${verdict.cause.kind}` }]
        : [];
    case 'superseded':
      return verdict.by === null ? [] : [{ kind: 'show', log, id: verdict.by }];
    case 'folded':
      return verdict.into === null ? [] : [{ kind: 'show', log, id: verdict.into }];
    case 'expired':
      return !verdict.over || verdict.held !== undefined ? [] : [{ kind: 'requeue', log, id }];
    case 'withdrawn':
    case 'known':
    case 'dropped':
    case 'left_out':
      return 'over' in verdict && !verdict.over ? [] : [{ kind: 'requeue', log, id }];
    case 'never_carried':
      return [log.endsWith('/*') ? { kind: 'withdraw', log, id } : { kind: 'connect' }];
    case 'away':
      if (verdict.goesOn !== undefined) return [{ kind: 'withdraw', log, id }];
      return verdict.wrappedOnly ? [{ kind: 'connect' }] : [];
    case 'due':
      return verdict.wrappedOnly ? [{ kind: 'connect' }] : [];
    case 'other_purpose':
    case 'moment':
      return [{ kind: 'withdraw', log, id }];
    case 'offered':
    case 'delivered':
    case 'summarized':
    case 'passed_on':
      return [];
    default:
      return verdict satisfies never;
  }
}
