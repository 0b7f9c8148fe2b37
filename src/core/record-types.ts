/** The types of the records that Earpiece writes. Only an imported log, or a log of a newer version, has records of other types. */
import { didYouMean } from './errors.ts';

export const RECORD_TYPES = [
  'system_notification_queued',
  'system_notification_folded',
  'carrier_offered',
  'carrier_confirmed',
  'carrier_released',
  'carrier_redacted',
  'notification_observed',
  'notification_read',
  'notification_closed',
  'notification_extended',
  'gate_refused',
  'gate_lifted',
  'fan_out',
  'fan_out_part',
  'fan_out_done',
  'conversation_forked',
  'conversation_succeeded',
  'conversation_imported',
  'turn_start',
  'chat_request',
  'chat_response',
  'tool_call_request',
  'tool_call_response',
  'compaction',
  'config_delta',
  'files_known',
  'inquiry_request',
  'inquiry_response',
  'handle_spawned',
  'handle_state',
  'handle_ended',
  'agent_woken',
  'agent_stopped',
  'agent_failed',
  'agent_forgotten',
  'task_created',
  'task_edited',
  'task_assigned',
  'task_received',
  'task_status_changed',
  'task_execution_started',
  'task_execution_taken',
  'task_execution_interrupted',
  'task_execution_recalled',
  'task_execution_continued',
  'task_execution_ended',
  'notifications_muted',
  'notifications_unmuted',
  'subscriber_disabled',
  'subscriber_enabled',
  'template_failed',
  'positions_skipped',
] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** Describes the error in a list of record types. Returns undefined if every type exists. */
export function recordTypesProblem(types: readonly string[]): string | undefined {
  if (types.length === 0) return 'the list is empty; name a record type, or leave the list out to get all records';
  const wrong = types.find((type) => !(RECORD_TYPES as readonly string[]).includes(type));
  if (wrong === undefined) return undefined;
  const near = didYouMean(wrong, RECORD_TYPES);
  const way = near === undefined ? `the record types are ${RECORD_TYPES.join(', ')}` : `did you mean ${JSON.stringify(near)}?`;
  return `${JSON.stringify(wrong.slice(0, 80))} is not a record type; ${way}`;
}
