/** The hook formats that other agents share with Claude Code. */
import { defined } from '../core/defined.ts';
import type { Heard, Printed } from './host.ts';
import { SILENT } from './host.ts';
import { optionalText, text, type Input } from './input.ts';
import type { Answer, Moment } from './moment.ts';

/** A moment with the caller that the common fields name. */
export function heard(input: Input, moment: Moment | undefined): Heard | undefined {
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
});

export const turnEndOf = (input: Input): Moment => ({ kind: 'turn_end', held: input['stop_hook_active'] === true });

export const printed = (value: unknown): Printed => ({ stdout: JSON.stringify(value) });

/** The event's own name is repeated, because some agents refuse the whole answer without it. */
export const told = (input: Input, additionalContext: string): Printed =>
  printed({ hookSpecificOutput: { hookEventName: input['hook_event_name'], additionalContext } });

/** Never `continue: false`: in Claude Code and Codex the tools would still run. */
export function say(answer: Answer, input: Input): Printed {
  switch (answer.kind) {
    case 'nothing':
      return SILENT;
    case 'tell':
      return told(input, answer.text);
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
