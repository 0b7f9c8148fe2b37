/**
 * The event types, with their payloads, that Earpiece's sources or other programs around an agent usually emit. Subscribers may
 * also listen to other types. "Did you mean" hints and `docs/subscribers.md` use this table.
 */
import { didYouMean } from '../core/errors.ts';
import type { Severity } from '../core/event.ts';
import { matchesType } from './matching.ts';

export type EventType = {
  /** The default severity. */
  readonly severity: Severity;
  /** The fields of the payload. `|` separates alternative names, and `?` marks an optional field. */
  readonly payload: readonly string[];
  readonly what: string;
};

export const EVENT_TYPES = {
  // The tools of an agent.
  'tool.call.pending': { severity: 'info', payload: ['tool_name', 'call_id', 'arguments?'], what: 'a tool is called' },
  'tool.call.success': {
    severity: 'info',
    payload: ['tool_name', 'call_id', 'duration_ms?', 'result_length?', 'result_summary?'],
    what: 'a tool has answered',
  },
  'tool.call.failure': {
    severity: 'error',
    payload: ['tool_name', 'call_id', 'error_type', 'error_message', 'retry_count?', 'failures?'],
    what: 'a tool has failed',
  },
  'tool.call.timeout': {
    severity: 'warning',
    payload: ['tool_name', 'call_id', 'timeout_ms|timeout_seconds', 'error_type?', 'error_message?', 'retry_count?', 'failures?'],
    what: 'a tool has not answered in time',
  },
  'tool.batch.complete': {
    severity: 'info',
    payload: ['batch_id', 'tool_count', 'success_count', 'failure_count', 'total_duration_ms'],
    what: 'all tools of a batch have answered',
  },

  // Background tools. The event's message says what happened.
  'tool.stopped': { severity: 'info', payload: ['handle', 'tool', 'duration_ms?'], what: 'a background tool has ended' },
  'tool.waiting': {
    severity: 'warning',
    payload: ['handle', 'tool', 'question?'],
    what: 'a background tool waits for an answer',
  },
  'tool.failed': { severity: 'error', payload: ['handle', 'tool', 'duration_ms?'], what: 'a background tool has failed' },
  'tool.content': { severity: 'info', payload: ['handle', 'tool'], what: 'a background tool has new output' },
  'mcp.disconnected': { severity: 'error', payload: ['server', 'detail?'], what: 'an MCP server has disconnected' },
  'mcp.reconnected': { severity: 'info', payload: ['server'], what: 'an MCP server is connected again' },
  'subagent.complete': {
    severity: 'info',
    payload: ['task_id', 'result_summary?', 'duration_ms?', 'handle?', 'tool?'],
    what: 'a sub-agent has ended',
  },
  'subagent.failed': {
    severity: 'error',
    payload: ['task_id', 'error_message?', 'handle?', 'tool?'],
    what: 'a sub-agent has failed',
  },

  // Budgets and loops.
  'budget.token.warning': {
    severity: 'warning',
    payload: ['current', 'limit|max', 'percentage|percent', 'remaining?', 'budget_type?'],
    what: 'most of the tokens of a turn are used',
  },
  'budget.token.exceeded': {
    severity: 'critical',
    payload: ['current', 'limit|max', 'budget_type?'],
    what: 'a turn has used all its tokens',
  },
  'budget.iteration.warning': {
    severity: 'warning',
    payload: ['current', 'limit|max', 'percentage|percent', 'remaining?', 'budget_type?'],
    what: 'most of the cycles of a turn are used',
  },
  'budget.iteration.exceeded': {
    severity: 'critical',
    payload: ['current', 'limit|max', 'budget_type?'],
    what: 'a turn has used all its cycles',
  },
  'budget.timeout.warning': {
    severity: 'warning',
    payload: ['elapsed_seconds', 'limit_seconds', 'remaining_seconds'],
    what: 'most of the time of a turn is used',
  },
  'context.approaching_limit': {
    severity: 'warning',
    payload: ['current_tokens', 'max_tokens', 'percent|percentage', 'remaining_tokens'],
    what: "the model's context is nearly full",
  },
  'agent.loop.detected': {
    severity: 'warning',
    payload: ['pattern', 'repetitions|count', 'window_seconds?', 'suggestion?'],
    what: 'the agent repeats the same calls',
  },

  // The agent and its conversation.
  'agent.turn.start': { severity: 'info', payload: ['turn_number', 'session_id'], what: 'a turn begins' },
  'agent.turn.end': {
    severity: 'info',
    payload: ['turn_number', 'session_id', 'reason', 'tool_calls', 'tokens_used', 'cycles?', 'error?'],
    what: 'a turn ends',
  },
  'agent.self.notify': {
    severity: 'info',
    payload: ['message', 'category', 'priority?', 'deliver_at?', 'inject_at?', 'persist_cross_session?'],
    what: 'an agent leaves itself a note',
  },
  'agent.self.remind': {
    severity: 'info',
    payload: ['message', 'category', 'priority?', 'deliver_at?', 'inject_at?', 'persist_cross_session?'],
    what: 'an agent leaves itself a reminder',
  },
  'session.resumed': {
    severity: 'info',
    payload: ['tree_id?', 'nodes_loaded', 'last_question?'],
    what: 'an earlier conversation is resumed',
  },
  'session.end': { severity: 'info', payload: ['session_id', 'turns', 'saved'], what: 'a conversation ends' },
  'query.start': {
    severity: 'info',
    payload: ['query', 'session_id?', 'by?'],
    what: 'a turn of the built-in agent begins or continues; `query` is the beginning of its message, empty if the turn continues',
  },
  'task.checkpoint': { severity: 'info', payload: ['message', 'turn?'], what: 'a task reaches a checkpoint' },

  // The agent's surroundings.
  'source.stale': {
    severity: 'warning',
    payload: ['path', 'previous_hash?', 'current_hash?', 'project_id?'],
    what: 'a file has changed since the agent read it',
  },
  'file.changed': {
    severity: 'warning',
    payload: ['path', 'change', 'previous_hash?', 'current_hash?'],
    what: 'another program changed a file',
  },
  'file.deleted': { severity: 'warning', payload: ['path', 'change'], what: 'another program deleted a file' },
  'file.created': { severity: 'info', payload: ['path', 'change'], what: 'another program created a file' },
  'file.restored': { severity: 'info', payload: ['path'], what: 'a file has its earlier content again' },
  'git.branch_switched': {
    severity: 'warning',
    payload: ['from', 'to', 'detached?', 'by?'],
    what: 'another branch is checked out',
  },
  'git.upstream_moved': {
    severity: 'info',
    payload: ['branch', 'upstream', 'ahead', 'behind', 'commits', 'rewritten?'],
    what: 'the remote branch has moved',
  },
  'git.up_to_date': { severity: 'debug', payload: ['branch', 'upstream'], what: 'the branch has all remote commits' },
  'git.conflict': {
    severity: 'error',
    payload: ['operation', 'files', 'more?'],
    what: 'a merge, a rebase or a similar operation has conflicts',
  },
  'git.conflict_resolved': { severity: 'info', payload: [], what: 'the conflicts are resolved' },
  'config.tools_changed': { severity: 'info', payload: ['added', 'removed'], what: 'the tools have changed' },
  'config.model_changed': { severity: 'info', payload: ['from', 'to'], what: 'the model has changed' },
  'ratelimit.low': {
    severity: 'warning',
    payload: ['provider', 'limit_name', 'limit', 'remaining', 'percentage', 'reset_at?', 'reset_seconds?'],
    what: "a provider's limit is nearly used",
  },
  'ratelimit.exceeded': {
    severity: 'warning',
    payload: ['provider', 'status', 'retry_after_ms?', 'retry_after_seconds?'],
    what: 'a provider refuses requests for now',
  },
  'timer.fired': { severity: 'info', payload: ['message', 'set_at?'], what: 'a reminder is due' },
  'process.ended': {
    severity: 'info',
    payload: ['command', 'exit_code', 'duration_ms', 'last_lines', 'cwd', 'name?'],
    what: 'a command has succeeded',
  },
  'process.failed': {
    severity: 'error',
    payload: ['command', 'exit_code', 'signal?', 'timed_out?', 'duration_ms', 'last_lines', 'problems?', 'cwd', 'name?'],
    what: 'a command has failed',
  },
  'pr.check_failed': {
    severity: 'error',
    payload: ['repo', 'pr', 'check', 'commit', 'step?', 'problem?', 'lines', 'url?'],
    what: 'a check of a followed pull request has failed',
  },
  'pr.checks_passed': {
    severity: 'info',
    payload: ['repo', 'pr', 'checks', 'commit'],
    what: 'all checks of a followed pull request have passed',
  },
  'pr.review': {
    severity: 'info',
    payload: ['repo', 'pr', 'by', 'verdict', 'lines'],
    what: 'a followed pull request got a review',
  },
  'pr.comment': {
    severity: 'info',
    payload: ['repo', 'pr', 'by', 'place?'],
    what: 'a followed pull request got a comment',
  },
  'pr.conflict': {
    severity: 'warning',
    payload: ['repo', 'pr', 'base', 'commit'],
    what: 'a followed pull request conflicts with its base',
  },
  'pr.merged': { severity: 'info', payload: ['repo', 'pr', 'by?'], what: 'a followed pull request was merged' },
  'pr.closed': { severity: 'info', payload: ['repo', 'pr', 'by?'], what: 'a followed pull request was closed' },
  'pr.offered': {
    severity: 'info',
    payload: ['repo', 'pr'],
    what: 'an agent has pushed to a pull request that it does not follow',
  },
  'problem.found': {
    severity: 'error',
    payload: ['command', 'tool', 'problem', 'file?', 'line?', 'column?', 'code?', 'test?'],
    what: 'a followed command printed an error',
  },
  'log.matched': { severity: 'warning', payload: ['file', 'line'], what: 'a line of a followed log matches the pattern' },
  'url.failed': { severity: 'error', payload: ['url', 'answers'], what: 'a followed URL fails' },
  'url.changed': {
    severity: 'info',
    payload: ['url', 'path', 'value', 'before'],
    what: 'a followed value in the JSON of a URL has changed',
  },
  'agent.blocked': { severity: 'info', payload: ['agent'], what: 'a followed agent is blocked' },
  'follow.blind': { severity: 'warning', payload: ['follower', 'reason'], what: 'a follower cannot check the followed thing' },
  'follow.over': { severity: 'debug', payload: [], what: 'a problem that a follower reported has ended' },
  'alert.firing': {
    severity: 'error',
    payload: ['alertname', 'fingerprint', 'summary?', 'labels', 'annotations', 'starts_at?', 'ends_at?', 'url?'],
    what: 'an alert is firing',
  },
  'alert.resolved': {
    severity: 'info',
    payload: ['alertname', 'fingerprint', 'summary?', 'labels', 'annotations', 'starts_at?', 'ends_at?', 'url?'],
    what: 'an alert is resolved',
  },
  'github.*': {
    severity: 'info',
    payload: ['action?', 'repository', 'sender', 'url?', 'delivery', '(fields of the event)'],
    what: 'a GitHub webhook arrived',
  },
  'webhook.*': { severity: 'info', payload: ['(the payload as sent)'], what: 'a webhook arrived whose sender chose the type' },
  'cli.event': { severity: 'info', payload: ['event_name', 'data?'], what: 'a script reports something' },
} as const satisfies Readonly<Record<string, EventType>>;

export type KnownType = keyof typeof EVENT_TYPES;

const KNOWN = Object.keys(EVENT_TYPES);

/** Whether the type is in the table, so that its payload is known. */
export const isKnownType = (type: string): boolean => Object.hasOwn(EVENT_TYPES, type);

/**
 * Returns the known type that a mistyped type probably means. Undefined for a known type, and for a type that resembles no known
 * type. The first words must be similar too: `deploy.failed` does not mean `process.failed`.
 */
export function knownTypeNear(pattern: string): string | undefined {
  const wild = pattern.endsWith('.*');
  const known = wild ? [...new Set(KNOWN.flatMap(prefixesOf))] : KNOWN;
  const stem = wild ? pattern.slice(0, -2) : pattern;
  if (known.some((type) => type === stem || (type.endsWith('.*') && matchesType(type, pattern)))) return undefined;
  const first = firstOf(stem);
  const alike = known.filter((type) => didYouMean(first, [firstOf(type)]) !== undefined);
  const near = didYouMean(stem, alike);
  return near === undefined || near.endsWith('.*') ? undefined : wild ? `${near}.*` : near;
}

const firstOf = (type: string): string => type.split('.')[0] ?? '';

function prefixesOf(type: string): string[] {
  const parts = type.split('.');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'));
}
