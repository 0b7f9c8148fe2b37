/** The contact points at which each moment is due, at a host that may lack some of them. */
import { isInterrupt, type Deliver, type Notification } from './notification.ts';
import type { ContactPoint } from './records.ts';

export const AFTER_A_TOOL: readonly ContactPoint[] = ['tool_result', 'tool_batch_end'];

type Moment = Exclude<Deliver, object>;

const DUE_AT: Readonly<Record<Moment, readonly ContactPoint[] | 'any'>> = {
  next: 'any',
  now: 'any',
  after_tool: AFTER_A_TOOL,
  // A carrier at the end of a turn, or for an idle agent, begins a cycle.
  next_cycle: ['cycle_start', 'tool_batch_end', 'turn_start', 'turn_end', 'idle', 'forced'],
  cycle_end: ['tool_batch_end', 'turn_end', 'idle'],
  turn_start: ['turn_start'],
  turn_end: ['turn_end', 'idle'],
};

/**
 * The last contact points before a request to the model. In a host without these contact points, the last message before the next
 * request is a tool's result.
 */
const BEFORE_A_REQUEST: readonly ContactPoint[] = ['cycle_start', 'tool_batch_end'];

/**
 * Whether the moment is due at this contact point. `points`: all contact points of the host. The list is empty if the contact
 * points are unknown. Nothing waits for a contact point that the host lacks.
 */
export function isDueAt(moment: Moment, point: ContactPoint, points: readonly ContactPoint[]): boolean {
  const due = DUE_AT[moment];
  if (due === 'any' || due.includes(point) || !hasOneOf(points, due)) return true;
  return moment === 'next_cycle' && point === 'tool_result' && !hasOneOf(points, BEFORE_A_REQUEST);
}

/** Whether the host has one of these contact points. True if the host's contact points are unknown. */
export const hasOneOf = (points: readonly ContactPoint[], some: readonly ContactPoint[]): boolean =>
  points.length === 0 || some.some((point) => points.includes(point));

/**
 * Whether the notification was queued for a later time or turn. A newer state replaces such a state at once. Any other state is
 * replaced only when the newer state is due. Otherwise, the older state would be lost if the newer state ends before its time.
 */
export const isScheduled = (notification: Notification): boolean => {
  const { deliver, level } = notification;
  if (typeof deliver !== 'object' || level === 'critical' || isInterrupt(notification)) return false;
  return 'at' in deliver || 'afterTurns' in deliver;
};
