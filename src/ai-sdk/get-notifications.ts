/** The tool with which the model reads notifications that a message only counted. */
import { EarpieceError } from '../core/errors.ts';
import type { CallableTool, SdkTool } from './shapes.ts';
import { wrap, type Calls } from './tools.ts';

export const GET_NOTIFICATIONS = 'get_notifications';

/** No arguments, as a Standard Schema with JSON Schema. The SDK accepts such a schema without a package of schemas. */
const NO_ARGUMENTS = {
  '~standard': {
    version: 1,
    vendor: 'earpiece',
    validate: () => ({ value: {} }),
    jsonSchema: {
      input: () => ({ type: 'object', properties: {}, additionalProperties: false }),
      output: () => ({ type: 'object', properties: {}, additionalProperties: false }),
    },
  },
};

/** The tools that this file has made. */
const MADE = new WeakSet<object>();

/** Makes the tool. Its notifications count as read when the caller has kept the result. No interrupt refuses the tool. */
export function getNotifications(calls: Calls): SdkTool {
  const { carriers } = calls;
  const tool: CallableTool & { readonly description: string; readonly inputSchema: unknown } = {
    description:
      'Returns the notifications that you saw only as a number, cut, or not yet, newest first, and marks these notifications as read.',
    inputSchema: NO_ARGUMENTS,
    async execute(_input, { toolCallId }) {
      const { notifications, more, withheld, offer } = await carriers.conversation.pull({ mark: true });
      if (offer !== undefined) carriers.refused(toolCallId, offer);
      return {
        success: true,
        count: notifications.length,
        notifications,
        ...(more > 0 ? { more } : {}),
        ...(withheld.length > 0 ? { withheld_results: withheld } : {}),
      };
    },
  };
  const made = wrap(GET_NOTIFICATIONS, tool, calls, { gated: false });
  MADE.add(made);
  return made;
}

/** Throws if the program has its own tool with the name of this tool. */
export function checkName({ [GET_NOTIFICATIONS]: tool }: Readonly<Record<string, SdkTool>>): void {
  if (tool !== undefined && !MADE.has(tool))
    throw new EarpieceError(
      'bad_argument',
      `tools: with pulls: true, ${GET_NOTIFICATIONS} is a tool of Earpiece; rename your tool, or leave out pulls`,
    );
}
