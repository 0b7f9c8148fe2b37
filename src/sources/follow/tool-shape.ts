/** The tool `follow` as a model sees it. It has its own file, so that a server can list the tool without loading its code. */
export const FOLLOW_TOOL = {
  name: 'follow',
  description:
    'Follows something outside for you: its changes arrive as notifications, so do not poll. Give pull_request, or log with match, or url. ' +
    'After you open a pull request or push to one, follow pull_request "current" to hear of its checks and reviews. ' +
    'Without arguments it lists what is followed. stop ends one by its id.',
  inputSchema: {
    type: 'object',
    properties: {
      pull_request: {
        type: 'string',
        description: 'Number or branch, in the repository of this folder; "current" is the checked out branch',
      },
      log: { type: 'string', description: 'A file of this project; you hear of new lines that match' },
      match: { type: 'string', description: 'Regular expression for log' },
      url: {
        type: 'string',
        description: 'An address of this machine, such as http://localhost:3000/health; you hear when it fails',
      },
      stop: { type: 'string', description: 'The id of one that you follow' },
    },
    additionalProperties: false,
  },
  annotations: { title: 'Follow something outside', readOnlyHint: false, destructiveHint: false, openWorldHint: true },
} as const;
