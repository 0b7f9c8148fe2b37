/**
 * The hooks of Codex. Measured with 0.169: a hook's context becomes a separate developer message before the result, and is cut
 * above 10,000 bytes. PostToolUse fires after each call, in parallel for parallel calls, but not after a denied call or a failing
 * MCP tool. The output must not contain a field that Codex does not know.
 */
import { eventOf, hookCallOf, format, startOf, turnEndOf } from '../common.ts';
import type { HookCall, HookHost } from '../host.ts';
import { text, type Input } from '../input.ts';
import type { Moment } from '../moment.ts';
import { callOf, resultsOf } from '../results.ts';
import { transcript } from './rollout.ts';
import { waker } from './waker.ts';

export const codex: HookHost = {
  name: 'codex',
  title: 'Codex',
  agent: 'codex',
  points: ['turn_start', 'tool_result', 'turn_end', 'idle', 'forced'],
  maxChars: 9_900,
  inBytes: true,
  transcript,
  proof: 'transcript',
  waker,

  events: {
    SessionStart: { timeoutS: 10 },
    UserPromptSubmit: { timeoutS: 10 },
    PreToolUse: { matcher: '.*', timeoutS: 5 },
    PostToolUse: { matcher: '.*', timeoutS: 5 },
    Stop: { timeoutS: 5 },
    SessionEnd: { timeoutS: 5 },
  },

  parse: (input: Input): HookCall | undefined => hookCallOf(input, momentOf(input)),
  format,
};

function momentOf(input: Input): Moment | undefined {
  switch (eventOf(input)) {
    // In a terminal, this event fires with the first prompt.
    case 'SessionStart':
      return startOf(input);
    case 'UserPromptSubmit':
      return { kind: 'prompt' };
    case 'PreToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name'), ...callOf(input) };
    case 'PostToolUse':
      return { kind: 'after_tool', tool: text(input, 'tool_name'), ...resultsOf([input]) };
    case 'Stop':
      return turnEndOf(input);
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}
