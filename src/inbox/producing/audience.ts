import type { LogKey } from '../../core/address.ts';
import type { Notification } from '../../core/notification.ts';
import type { Presence } from '../../core/ports.ts';
import type { Context } from '../context.ts';
import { activeOnes } from '../presence/presence.ts';

/** Returns the active conversations that may take a notification: those of its purpose, and those without a purpose. */
export async function audienceOf(
  context: Context,
  query: { readonly project?: string; readonly log?: LogKey },
  { purpose }: Pick<Notification, 'purpose'>,
): Promise<readonly Presence[]> {
  const active = await activeOnes(context, query);
  return active.filter((p) => purpose === undefined || p.purpose === undefined || p.purpose === purpose);
}
