/**
 * The hooks of Claude Code. Measured with 2.1.330: PostToolBatch fires once before the next model request, even after denied and
 * failing calls. So this event carries the notifications of the whole batch. Claude Code cuts a hook's context above 10,000
 * characters.
 */
import { defined } from '../../core/defined.ts';
import { SILENT, type HookCall, type HookHost, type Printed } from '../host.ts';
import { optionalText, text, type Input } from '../input.ts';
import type { Answer, Moment } from '../moment.ts';
import { callOf, resultsOf } from '../results.ts';
import { transcript } from './transcript.ts';

export const claude: HookHost = {
  name: 'claude',
  title: 'Claude Code',
  agent: 'claude-code',
  points: ['turn_start', 'tool_batch_end', 'turn_end', 'idle', 'forced'],
  maxChars: 9_800,
  transcript,
  proof: 'request',
  sessionVariable: 'CLAUDE_CODE_SESSION_ID',

  events: {
    SessionStart: { timeoutS: 10, waits: true },
    UserPromptSubmit: { timeoutS: 10 },
    PreToolUse: { matcher: '*', timeoutS: 5, marked: 'free', standsIn: true },
    // This entry is only for the offer to follow a pull request. The commands in `onlyIf` are rare, so the hook rarely runs.
    PostToolUse: { matcher: 'Bash', timeoutS: 5, onlyIf: ['Bash(gh pr create *)', 'Bash(git push *)'] },
    PostToolBatch: { timeoutS: 5, marked: 'quiet', served: { tool_calls: '${tool_calls}' } },
    Stop: { timeoutS: 5, waits: true },
    SessionEnd: { timeoutS: 5 },
  },

  parse(input: Input): HookCall | undefined {
    const moment = momentOf(input, text(input, 'hook_event_name'));
    if (moment === undefined) return undefined;
    const subagent = optionalText(input, 'agent_id');
    const transcript = optionalText(input, 'transcript_path');
    return {
      moment,
      caller: {
        session: text(input, 'session_id'),
        folder: text(input, 'cwd'),
        ...defined({ subagent, transcript }),
      },
    };
  },

  format(answer: Answer, input: Input): Printed {
    const hookEventName = input['hook_event_name'];
    switch (answer.kind) {
      case 'nothing':
        return SILENT;
      case 'tell':
        return printed({ hookSpecificOutput: { hookEventName, additionalContext: answer.text } });
      case 'deny':
        return printed({
          hookSpecificOutput: { hookEventName, permissionDecision: 'deny', permissionDecisionReason: answer.text },
        });
      case 'hold':
        // The model reads a context once, but a reason twice, the second time with the hook's command line.
        return printed({
          decision: 'block',
          reason: HELD,
          hookSpecificOutput: { hookEventName, additionalContext: answer.text },
        });
      default:
        return answer satisfies never;
    }
  },
};

function momentOf(input: Input, event: string): Moment | undefined {
  switch (event) {
    case 'SessionStart':
      return { kind: 'session_start', ...(input['source'] === 'compact' ? { compacted: true } : {}) };
    case 'UserPromptSubmit':
      return { kind: 'prompt' };
    case 'PreToolUse':
      return { kind: 'before_tool', tool: text(input, 'tool_name'), ...callOf(input) };
    case 'PostToolUse':
      return { kind: 'after_tool', tool: text(input, 'tool_name'), takesNoText: true };
    case 'PostToolBatch':
      return { kind: 'batch_end', tools: toolsOf(input['tool_calls']), ...resultsOf(input['tool_calls']) };
    case 'Stop':
      return { kind: 'turn_end', held: input['stop_hook_active'] === true };
    case 'SessionEnd':
      return { kind: 'session_end' };
    default:
      return undefined;
  }
}

const toolsOf = (calls: unknown): readonly string[] =>
  Array.isArray(calls)
    ? calls.flatMap((call: unknown) => {
        const name = (call as { tool_name?: unknown } | null)?.tool_name;
        return typeof name === 'string' ? [name] : [];
      })
    : [];

/** The reason for a held turn. The person and the model read this text. */
const HELD = 'A notification arrived before the turn ended.';

const printed = (value: unknown): Printed => ({ stdout: JSON.stringify(value) });
