/** The tool with which an agent reads its open notifications. */
import { withoutNulls } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Pulled } from '../../inbox/index.ts';
import type { Profile } from './profiles.ts';
import { sizeOf, textBlock } from './results.ts';
import type { OwnTool } from './rider.ts';
import { SESSION_TOKEN } from './task-tools.ts';

export const GET_NOTIFICATIONS: OwnTool = {
  name: 'get_notifications',
  description:
    'Returns the unread notifications of this conversation, newest first: events outside of the conversation (a build ended, a file changed, a person wants you to stop). ' +
    'Also returns tool results that were withheld because of an interrupt. For a notification of type "interrupt", `instruction` is the request.',
  inputSchema: {
    type: 'object',
    properties: {
      session_token: SESSION_TOKEN,
      mark_as_read: { type: 'boolean', default: true, description: 'false: notifications stay unread' },
    },
    additionalProperties: false,
  },
  annotations: { title: 'Get notifications', readOnlyHint: true, openWorldHint: false },
};

/** Reads the arguments of a call. Throws if the arguments are invalid. */
export function readArguments(args: unknown): { markAsRead: boolean; token: unknown } {
  const given = withoutNulls((args ?? {}) as Record<string, unknown>);
  for (const key of Object.keys(given))
    if (key !== 'session_token' && key !== 'mark_as_read')
      throw new EarpieceError(
        'bad_argument',
        `get_notifications has no argument ${JSON.stringify(key)}; use only session_token and mark_as_read`,
      );
  const { session_token: token, mark_as_read: mark = true } = given;
  if (typeof mark !== 'boolean')
    throw new EarpieceError('bad_argument', `mark_as_read must be true or false, got ${JSON.stringify(mark)}`);
  return { markAsRead: mark, token };
}

type Contents = Pick<Pulled, 'notifications' | 'withheld'>;

/** `token` has the session token, if the client needs one. `again`: the model's name for the tool, if another call shows more. */
type AnswerOptions = { readonly token: object; readonly again?: string };

export function answerText({ notifications, withheld, more }: Contents & Pick<Pulled, 'more'>, options: AnswerOptions): string {
  const { token, again } = options;
  return JSON.stringify({
    success: true,
    ...token,
    count: notifications.length,
    ...(more > 0 ? { more, ...(again === undefined ? {} : { next: `${more} more wait: call ${again} again` }) } : {}),
    notifications,
    ...(withheld.length > 0 ? { withheld_results: withheld } : {}),
  });
}

/** The value of `more` in an answer that is measured: larger than in any real answer, so that the real answer fits too. */
const MANY = 9_999_999;

/**
 * Returns the function that tests whether the client shows an answer whole. Undefined if the client shows every answer whole. The
 * answer is measured as the JSON of its block, because a client may give its model this JSON.
 */
export function fitsOn(profile: Profile, options: AnswerOptions): ((contents: Contents) => boolean) | undefined {
  const { maxResultChars } = profile;
  if (!Number.isFinite(maxResultChars)) return undefined;
  const size = sizeOf(profile);
  return (contents) => size(`[${textBlock(answerText({ ...contents, more: MANY }, options))}]`) <= maxResultChars;
}
