/** Reads and makes the hook formats that several agents share with Claude Code. */
import { defined } from '../core/defined.ts';
import type { HookCall, Printed } from './host.ts';
import { SILENT } from './host.ts';
import { optionalText, text, type Input } from './input.ts';
import type { Answer, Moment } from './moment.ts';

/** Makes the content of a hook call: its moment, and the caller from the common fields. */
export function hookCallOf(input: Input, moment: Moment | undefined): HookCall | undefined {
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
}

export const eventOf = (input: Input): string => text(input, 'hook_event_name');

export const startOf = (input: Input): Moment => ({
  kind: 'session_start',
  ...(input['source'] === 'compact' ? { compacted: true } : {}),
  ...(input['source'] === 'resume' ? { resumed: true as const } : {}),
});

export const turnEndOf = (input: Input): Moment => ({ kind: 'turn_end', held: input['stop_hook_active'] === true });

export const printed = (value: unknown): Printed => ({ stdout: JSON.stringify(value) });

/**
 * Makes the output that adds a context. The output repeats the event's name, because some agents refuse an answer without this
 * name.
 */
export const withContext = (input: Input, additionalContext: string): Printed =>
  printed({ hookSpecificOutput: { hookEventName: input['hook_event_name'], additionalContext } });

/**
 * Makes the output of a hook from an answer. The output never has `continue: false`, because Claude Code and Codex run the tools
 * in spite of this field.
 */
export function format(answer: Answer, input: Input): Printed {
  switch (answer.kind) {
    case 'nothing':
      return SILENT;
    case 'tell':
      return withContext(input, answer.text);
    case 'deny':
      return printed({
        hookSpecificOutput: {
          hookEventName: input['hook_event_name'],
          permissionDecision: 'deny',
          permissionDecisionReason: answer.text,
        },
      });
    case 'hold':
      return printed({ decision: 'block', reason: answer.text });
    default:
      return answer satisfies never;
  }
}
