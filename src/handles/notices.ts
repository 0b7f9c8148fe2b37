/** Makes the notices about changes of a handle that the model has not read, and their keys. */
import { defined } from '../core/defined.ts';
import type { EventInput } from '../core/event.ts';
import type { Json } from '../core/json.ts';
import type { Handle } from './handle.ts';
import type { ToolResult } from './state.ts';

/**
 * The key of all notices about a handle. The newest notice replaces the earlier notices, because a wait no longer matters after
 * the handle has stopped.
 */
export const keyOf = (uid: string): string => `handle:${uid}`;

/** An event for the conversation of the registry. The id prevents a duplicate if the event is emitted again after a crash. */
export type Notice = Omit<EventInput, 'subject'> & { readonly id: string };

type Subject = { readonly uid: string; readonly id: string; readonly about: string; readonly tool: string };

export function noticeOf(handle: Handle): Notice | undefined {
  const { phase } = handle;
  const subject = subjectOf(handle);
  const { exitCode, lastLine } = handle.ending ?? {};
  const data = { handle: handle.id, tool: handle.tool.name, ...defined({ exit_code: exitCode }) };
  switch (phase.type) {
    case 'running':
      return undefined;
    case 'waiting':
      return notice(subject, `waiting.${handle.version}`, {
        type: 'tool.waiting',
        severity: 'warning',
        message: `${name(subject)} is waiting for input: ${short(phase.question)}`,
        data: { ...data, question: short(phase.question) },
      });
    case 'stopped': {
      const { result } = phase;
      const last = lastLine ? `: ${lastLine}` : '';
      if (handle.tool.isAgent === true && handle.because === undefined) return agentNotice(subject, result);
      if ('ok' in result)
        return notice(subject, 'stopped', {
          type: 'tool.stopped',
          message: `${name(subject)} has stopped${exitCode === undefined ? '' : ` with exit code ${exitCode}`}${last}`,
          data,
        });
      if (handle.because !== undefined)
        return notice(subject, 'stopped', {
          type: handle.because === LOST ? 'tool.failed' : 'tool.stopped',
          severity: handle.because === LOST ? 'error' : 'info',
          message: `${name(subject)} was ${handle.because}${last}`,
          data,
        });
      return notice(subject, 'stopped', {
        type: 'tool.failed',
        severity: 'error',
        message:
          exitCode !== undefined && result.error.message === `exited with code ${exitCode}`
            ? `${name(subject)} failed with exit code ${exitCode}${last}`
            : `${name(subject)} failed: ${short(result.error.message)}${lastLine && lastLine !== result.error.message ? `; last line: ${lastLine}` : ''}`,
        data,
      });
    }
  }
}

/** Makes the notice of a sub-agent that ended by itself. The sub-agent's last message is its result. */
function agentNotice(subject: Subject, result: ToolResult): Notice {
  const data = { task_id: subject.id, handle: subject.id, tool: subject.tool };
  if ('ok' in result)
    return notice(subject, 'stopped', {
      type: 'subagent.complete',
      message: `Sub-agent "${subject.id}" is done: ${short(result.ok)}`,
      data: { ...data, result_summary: short(result.ok) },
    });
  return notice(subject, 'stopped', {
    type: 'subagent.failed',
    severity: 'error',
    message: `Sub-agent "${subject.id}" has failed: ${short(result.error.message)}`,
    data: { ...data, error_message: short(result.error.message) },
  });
}

/** Returns the `nth` notice about new output of this handle. */
export const contentNotice = (handle: Handle, nth: number, lastLine: string | undefined): Notice =>
  notice(subjectOf(handle), `content.${nth}`, {
    type: 'tool.content',
    message: `${name(subjectOf(handle))} has new output${lastLine ? `: ${lastLine}` : ''}`,
    data: { handle: handle.id, tool: handle.tool.name },
  });

/** The reason for the end of a handle whose agent ended. */
export const LOST = 'lost when its agent ended';

/** Returns the notice of a handle that was lost in a crash. `ended`: Earpiece found the handle's process running and ended it. */
export const lostNotice = (subject: Subject, ended: boolean): Notice =>
  notice(subject, 'stopped', {
    type: 'tool.failed',
    severity: 'error',
    message: `${name(subject)} was ${LOST}${ended ? '; its process was still running and was ended' : ''}`,
    data: { handle: subject.id, tool: subject.tool },
  });

function notice(
  subject: Subject,
  what: string,
  said: Pick<EventInput, 'type' | 'severity' | 'message'> & { readonly data: Readonly<Record<string, Json>> },
): Notice {
  return {
    id: `${subject.uid}.${what}`,
    source: 'handles',
    ...said,
    // The moment `next` can wake an idle agent, and overrides the moment of the subscriber.
    deliver: 'next',
    key: keyOf(subject.uid),
    supersede: true,
    about: subject.about,
    origin: { tool: subject.tool },
  };
}

export const subjectOf = (handle: Handle): Subject => ({
  uid: handle.uid,
  id: handle.id,
  about: handle.about,
  tool: handle.tool.name,
});

const name = ({ id, tool }: Subject): string => `Background ${tool} "${id}"`;

const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 299).toWellFormed()}…` : text);
