/**
 * Named points at each write boundary, where a test can kill the process (`EARPIECE_FAULT=point:n`). The points do nothing until
 * an entry point of the program or a test arms them.
 */
export const FAULT_POINTS = [
  'append.begun',
  'append.record_written',
  'append.items_written',
  'append.committed',
  'touch.committed',
  'withhold.committed',
  'prune.begun',
  'prune.committed',
  'migrate.begun',
  'migrate.step',
  'migrate.committed',
  'queue.checked',
  'queue.acknowledged',
  'fan_out.intent',
  'fan_out.queued',
  'offer.planned',
  'offer.appended',
  'carrier.before_bytes',
  'carrier.after_bytes',
  'confirm.before',
  'confirm.after',
  'release.before',
] as const;

/** The write boundaries in an agent's loop. */
export const AGENT_FAULT_POINTS = ['agent.request', 'agent.tool_landing', 'agent.carried'] as const;

/** The write boundaries of a follower, such as the follower of a pull request, while it checks and reports. */
export const FOLLOW_FAULT_POINTS = ['follow.looked', 'follow.planned', 'follow.told', 'follow.kept'] as const;
/** The write boundaries while a follower is removed. */
export const UNFOLLOW_FAULT_POINTS = ['unfollow.begun', 'unfollow.withdrawn', 'unfollow.forgotten'] as const;

/** The write boundaries of an archive. */
export const ARCHIVE_FAULT_POINTS = ['archive.written', 'archive.claimed', 'archive.named'] as const;

/** The steps of `earpiece migrate`. */
export const MOVE_FAULT_POINTS = [
  'move.target_marked',
  'move.source_marked',
  'move.written',
  'move.page',
  'move.rows',
  'move.compared',
  'move.source_done',
] as const;

export type FaultPoint =
  | (typeof FAULT_POINTS)[number]
  | (typeof ARCHIVE_FAULT_POINTS)[number]
  | (typeof MOVE_FAULT_POINTS)[number]
  | (typeof AGENT_FAULT_POINTS)[number]
  | (typeof FOLLOW_FAULT_POINTS)[number]
  | (typeof UNFOLLOW_FAULT_POINTS)[number];

let trip: ((point: FaultPoint) => void) | undefined;

/** Marks a boundary. Does nothing while no fault is armed. */
export function fault(point: FaultPoint): void {
  trip?.(point);
}

/** Sets the action at each point, for entry points and tests. Undefined disarms all points. */
export function armFaults(onPoint: ((point: FaultPoint) => void) | undefined): void {
  trip = onPoint;
}
