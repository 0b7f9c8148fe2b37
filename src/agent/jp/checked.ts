/** Checks that JP's entries have forms that providers accept in a conversation. */
import { z } from 'zod';
import { EarpieceError } from '../../core/errors.ts';
import type { Json } from '../../core/json.ts';
import { LEVELS } from '../../core/notification.ts';
import { isOurs } from '../../core/records.ts';
import type { JpEntry } from './entries.ts';

const text = z.string();
const name = z.string().min(1);
const turn = z.number().int().min(0);
const kind = z.union([name, z.object({ source: name, name })]);
const notification = z.object({ kind, message: text, level: z.enum(LEVELS).optional() });
const carried = { notifications: z.array(notification).optional() };
const sized = z.union([name, z.object({ policy: name, over: z.number().min(0).optional() }).loose()]);

/**
 * The allowed forms of entries. The table contains the entries that reach a provider, and the entries that decide which records
 * reach a provider. Other entries of JP are kept unchanged, except entries with a type of Earpiece, which are refused.
 */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  chat_request: z.object({ content: text, author: text.nullish(), ...carried }),
  chat_response: z
    .object({ message: text.optional(), reasoning: text.optional(), data: z.json().optional() })
    .refine(({ message, reasoning, data }) => [message, reasoning, data].some((each) => each !== undefined), {
      message: 'must have one of message, reasoning and data',
    }),
  tool_call_request: z.object({ id: name, name, arguments: z.record(z.string(), z.json()) }),
  tool_call_response: z.object({ id: name, content: text, is_error: z.boolean().optional(), ...carried }),
  system_notification_queued: notification,
  compaction: z
    .object({
      from_turn: turn,
      to_turn: turn,
      summary: z.union([text, z.object({ summary: text })]).nullish(),
      reasoning: sized.nullish(),
      tool_calls: sized.nullish(),
    })
    .refine(({ from_turn: from, to_turn: to }) => from <= to, {
      message: 'must have a to_turn that is at least from_turn',
    }),
};

/**
 * Checks the entries of a JP file, and returns them. Throws `bad_argument` with the file, the number of the entry (from 0) and
 * the error.
 */
export function checkEntries(entries: readonly Json[], file: string): readonly JpEntry[] {
  const calls = new Map<string, number>();
  const wrong = (at: number, what: string): EarpieceError =>
    new EarpieceError('bad_argument', `${file}: entry ${at} ${what}; correct or remove that entry and import again`);
  return entries.map((entry, at) => {
    const type =
      typeof entry === 'object' && entry !== null && !Array.isArray(entry) ? (entry as { type?: Json }).type : undefined;
    if (typeof type !== 'string') throw wrong(at, 'is not an event with a "type"');
    const shape = Object.hasOwn(SHAPES, type) ? SHAPES[type] : undefined;
    if (shape === undefined && isOurs(type))
      throw wrong(at, `has the type ${JSON.stringify(type)}, which belongs to Earpiece and not to JP`);
    const checked = shape?.safeParse(entry);
    if (checked !== undefined && !checked.success) throw wrong(at, `(${type}) ${problemOf(checked.error, entry as JpEntry)}`);
    if (type === 'tool_call_request') {
      const { id } = entry as { id: string };
      const before = calls.get(id);
      if (before !== undefined)
        throw wrong(
          at,
          `(${type}) has the same id ${JSON.stringify(id.slice(0, 80))} as entry ${before}, and a provider refuses two calls with one id`,
        );
      calls.set(id, at);
    }
    return entry as JpEntry;
  });
}

function problemOf(error: z.ZodError, entry: JpEntry): string {
  const [issue] = error.issues;
  if (issue === undefined || issue.path.length === 0) return issue?.message ?? 'does not have the form that JP writes';
  let seen: Json | undefined = entry;
  for (const part of issue.path) seen = (seen as Record<string, Json> | undefined)?.[part as string];
  const value = seen === undefined ? 'nothing' : JSON.stringify(seen).slice(0, 80);
  return `has ${value} as ${issue.path.join('.')}: ${issue.message.replace(/^Invalid input: /u, '')}`;
}
