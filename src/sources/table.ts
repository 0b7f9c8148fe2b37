/** Lists the sources of an agent's notifications. */
import type { EVENT_TYPES } from '../bus/event-types.ts';

/**
 * - `runs`: the process that runs the source. `agent` means `earpiece chat` and `earpiece run`. `command` means a command that a
 *   person runs.
 * - `switch`: the setting that turns the source on. A source without a switch is always on.
 */
export type SourceEntry = {
  readonly what: string;
  readonly emits: readonly (keyof typeof EVENT_TYPES)[];
  readonly runs: 'agent' | 'gateway' | 'server' | 'command';
  readonly switch?: SourceSwitch;
};

export type SourceSwitch = 'sources.files' | 'sources.git' | 'agent.budget' | 'webhooks';

export const SOURCES = {
  files: {
    what: 'files that change while the agent works',
    emits: ['file.changed', 'file.created', 'file.deleted', 'file.restored', 'source.stale'],
    runs: 'agent',
    switch: 'sources.files',
  },
  git: {
    what: 'branches, the upstream, conflicts',
    emits: ['git.branch_switched', 'git.upstream_moved', 'git.up_to_date', 'git.conflict', 'git.conflict_resolved'],
    runs: 'agent',
    switch: 'sources.git',
  },
  tools: {
    what: 'tool calls of the agent',
    emits: ['tool.call.pending', 'tool.call.success', 'tool.call.failure', 'tool.call.timeout', 'tool.batch.complete'],
    runs: 'agent',
  },
  handles: {
    what: 'background tools of the agent',
    emits: ['tool.stopped', 'tool.waiting', 'tool.failed', 'tool.content'],
    runs: 'agent',
  },
  'sub-agents': { what: 'agents that the agent started', emits: ['subagent.complete', 'subagent.failed'], runs: 'agent' },
  iterations: {
    what: 'cycles of a turn',
    emits: ['budget.iteration.warning', 'budget.iteration.exceeded'],
    runs: 'agent',
  },
  budget: {
    what: 'tokens, context, time of a turn',
    emits: ['budget.token.warning', 'budget.token.exceeded', 'context.approaching_limit', 'budget.timeout.warning'],
    runs: 'agent',
    switch: 'agent.budget',
  },
  loops: { what: 'calls that the agent repeats', emits: ['agent.loop.detected'], runs: 'agent' },
  config: { what: 'changed tools, a changed model', emits: ['config.tools_changed', 'config.model_changed'], runs: 'agent' },
  'rate-limits': { what: "limits in a provider's headers", emits: ['ratelimit.low', 'ratelimit.exceeded'], runs: 'agent' },
  sessions: {
    what: 'turns and conversations of the agent',
    emits: ['session.resumed', 'session.end', 'query.start', 'agent.turn.start', 'agent.turn.end'],
    runs: 'agent',
  },
  notes: {
    what: 'notes of the agent to itself',
    emits: ['agent.self.notify', 'agent.self.remind', 'task.checkpoint'],
    runs: 'agent',
  },
  mcp: { what: 'connections of MCP servers', emits: ['mcp.disconnected', 'mcp.reconnected'], runs: 'gateway' },
  timers: { what: 'earpiece remind', emits: ['timer.fired'], runs: 'command' },
  processes: { what: 'earpiece run-and-tell', emits: ['process.ended', 'process.failed'], runs: 'command' },
  followers: {
    what: 'earpiece follow: pull requests, programs, logs, URLs, files, git, agents',
    emits: [
      'pr.check_failed',
      'pr.checks_passed',
      'pr.review',
      'pr.comment',
      'pr.conflict',
      'pr.merged',
      'pr.closed',
      'pr.offered',
      'problem.found',
      'log.matched',
      'url.failed',
      'url.changed',
      'agent.blocked',
      'follow.blind',
      'follow.over',
    ],
    runs: 'command',
  },
  cli: { what: 'earpiece emit, with any type', emits: ['cli.event'], runs: 'command' },
  webhooks: {
    what: 'other programs, over HTTP',
    emits: ['github.*', 'alert.firing', 'alert.resolved', 'webhook.*'],
    runs: 'server',
    switch: 'webhooks',
  },
} as const satisfies Readonly<Record<string, SourceEntry>>;
