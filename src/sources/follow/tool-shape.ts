/**
 * Describes the tool `follow` for a model. The description has a separate file, so that a server can list the tool without
 * loading the tool's code.
 */
export const FOLLOW_TOOL = {
  name: 'follow',
  description:
    'Follows something outside: its changes arrive as notifications, so do not poll. Give one of pull_request, log with match, url, files, git, agent. ' +
    'After you open a pull request or push to one, follow pull_request "current" to get its checks and reviews. ' +
    'Without arguments, lists the followers. stop ends a follower by its id.',
  inputSchema: {
    type: 'object',
    properties: {
      pull_request: { type: 'string', description: 'Number or branch of this repository; "current": the checked out branch' },
      log: { type: 'string', description: 'A file of this project' },
      match: { type: 'string', description: 'Regular expression for new lines of log' },
      url: { type: 'string', description: 'On this machine, such as http://localhost:3000/health; reports failures' },
      files: { type: 'string', description: 'Glob of this project' },
      git: { type: 'boolean', description: 'true: branch, upstream, conflicts' },
      agent: { type: 'string', description: 'Another agent, to learn when an interrupt blocks it' },
      stop: { type: 'string' },
    },
    additionalProperties: false,
  },
  annotations: { title: 'Follow something outside', readOnlyHint: false, destructiveHint: false, openWorldHint: true },
} as const;
