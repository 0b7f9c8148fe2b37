import type { NotificationId } from '../notification.ts';
import type { Line } from '../plan.ts';

const at = Date.UTC(2026, 7, 30, 10, 32);

const line = (kind: string, level: Line['level'], message: string, more: Partial<Line> = {}): Line => {
  const [source = '', name = ''] = kind.split('.');
  return {
    ids: [`n_${kind}` as NotificationId],
    kind: { source, name },
    level,
    messages: [message],
    count: 1,
    firstAt: at - 45_000,
    lastAt: at,
    data: [],
    ...more,
  };
};

/**
 * Ten typical notifications in the order of a plan. The messages of these notifications are 144 tokens of the o200k encoding. The
 * token bars and the golden files use these notifications.
 */
export const CORPUS: readonly Line[] = [
  line('user.message', 'critical', 'The staging database is in use, please do not migrate it today.', { person: 'Ann' }),
  line('tool.failed', 'error', 'Tool `cargo_check` failed with exit code 101, its log is `target/check.log`.'),
  line('mcp.disconnected', 'error', 'MCP server `github` has disconnected, its tools are gone.'),
  line('tool.waiting', 'warning', 'Tool `deploy` (handle `h_7`) is waiting for input.'),
  line('budget.low', 'warning', '80 % of the token budget of this turn is used.'),
  line('file.changed', 'info', '`src/lib.rs` changed.', { count: 14 }),
  line('tool.stopped', 'info', 'Background tests ended: 212 passed, 3 failed, report in `out/tests.xml`.'),
  line('git.behind', 'info', 'Branch `main` is 4 commits ahead of where this work began.'),
  line('timer.fired', 'info', 'Reminder from 10:02: look at the migration log.'),
  line('agent.message', 'info', 'Agent `reviewer` finished its review of `src/parser.rs`.'),
];

/** Makes rows with the same columns, which a view shows as a table. */
export const uniformRows = (count: number): readonly { level: string; kind: string; tool: string; error: string; ms: number }[] =>
  Array.from({ length: count }, (_, n) => ({
    level: n % 3 === 0 ? 'error' : 'warning',
    kind: 'tool.failed',
    tool: ['vault_search', 'web_fetch', 'read_file', 'list_issues'][n % 4] ?? '',
    error: ['timeout', 'connection refused', 'not found'][n % 3] ?? '',
    ms: 100 + n * 37,
  }));
